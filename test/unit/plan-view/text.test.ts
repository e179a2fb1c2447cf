import { expect } from 'chai';
import { planMarkdown, planText } from '../../../reconcilers/plan-view/index.ts';
import type { ChangePreview, PlannedChange } from '../../../schemas/api/delivery/git-plan.ts';
import { FULL_PLAN, gitPlan, plannedChange } from '../../support/fixtures/plans.ts';

describe('a plan as text', () => {
  it('tells everything, the same way every time', () => {
    expect(planText(FULL_PLAN)).to.equal(`production at c0ffee0 (main) "Lift the level"
1 to create, 1 to change, 1 to delete, 1 to rename; 1 refused; 1 left as it is; 3 unchanged

  + create NodeGroup edge  environments/production/groups/edge.yaml:1
      /criteria: {"role":"edge"}
  ~ change Pipeline web  environments/production/pipelines/web.yaml:1
      /logLevel: "info" → "debug"
      engine config:
        @@ -1,2 +1,2 @@
         sources:
        -  a: 1
        +  a: 2
      nodes: restarts on 2 (a.example.org, b.example.org)
      tests: 1 passed, 1 skipped
      note: every node gets the new version at once
  - delete Pipeline old  environments/production/pipelines/old.yaml:4
      nodes: stops on 7 (1, 2, 3, 4, 5 and 2 more)
  > rename Pipeline new, called "former" before  environments/production/pipelines/web.yaml:1
  ! refuse Pipeline broken  environments/production/pipelines/web.yaml:1
      environments/production/pipelines/broken.yaml:14:9
          input "pars" of "out" matches no component
          did you mean "parse"?
  = keep Pipeline quiet  environments/production/pipelines/web.yaml:1
      Held: Held by Ada at 2026-01-02 03:04 UTC: it floods the disk. A newer spec is taken

Files that cannot be read:
  x.yaml:3:1
      this is no YAML
      Close the bracket.

Nodes: restarts on 2, stops on 7 (a.example.org, b.example.org, 1, 2, 3 and 4 more)

On the nodes:
  warning: port-clash: sources.web of "a" and sources.web of "b" both listen on 0.0.0.0:80; only the one that starts first gets it (a.example.org)

Guards:
  ! maxDeletes: the plan deletes 1 object, and 0 may go in one pass
    maxDeletePercent: the plan deletes 10 % of the 10 objects

It is not applied before an ADMIN approves plan abababababababababababababababab.
`);
  });

  it('of nothing to do is short', () => {
    expect(planText(gitPlan([], { state: 'empty', commit: null }))).to.equal(
      'production, with the files at hand\nnothing to do\n\nNothing is to be done.\n',
    );
  });

  it('tells once what is told with its place, and of guards only what this plan comes near', () => {
    const message = 'the secret behind it does not exist';
    const finding = { hint: '', path: 'x.yaml', line: 2, column: 3 };
    const failed = { stage: 'tests', message: 'the test "t" of "a" failed: no', ...finding };
    const plan = gitPlan(
      [
        plannedChange({ action: 'refuse', findings: [{ stage: 'secrets', message, ...finding }] }),
        plannedChange({
          action: 'refuse',
          findings: [failed],
          tests: [{ name: 't', component: 'a', status: 'failed', message: 'no', line: 2 }],
        }),
      ],
      {
        fleet: [{ type: 'missing-secret', severity: 'error', message, pipelines: ['web'], hosts: [] }],
        guards: [{ guard: 'maxDeletes', limit: 10, value: 0, exceeded: false, message: 'deletes 0 objects' }],
      },
    );
    for (const text of [planText(plan), planMarkdown(plan)]) expect(text).not.to.include('On the nodes');
    expect(planText(plan).split(message)).to.have.length(2);
    expect(planText(plan).split(': no\n')).to.have.length(2);
    expect(planText(plan)).not.to.include('Guards');
  });

  it('hands nothing to a terminal that steers it', () => {
    const evil = '\u001b[2J\u001b]0;owned\u0007 \u202egnp.exe\r\n';
    const plan = gitPlan([
      plannedChange({
        name: evil,
        fields: [{ pointer: `/${evil}`, before: evil, after: evil }],
        engineDiff: `+${evil}`,
        notes: [evil],
        reason: { code: 'Held', message: evil },
      }),
    ]);
    const text = planText(plan) + planMarkdown(plan);
    expect(text.replaceAll('\n', '')).not.to.match(/[\p{Cc}\u202e]/u);
  });

  it('has what an alert rule would have done in a sentence, and what limits it', () => {
    const preview: ChangePreview = {
      ...{ metric: 'cpu_usage', series: 40, firings: 3, subjects: 2, firingNow: 0, note: null },
    };
    const cases: [preview: Partial<ChangePreview>, text: string][] = [
      [{}, 'would have fired 3 times on 2 of 40 nodes in the last 7 days, now on 0'],
      [
        { firings: 1, subjects: 1, series: 1, firingNow: 1, metric: 'error_rate' },
        'would have fired 1 time on 1 of 1 pipeline in the last 7 days, now on 1',
      ],
      [
        { firings: 0, subjects: 0, metric: 'pipeline_crashed', note: 'Crashes are recorded for 48 hours.' },
        'would not have fired on any of 40 engines in the last 7 days',
      ],
      [
        { firings: 0, subjects: 0, series: 0 },
        'what it would have done is not known: nothing that it looks at was recorded in the last 7 days',
      ],
    ];
    const changes = cases.map(([more], index) =>
      plannedChange({ kind: 'AlertRule', name: `r${index}`, preview: { ...preview, ...more } }),
    );
    const plan = gitPlan(changes);
    for (const [{ note }, text] of cases) {
      expect(planText(plan)).to.include(`\n      ${text}\n${note ? `      ${note}\n` : ''}`);
      expect(planMarkdown(plan)).to.match(
        new RegExp(`^\\| change \\| AlertRule \\| .* \\| ${text} \\|$`, 'm'),
      );
      if (note) expect(planMarkdown(plan)).to.include(`- ${note}`);
    }
    // As plans were stored before there were previews.
    const { preview: _, ...old } = plannedChange();
    expect(planText(gitPlan([old as PlannedChange]))).not.to.include('fired');
  });

  it('is bounded', () => {
    const many = Array.from({ length: 500 }, (_, index) =>
      plannedChange({
        name: `p${index}`,
        fields: Array.from({ length: 200 }, (_, field) => ({
          pointer: `/${field}`,
          before: 'x'.repeat(4_000),
          after: null,
        })),
        engineDiff: '+x\n'.repeat(5_000),
      }),
    );
    const plan = gitPlan(many, { changesTotal: 9_000 });
    expect(planText(plan)).to.include('… and 8800 more').and.to.have.length.below(4_000_000);
    expect(planMarkdown(plan)).to.have.length.below(65_000).and.to.include('more than fits here');
  });
});

