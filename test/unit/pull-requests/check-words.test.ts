import { expect } from 'chai';
import {
  conflictVerdict,
  oneLine,
  verdictOfPlan,
} from '../../../reconcilers/pull-requests/check/check-messages.ts';
import { commentOf } from '../../../reconcilers/pull-requests/check/publish-checks.ts';
import type { GitPlan } from '../../../schemas/api/delivery/git-plan.ts';

const NONE = {
  create: 0,
  update: 0,
  delete: 0,
  adopt: 0,
  rename: 0,
  heal: 0,
  keep: 0,
  refuse: 0,
  unchanged: 0,
};
const STILL = { count: 0, starts: 0, restarts: 0, stops: 0, hosts: [] };

const plan = (counts: Partial<GitPlan['counts']>, more: Partial<GitPlan> = {}): GitPlan => ({
  ...{ environmentId: 'env', environmentName: 'production', commit: null, ref: null, hash: 'f'.repeat(32) },
  ...{
    state: 'ready',
    counts: { ...NONE, ...counts },
    changes: [],
    changesTotal: 0,
    findings: [],
    guards: [],
  },
  ...{ fleet: [], nodes: STILL, approval: null, plannedAt: new Date(0) },
  ...more,
});
const guard = (exceeded: boolean): GitPlan['guards'][number] => ({
  ...{ guard: 'maxDeletes', limit: 1, value: 2, exceeded, message: 'deletes 2 of 1 allowed' },
});
const fleet = (severity: 'error' | 'warning'): GitPlan['fleet'][number] => ({
  ...{ type: 'port-clash', severity, message: 'both listen on 514', pipelines: [], hosts: [] },
});

describe('a plan in one line', () => {
  const rows: [reason: string, of: GitPlan, says: string][] = [
    [
      'counts what is done, and nodes',
      plan({ update: 2, create: 1 }, { nodes: { ...STILL, count: 3, restarts: 3 } }),
      'success: 2 changed, 1 created; 3 nodes restart',
    ],
    [
      'counts one as one',
      plan({ rename: 1 }, { nodes: { ...STILL, count: 2, restarts: 1, stops: 1 } }),
      'success: 1 renamed; 1 node restarts, 1 node stops',
    ],
    ['changes nothing', plan({ unchanged: 9 }, { state: 'empty' }), 'success: nothing changes'],
    [
      'is not applied in this mode',
      plan({ create: 1 }, { state: 'not-applied' }),
      'success: 1 created; nothing is applied in this mode',
    ],
    [
      'is over the guards',
      plan({ delete: 2 }, { state: 'waiting', guards: [guard(true)] }),
      'failure: over the guards: waits for an ADMIN after the merge (maxDeletes)',
    ],
    [
      'was approved as it is',
      plan({ delete: 2 }, { state: 'approved', guards: [guard(true)] }),
      'success: 2 deleted',
    ],
    ['warns', plan({ create: 1 }, { fleet: [fleet('warning')] }), 'success: 1 created; 1 warning'],
    ['clashes', plan({ create: 1 }, { fleet: [fleet('error')] }), 'failure: both listen on 514'],
    [
      'has files that cannot be read',
      plan(
        {},
        { findings: [{ stage: 'parse', message: 'no YAML', hint: '', path: 'a.yaml', line: 1, column: 1 }] },
      ),
      'failure: 1 fault in files: no YAML',
    ],
    [
      'refuses, which wins over the guards',
      plan({ refuse: 2 }, { state: 'waiting', guards: [guard(true)] }),
      'failure: 2 manifests refused',
    ],
  ];
  for (const [reason, of, says] of rows)
    it(reason, () => {
      const { state, summary } = verdictOfPlan(of);
      expect(`${state}: ${summary}`).to.equal(says);
    });

  it('is one line of 140 characters at most, whatever it is made of', () => {
    const one = oneLine(`a\nb\u202e${'🚰'.repeat(200)}`);
    expect([...one]).to.have.length(140);
    expect(one).to.match(/^a b\ufffd(🚰)+…$/u);
    expect(conflictVerdict('b'.repeat(300), ['x', 'y']).summary).to.match(/in 2 files$/);
  });
});

describe('the comment of a pull request', () => {
  it('begins with the marker by which it is found again, and links here', () => {
    const text = commentOf(
      { environmentId: 'env', environmentName: 'production' },
      { plan: plan({ create: 1 }), summary: '1 created', reason: null },
      'https://headgate.example.org/e/env/promotions/3',
    );
    expect(text).to.match(/^<!-- headgate:plan:env -->\n### Plan for production\n/);
    expect(text).to.include('[On Headgate](https://headgate.example.org/e/env/promotions/3)');
  });

  it('lets nothing of what it quotes be markup, a link or a mention', () => {
    const reason = 'look:\n````\n@everyone <script> [x](http://evil)';
    const text = commentOf(
      { environmentId: 'env', environmentName: '`@here`' },
      { plan: null, summary: 'x', reason },
      'https://h/',
    );
    expect(text.match(/^`{5}text$/m)).to.not.equal(null);
    const outside = text.replaceAll(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '');
    expect(outside).to.not.include('@').and.not.include('evil').and.not.include('script');
  });
});
