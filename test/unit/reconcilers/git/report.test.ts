import { expect } from 'chai';
import {
  type Counts,
  type Line,
  noCounts,
  problemLocation,
  renderReport,
} from '../../../../reconcilers/git/pass-report.ts';
import type { PruneHold } from '../../../../reconcilers/git/plan/plan.ts';
import type { CommitInfo } from '../../../../reconcilers/source/index.ts';
import { sourceProblem } from '../../../support/fixtures/desired.ts';

const commit: CommitInfo = {
  sha: '0123456789abcdef0123456789abcdef01234567',
  author: 'Ada Example',
  email: 'ada@example.org',
  subject: 'Lift the level',
  message: 'Lift the level\n',
  at: new Date(0),
  parents: [],
};
const counts = (more: Partial<Counts> = {}): Counts => ({ ...noCounts(), ...more });
const of = (line: Line) => renderReport('staging', commit, [line], counts()).slice(1);
const name = { kind: 'Pipeline', name: 'web' };

describe('the report of a pass', () => {
  it('says in one line that there was nothing to do', () => {
    expect(renderReport('staging', commit, [], counts({ unchanged: 3 }))).to.deep.equal([
      'staging: nothing to do, 3 manifests as before',
    ]);
    expect(renderReport('staging', commit, [], counts({ unchanged: 1 }))).to.deep.equal([
      'staging: nothing to do, 1 manifest as before',
    ]);
  });

  it('begins with environment and commit and closes with what did not change', () => {
    const lines: Line[] = [{ type: 'created', ...name, detail: 'version 1' }];
    expect(renderReport('staging', commit, lines, counts({ created: 1, unchanged: 2 }))).to.deep.equal([
      'staging at 0123456 "Lift the level"',
      '  + web: created, version 1',
      '  2 unchanged',
    ]);
  });

  const rows: { reason: string; line: Line; said: string }[] = [
    {
      reason: 'a restored one',
      line: { type: 'restored', ...name, detail: 'version 4' },
      said: '  + web: back with its id and history, version 4',
    },
    {
      reason: 'a changed one',
      line: { type: 'changed', ...name, detail: 'version 2' },
      said: '  ~ web: version 2',
    },
    {
      reason: 'a renamed one',
      line: { type: 'changed', ...name, detail: 'version 2', renamedFrom: 'shop' },
      said: '  ~ web: renamed from shop, version 2',
    },
    {
      reason: 'drift that was undone',
      line: { type: 'changed', ...name, detail: 'version 2', drifted: true },
      said: '  ~ web: set back to what git says, version 2',
    },
    {
      reason: 'a draft that was pruned',
      line: { type: 'pruned', ...name, stopped: false },
      said: '  - web: deleted; add the manifest back within 24 h to get it back with its history',
    },
    {
      reason: 'a pruned one',
      line: { type: 'pruned', ...name, stopped: true },
      said: '  - web: stopped and deleted; add the manifest back within 24 h to get it back with its history',
    },
    {
      reason: 'a refused one',
      line: { type: 'failed', ...name, message: 'waits for "a"' },
      said: '  ! web: waits for "a"',
    },
    { reason: 'an observed one', line: { type: 'observed', ...name }, said: '  ? web: would change' },
  ];
  for (const { reason, line, said } of rows)
    it(`tells of ${reason}`, () => expect(of(line)).to.deep.equal([said]));

  it('names file, line and column of a problem, what to do, and what runs on', () => {
    expect(of({ type: 'problem', problem: sourceProblem(), kept: 'version 3 runs on' })).to.deep.equal([
      '  ! pipelines/broken.yaml:3:7: this is no YAML',
      '      mend it (version 3 runs on)',
    ]);
    expect(of({ type: 'problem', problem: sourceProblem(), kept: '' })[1]).to.equal('      mend it');
  });

  it('leaves out what of a place is not known', () => {
    expect(problemLocation({ path: 'a.yaml' })).to.equal('a.yaml');
    expect(problemLocation({ path: 'a.yaml', line: 2 })).to.equal('a.yaml:2');
    expect(problemLocation({ path: 'a.yaml', line: 2, column: 5 })).to.equal('a.yaml:2:5');
  });

  it('tells of every reason to keep what left the tree in words of its own', () => {
    const reasons: PruneHold[] = [
      'broken-manifests',
      'rewritten-history',
      'missing-path',
      'empty-path',
      'confirm',
      'never',
      'observing',
    ];
    const said = reasons.map((reason) => of({ type: 'kept', ...name, reason })[0]);
    expect(new Set(said).size).to.equal(reasons.length);
    for (const line of said) expect(line).to.match(/^ {2}! web: its manifest is gone; .{10}/);
  });

  it('is cut at forty lines and says how many there are more', () => {
    const lines = Array.from(
      { length: 60 },
      (_, n): Line => ({ type: 'created', kind: 'Pipeline', name: `p${n}`, detail: 'version 1' }),
    );
    const report = renderReport('staging', commit, lines, counts({ created: 60 }));
    expect(report).to.have.length(42);
    expect(report.at(-1)).to.equal('  … and 20 more lines in the UI');
  });
});