describe('a plan as markdown', () => {
  it('tells everything, the same way every time', () => {
    expect(planMarkdown(FULL_PLAN)).to.equal(`### Plan for production

**1 to create, 1 to change, 1 to delete, 1 to rename; 1 refused; 1 left as it is; 3 unchanged.** It is not applied before an ADMIN approves plan abababababababababababababababab.

| | Kind | Name | |
|---|---|---|---|
| create | NodeGroup | \`edge\` |  |
| change | Pipeline | \`web\` | restarts on 2 \\(a.example.org, b.example.org\\)<br>tests: 1 passed, 1 skipped |
| delete | Pipeline | \`old\` | stops on 7 \\(1, 2, 3, 4, 5 and 2 more\\) |
| rename | Pipeline | \`former\` → \`new\` |  |
| refuse | Pipeline | \`broken\` | Invalid: input "pars" of "out" matches no component |
| keep | Pipeline | \`quiet\` | Held: Held by Ada at 2026-01-02 03:04 UTC: it floods the disk. A newer spec is taken |

#### What is wrong

- \`x.yaml:3:1\`: this is no YAML – Close the bracket.
- \`environments/production/pipelines/broken.yaml:14:9\`: input "pars" of "out" matches no component – did you mean "parse"?

#### Guards

- \`maxDeletes\`: the plan deletes 1 object, and 0 may go in one pass

#### On the nodes

- warning: port-clash: sources.web of "a" and sources.web of "b" both listen on 0.0.0.0:80; only the one that starts first gets it

Nodes: restarts on 2, stops on 7 \\(a.example.org, b.example.org, 1, 2, 3 and 4 more\\)

<details>
<summary>NodeGroup edge</summary>

- \`/criteria\`: – → \`{"role":"edge"}\`

</details>

<details>
<summary>Pipeline web</summary>

- \`/logLevel\`: \`"info"\` → \`"debug"\`

\`\`\`diff
--- deployed
+++ planned
@@ -1,2 +1,2 @@
 sources:
-  a: 1
+  a: 2
\`\`\`
- every node gets the new version at once

</details>

<sub>Plan \`abababababababababababababababab\` of \`c0ffee0\`</sub>
`);
  });

  it('keeps what a manifest says from being markup', () => {
    const evil = '</details><script>x</script> ![i](http://evil) @everyone `code` | **b** ```';
    const plan = gitPlan([
      plannedChange({
        name: evil,
        notes: [evil],
        engineDiff: `+\`\`\`\n+${evil}`,
        fields: [{ pointer: '/a', before: null, after: evil }],
      }),
    ]);
    const text = planMarkdown(plan);
    const outside = text.replaceAll(/(`{3,})diff[\s\S]*?\n\1\n/g, '').replaceAll(/(`+) .*? \1/g, '');
    expect(outside).not.to.match(/<script|!\[|@everyone|\*\*b\*\*/);
    expect(text.match(/<details>/g)).to.have.length(1);
  });
});
