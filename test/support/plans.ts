/** Plans for tests of how they are told. */
import type { GitPlan, PlannedChange } from '../../schemas/api/git-plan.ts';

export const plannedChange = (more: Partial<PlannedChange> = {}): PlannedChange => ({
  ...{ action: 'update', kind: 'Pipeline', name: 'web' },
  ...{ path: 'environments/production/pipelines/web.yaml', line: 1, objectId: null, renamedFrom: null },
  ...{ reason: null, fields: [], engineDiff: null, nodes: null, tests: [], findings: [], notes: [] },
  ...more,
});

const NO_COUNTS = {
  ...{ create: 0, update: 0, delete: 0, adopt: 0, rename: 0, heal: 0, keep: 0, refuse: 0, unchanged: 0 },
};

export function gitPlan(changes: readonly PlannedChange[] = [], more: Partial<GitPlan> = {}): GitPlan {
  const counts = { ...NO_COUNTS };
  for (const { action } of changes) counts[action] += 1;
  return {
    ...{
      environmentId: 'e',
      environmentName: 'production',
      ref: 'main',
      hash: 'ab'.repeat(16),
      state: 'ready',
    },
    commit: { sha: 'c0ffee'.padEnd(40, '0'), author: 'Ada', subject: 'Lift the level', at: new Date(0) },
    counts,
    changes: [...changes],
    changesTotal: changes.length,
    ...{ findings: [], guards: [], fleet: [], approval: null },
    nodes: { count: 0, starts: 0, restarts: 0, stops: 0, hosts: [] },
    plannedAt: new Date(0),
    ...more,
  };
}

/** One of everything. */
export const FULL_PLAN: GitPlan = gitPlan(
  [
    plannedChange({
      action: 'create',
      kind: 'NodeGroup',
      name: 'edge',
      path: 'environments/production/groups/edge.yaml',
      fields: [{ pointer: '/criteria', before: null, after: '{"role":"edge"}' }],
    }),
    plannedChange({
      fields: [{ pointer: '/logLevel', before: '"info"', after: '"debug"' }],
      engineDiff: '--- deployed\n+++ planned\n@@ -1,2 +1,2 @@\n sources:\n-  a: 1\n+  a: 2\n',
      nodes: { count: 2, starts: 0, restarts: 2, stops: 0, hosts: ['a.example.org', 'b.example.org'] },
      tests: [
        { name: 'a level is lifted', component: 'parse', status: 'passed', message: null, line: 9 },
        {
          name: 'nothing is lost',
          component: 'parse',
          status: 'skipped',
          message: 'lua is not known',
          line: 10,
        },
      ],
      notes: ['every node gets the new version at once'],
    }),
    plannedChange({
      action: 'delete',
      name: 'old',
      path: 'environments/production/pipelines/old.yaml',
      line: 4,
      nodes: { count: 7, starts: 0, restarts: 0, stops: 7, hosts: ['1', '2', '3', '4', '5', '6', '7'] },
    }),
    plannedChange({ action: 'rename', name: 'new', renamedFrom: 'former' }),
    plannedChange({
      action: 'refuse',
      name: 'broken',
      reason: { code: 'Invalid', message: 'input "pars" of "out" matches no component' },
      findings: [
        {
          ...{
            stage: 'graph',
            message: 'input "pars" of "out" matches no component',
            hint: 'did you mean "parse"?',
          },
          ...{ path: 'environments/production/pipelines/broken.yaml', line: 14, column: 9 },
        },
      ],
    }),
    plannedChange({
      action: 'keep',
      name: 'quiet',
      reason: {
        code: 'Held',
        message: 'Held by Ada at 2026-01-02 03:04 UTC: it floods the disk. A newer spec is taken',
      },
    }),
  ],
  {
    state: 'waiting',
    findings: [
      {
        stage: 'parse',
        message: 'this is no YAML',
        hint: 'Close the bracket.',
        path: 'x.yaml',
        line: 3,
        column: 1,
      },
    ],
    guards: [
      {
        guard: 'maxDeletes',
        limit: 0,
        value: 1,
        exceeded: true,
        message: 'deletes 1 object, and 0 may go in one pass',
      },
      {
        guard: 'maxDeletePercent',
        limit: 50,
        value: 10,
        exceeded: false,
        message: 'deletes 10 % of the 10 objects',
      },
    ],
    fleet: [
      {
        ...{ type: 'port-clash', severity: 'warning', pipelines: ['a', 'b'], hosts: ['a.example.org'] },
        message:
          'sources.web of "a" and sources.web of "b" both listen on 0.0.0.0:80; only the one that starts first gets it',
      },
    ],
    nodes: {
      count: 9,
      starts: 0,
      restarts: 2,
      stops: 7,
      hosts: ['a.example.org', 'b.example.org', '1', '2', '3'],
    },
  },
);
FULL_PLAN.counts.unchanged = 3;
