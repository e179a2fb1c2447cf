import { expect } from 'chai';
import { type Counts, noCounts, type ReportEntry } from '../../../../reconcilers/git/pass-report.ts';
import type { PruneHold } from '../../../../reconcilers/git/plan/plan.ts';
import { renderReport } from '../../../../reconcilers/git/render-report.ts';
import { type CommitInfo, problemLocation } from '../../../../reconcilers/source/index.ts';
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
const linesOf = (entries: readonly ReportEntry[], found: Counts) =>
  renderReport({
    ...{ type: 'pass', environment: 'staging', commit, entries, counts: found },
    skippedCommits: 0,
  });
const of = (entry: ReportEntry) => linesOf([entry], counts()).slice(1);
const name = { kind: 'Pipeline', name: 'web' };

describe('the report of a pass', () => {
  it('says in one line that there was nothing to do', () => {
    expect(linesOf([], counts({ unchanged: 3 }))).to.deep.equal([
      'staging: nothing to do, 3 manifests as before',
    ]);
    expect(linesOf([], counts({ unchanged: 1 }))).to.deep.equal([
      'staging: nothing to do, 1 manifest as before',
    ]);
  });

  it('begins with environment and commit and closes with what did not change', () => {
    const lines: ReportEntry[] = [{ type: 'created', ...name, detail: 'version 1' }];
    expect(linesOf(lines, counts({ created: 1, unchanged: 2 }))).to.deep.equal([
      'staging at 0123456 "Lift the level"',
      '  + web: created, version 1',
      '  2 unchanged',
    ]);
  });

  const rows: [reason: string, line: ReportEntry, said: string][] = [
    [
      'a restored one',
      { type: 'restored', ...name, detail: 'version 4' },
      '  + web: back with its id and history, version 4',
    ],
    ['a changed one', { type: 'changed', ...name, detail: 'version 2' }, '  ~ web: version 2'],
    [
      'a renamed one',
      { type: 'changed', ...name, detail: 'version 2', renamedFrom: 'shop' },
      '  ~ web: renamed from shop, version 2',
    ],
    [
      'drift that was undone',
      { type: 'changed', ...name, detail: 'version 2', drifted: true },
      '  ~ web: set back to what git says, version 2',
    ],
    [
      'a draft that was pruned',
      { type: 'pruned', ...name, stopped: false },
      '  - web: deleted; add the manifest back within 24 h to get it back with its history',
    ],
    [
      'a pruned one',
      { type: 'pruned', ...name, stopped: true },
      '  - web: stopped and deleted; add the manifest back within 24 h to get it back with its history',
    ],
    ['a refused one', { type: 'failed', ...name, message: 'waits for "a"' }, '  ! web: waits for "a"'],
    ['an observed one', { type: 'observed', ...name }, '  ? web: would change'],
  ];
  for (const [reason, line, said] of rows)
    it(`tells of ${reason}`, () => expect(of(line)).to.deep.equal([said]));

  it('names file, line and column of a problem, what to do, and what runs on', () => {
    expect(of({ type: 'problem', problem: sourceProblem(), lastGood: 'version 3 runs on' })).to.deep.equal([
      '  ! pipelines/broken.yaml:3:7: this is no YAML',
      '      mend it (version 3 runs on)',
    ]);
    expect(of({ type: 'problem', problem: sourceProblem(), lastGood: '' })[1]).to.equal('      mend it');
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
    const said = reasons.map((reason) => of({ type: 'retained', ...name, reason })[0]);
    expect(new Set(said).size).to.equal(reasons.length);
    for (const line of said) expect(line).to.match(/^ {2}! web: its manifest is gone; .{10}/);
  });

  it('is cut at forty lines and says how many there are more', () => {
    const lines = Array.from(
      { length: 60 },
      (_, n): ReportEntry => ({ type: 'created', kind: 'Pipeline', name: `p${n}`, detail: 'version 1' }),
    );
    const report = linesOf(lines, counts({ created: 60 }));
    expect(report).to.have.length(42);
    expect(report.at(-1)).to.equal('  … and 20 more lines in the UI');
  });
});
