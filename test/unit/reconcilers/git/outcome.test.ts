import { expect } from 'chai';
import type { PruneHold } from '../../../../reconcilers/git/plan/plan.ts';
import {
  conditionsOf,
  type ManifestOutcome,
  retainedCondition,
  STORED_CONDITIONS,
} from '../../../../reconcilers/git/record/outcome.ts';
import type { CheckResult } from '../../../../reconcilers/kinds/index.ts';
import type { Stage } from '../../../../reconcilers/source/index.ts';
import { desiredManifest, sourceProblem } from '../../../support/fixtures/desired.ts';

const place = { path: 'pipelines/web.yaml', line: 4, commit: 'abcdef0123456789' };
const sound: CheckResult = {
  problems: [],
  detail: 'checked: structure, vrl',
  notes: [],
  unknown: [],
  tests: [],
};
const web = desiredManifest({ name: 'web' });
const short = (outcome: ManifestOutcome) =>
  conditionsOf(outcome, place, web)
    .map((one) => `${one.type} ${one.status} ${one.reason}`)
    .sort();

describe('what a pass says of a manifest', () => {
  const rows: [reason: string, outcome: ManifestOutcome, expected: string[]][] = [
    [
      'was applied',
      { type: 'applied', check: sound, detail: 'Accepted as version 1' },
      ['Applied True Applied', 'Parsed True Parsed', 'Tested Unknown NoTests', 'Validated True Valid'],
    ],
    [
      'was applied, though the checker at hand does not know a part of it',
      { type: 'applied', check: { ...sound, unknown: ['the function x'] }, detail: 'Accepted' },
      [
        'Applied True Applied',
        'Parsed True Parsed',
        'Tested Unknown NoTests',
        'Validated Unknown NotKnownHere',
      ],
    ],
    ['is as before', { type: 'unchanged' }, ['Applied True Applied', 'Parsed True Parsed']],
    [
      'is no YAML',
      {
        type: 'refused',
        problems: [sourceProblem({ stage: 'parse' })],
        lastGood: 'version 1 runs on',
      },
      ['Applied False Invalid', 'Parsed False Malformed'],
    ],
    [
      'waits for another',
      { type: 'failed', check: sound, reason: 'Blocked', message: 'waits' },
      ['Applied False Blocked', 'Parsed True Parsed', 'Tested Unknown NoTests', 'Validated True Valid'],
    ],
    [
      'is only observed',
      { type: 'observed', check: sound },
      ['Applied False Observing', 'Parsed True Parsed', 'Tested Unknown NoTests', 'Validated True Valid'],
    ],
    [
      'is suspended',
      { type: 'suspended', override: null },
      ['Applied False Suspended', 'Parsed True Parsed'],
    ],
    [
      'is of a kind that git does not own',
      { type: 'ignored' },
      ['Applied Unknown NotOwned', 'Parsed True Parsed'],
    ],
    [
      'is policy that holds',
      { type: 'policy', description: 'Tightens guards.maxDeletes to 1', waits: null },
      ['Applied True Applied', 'Parsed True Parsed', 'Validated True Valid'],
    ],
    [
      'is policy that comes with a plan that waits',
      { type: 'policy', description: '', waits: 'guarded' },
      ['Applied False Guarded', 'Parsed True Parsed', 'Validated True Valid'],
    ],
  ];
  for (const [reason, outcome, expected] of rows)
    it(`that ${reason}`, () => expect(short(outcome)).to.deep.equal(expected));

  const stages: [Stage, string][] = [
    ['schema', 'SchemaInvalid'],
    ['identity', 'IdentityClash'],
    ['references', 'ReferenceMissing'],
    ['graph', 'GraphInvalid'],
    ['secrets', 'SecretMissing'],
    ['options', 'OptionInvalid'],
    ['vrl', 'ProgramInvalid'],
    ['engine', 'EngineRefused'],
  ];
  for (const [stage, reason] of stages) {
    it(`says ${reason} of a fault at the stage ${stage}, at the line of the fault, with what runs on`, () => {
      const problems = [sourceProblem({ stage, line: 17 })];
      const facts = conditionsOf({ type: 'refused', problems, lastGood: 'version 3 runs on' }, place, web);
      const validated = facts.find((one) => one.type === 'Validated');
      expect(validated).to.include({
        status: 'False',
        reason,
        line: 17,
        message: 'this is no YAML; mend it',
      });
      expect(facts.find((one) => one.type === 'Applied')?.message).to.equal(
        'Refused at abcdef0; version 3 runs on',
      );
    });
  }

  it('counts the tests that it does not run', () => {
    const tests = [1, 2].map((n) => ({ name: `t${n}`, component: 'a', input: {}, expect: 'true' }));
    const tested = conditionsOf(
      { type: 'applied', check: sound, detail: '' },
      place,
      desiredManifest({ name: 'web', spec: { tests } }),
    ).find((one) => one.type === 'Tested');
    expect(tested).to.include({ status: 'Unknown', reason: 'NotRun' });
    expect(tested?.message).to.match(/^2 tests /);
  });

  it('always names file, line and commit, and only conditions that are stored', () => {
    for (const [, outcome] of rows) {
      for (const one of conditionsOf(outcome, place, web)) {
        expect(one).to.include({ file: place.path, commit: place.commit });
        expect(one.line).to.be.a('number');
        expect(STORED_CONDITIONS).to.include(one.type);
      }
    }
  });

  it('says of one that left the tree and is kept that it is not applied, and why', () => {
    const expected: Record<PruneHold, string> = {
      'broken-manifests': 'PruneWaits',
      confirm: 'PruneWaits',
      never: 'PruneRefused',
      observing: 'Observing',
      'no-prune': 'PruneRefused',
      suspended: 'Suspended',
      guarded: 'Guarded',
      'rewritten-history': 'HistoryRewritten',
      'missing-path': 'Guarded',
      'empty-path': 'Guarded',
    };
    const messages = new Set<string>();
    for (const [hold, reason] of Object.entries(expected) as [PruneHold, string][]) {
      const fact = retainedCondition(hold, place);
      expect(fact).to.include({ type: 'Applied', status: 'False', reason, commit: place.commit });
      messages.add(fact.message);
    }
    expect(messages.size).to.equal(Object.keys(expected).length);
  });
});
