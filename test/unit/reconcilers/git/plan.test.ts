import { expect } from 'chai';
import fc from 'fast-check';
import { listLiveNames, withoutBlocked } from '../../../../reconcilers/git/plan/blocked-manifests.ts';
import {
  acts,
  allowedDeletes,
  applies,
  type Change,
  inOrder,
  makePlan,
  type Plan,
  type PlanInput,
  type Recorded,
} from '../../../../reconcilers/git/plan/plan.ts';
import type { DesiredManifest, Problem } from '../../../../reconcilers/source/index.ts';
import {
  appliedRecord,
  desiredManifest,
  desiredState,
  sourceProblem,
} from '../../../support/fixtures/desired.ts';

const plan = (
  manifests: readonly DesiredManifest[],
  recorded: readonly Recorded[],
  more: Partial<PlanInput> = {},
): Plan =>
  makePlan({ desired: desiredState(manifests), recorded, descends: true, allowedDeletes: 0, ...more });

const nameOf = (change: Change) => ('manifest' in change ? change.manifest.name : change.previous.name);
const told = ({ changes }: Plan) =>
  changes.map((change) =>
    change.action === 'keep'
      ? `keep ${nameOf(change)}: ${change.reason}`
      : `${change.action} ${nameOf(change)}`,
  );

const web = desiredManifest({ name: 'web' });
const orders = desiredManifest({ name: 'orders', spec: { description: 'orders' } });

describe('the plan', () => {
  it('creates what the inventory does not know, in the order of names', () => {
    expect(told(plan([web, orders], []))).to.deep.equal(['create orders', 'create web']);
  });

  it('is empty where everything is as it was applied', () => {
    const same = plan([web, orders], [appliedRecord(web), appliedRecord(orders)]);
    expect(told(same)).to.have.members(['none orders', 'none web']);
    expect(same.empty).to.equal(true);
  });

  it('updates the one of which the hash differs and leaves the others alone', () => {
    const changed = desiredManifest({ name: 'web', spec: { description: 'now with words' } });
    expect(told(plan([changed, orders], [appliedRecord(web), appliedRecord(orders)]))).to.have.members([
      'none orders',
      'update web',
    ]);
  });

  it('creates a manifest that was refused so far, though the inventory has a line of it', () => {
    const line = appliedRecord(web, { objectId: null, appliedHash: null, objectHash: null });
    expect(told(plan([web], [line]))).to.deep.equal(['create web']);
  });

  it('knows a name in whatever case it is written, and calls a change of case a rename', () => {
    const [change] = plan([desiredManifest({ name: 'WEB' })], [appliedRecord(web)]).changes;
    expect(change).to.deep.include({ action: 'update', renamedFrom: 'web' });
  });

  it('makes no object of a manifest that says what git may do', () => {
    const policy = desiredManifest({ kind: 'Environment', name: 'edge', spec: {} });
    expect(told(plan([policy], []))).to.deep.equal(['policy edge']);
    expect(plan([policy], []).empty).to.equal(true);
  });

  it('leaves a suspended manifest alone and does not prune its object', () => {
    const suspended = desiredManifest({ name: 'web', spec: { suspend: true, description: 'other' } });
    expect(told(plan([suspended], [appliedRecord(web)]))).to.deep.equal(['suspended web']);
  });

  describe('of drift', () => {
    const rows: [reason: string, record: Partial<Recorded>, drifted: boolean, action: string][] = [
      ['the newest version is another', { objectHash: 'other' }, true, 'update'],
      ['the object is gone', { objectHash: null, objectDeployed: null }, true, 'update'],
      ['it was undeployed', { objectDeployed: false }, true, 'update'],
      ['git itself has moved on', { appliedHash: 'older', objectHash: 'older' }, false, 'update'],
      ['nothing differs', {}, false, 'none'],
    ];
    for (const [reason, record, drifted, action] of rows) {
      it(`says ${action}${drifted ? ' and drifted' : ''} where ${reason}`, () => {
        const [change] = plan([web], [appliedRecord(web, record)]).changes;
        expect(change?.action).to.equal(action);
        expect(change?.action === 'update' && change.drifted).to.equal(drifted);
      });
    }
  });

  describe('of renames', () => {
    it('follows a uid to whatever name', () => {
      const before = desiredManifest({ name: 'web', uid: '01A' });
      const after = desiredManifest({ name: 'shop', uid: '01A' });
      const [change, ...rest] = plan([after], [appliedRecord(before)]).changes;
      expect(change).to.deep.include({ action: 'update', renamedFrom: 'web' });
      expect(rest).to.deep.equal([]);
    });

    it('follows previousName where that name is free', () => {
      const after = desiredManifest({ name: 'shop', previousName: 'Web' });
      expect(told(plan([after], [appliedRecord(web)]))).to.deep.equal(['update shop']);
      expect(told(plan([after, web], [appliedRecord(web)]))).to.deep.equal(['create shop', 'none web']);
    });

    it('forgets the line of a name that never had an object', () => {
      const after = desiredManifest({ name: 'shop', previousName: 'web' });
      const refused = { ...appliedRecord(web), objectId: null, objectName: null, appliedHash: null };
      expect(told(plan([after], [refused]))).to.deep.equal(['create shop', 'forget web']);
    });

    it('prefers the uid to the name, also where another manifest has taken the old name', () => {
      const before = desiredManifest({ name: 'a', uid: '01A' });
      const newcomer = desiredManifest({ name: 'a', spec: { description: 'another pipeline' } });
      const renamed = desiredManifest({ name: 'b', uid: '01A' });
      const { changes } = plan([newcomer, renamed], [appliedRecord(before)]);
      const b = changes.find((change) => nameOf(change) === 'b');
      expect(b).to.deep.include({ action: 'update', renamedFrom: 'a' });
      expect(changes.find((change) => nameOf(change) === 'a')?.action).to.equal('create');
    });

    it('without uid and previousName is a new one and a prune', () => {
      expect(told(plan([desiredManifest({ name: 'shop' })], [appliedRecord(web)]))).to.deep.equal([
        'create shop',
        'prune web',
      ]);
    });

    it('gives an object to one manifest only', () => {
      const two = ['b', 'c'].map((name) => desiredManifest({ name, previousName: 'web' }));
      expect(told(plan(two, [appliedRecord(web)]))).to.deep.equal(['update b', 'create c']);
    });
  });

  describe('of what left the tree', () => {
    const gone = appliedRecord(web);
    const broken = desiredState([orders], { problems: [sourceProblem()] });
    const rows: [
      reason: string,
      input: Partial<PlanInput>,
      expected: string,
      recorded?: Recorded | undefined,
    ][] = [
      ['everything was read and the commit follows the one before', {}, 'prune web'],
      ['a manifest is broken', { desired: broken }, 'keep web: broken-manifests'],
      [
        'not all was read',
        { desired: desiredState([orders], { complete: false }) },
        'keep web: broken-manifests',
      ],
      ['history was rewritten', { descends: false }, 'keep web: rewritten-history'],
      [
        'the path is missing',
        {
          desired: desiredState([], { pathExists: false, problems: [sourceProblem({ stage: 'source' })] }),
        },
        'keep web: missing-path',
      ],
      ['no manifest is left', { desired: desiredState([]) }, 'keep web: empty-path'],
      [
        'nothing but policy is left',
        {
          desired: desiredState([
            desiredManifest({ kind: 'Environment', name: 'staging' }),
            desiredManifest({ kind: 'Repository', name: 'config' }),
          ]),
        },
        'keep web: empty-path',
      ],
      ['its annotation says confirm', {}, 'keep web: confirm', { ...gone, prunePolicy: 'confirm' }],
      ['its annotation says never', {}, 'keep web: never', { ...gone, prunePolicy: 'never' }],
      [
        'the commit allows as many deletions as there are',
        { desired: desiredState([]), allowedDeletes: 2 },
        'prune web',
      ],
      [
        'the commit allows them and the whole folder is gone',
        {
          desired: desiredState([], { pathExists: false, problems: [sourceProblem({ stage: 'source' })] }),
          allowedDeletes: 2,
        },
        'prune web',
      ],
      [
        'the commit allows them, but a manifest is broken',
        { desired: broken, allowedDeletes: 1 },
        'keep web: broken-manifests',
      ],
      [
        'the commit allows them, but it may be an old one that a rewritten history came back to',
        { descends: false, allowedDeletes: 1 },
        'keep web: rewritten-history',
      ],
      [
        'the commit allows them, but its annotation says never',
        { allowedDeletes: 1 },
        'keep web: never',
        { ...gone, prunePolicy: 'never' },
      ],
      [
        'it never became an object',
        {},
        'forget web',
        { ...gone, objectId: null, appliedHash: null, objectHash: null },
      ],
    ];
    for (const [reason, input, expected, recorded] of rows) {
      it(`says "${expected}" where ${reason}`, () => {
        expect(told(plan([orders], [appliedRecord(orders), recorded ?? gone], input))).to.include(expected);
      });
    }

    it('holds all where the commit allows fewer than there are', () => {
      const records = [appliedRecord(web), appliedRecord(orders)];
      expect(told(plan([], records, { allowedDeletes: 1 }))).to.deep.equal([
        'keep orders: empty-path',
        'keep web: empty-path',
      ]);
    });

    it('says nothing of one whose document is there and was refused, by name or by file', () => {
      const problems = [sourceProblem()];
      const refused = [{ kind: 'Pipeline', name: 'Web', path: 'elsewhere.yaml' }];
      const byName = desiredState([orders], { problems, refused });
      expect(told(plan([], [gone, appliedRecord(orders)], { desired: byName }))).to.deep.equal([
        'none orders',
      ]);
      const byFile = desiredState([orders], {
        problems,
        refused: [{ kind: null, name: null, path: gone.path }],
      });
      expect(told(plan([], [gone, appliedRecord(orders)], { desired: byFile }))).to.deep.equal([
        'none orders',
      ]);
    });
  });

  describe('in its order', () => {
    it('applies a pipeline after those that it depends on, however they are called', () => {
      const chain = [
        desiredManifest({ name: 'a', spec: { dependsOn: ['M'] } }),
        desiredManifest({ name: 'm', spec: { dependsOn: ['z'] } }),
        desiredManifest({ name: 'z' }),
      ];
      expect(inOrder(chain).map((one) => one.name)).to.deep.equal(['z', 'm', 'a']);
    });

    it('ends where dependencies form a circle or name what does not exist', () => {
      const circle = [
        desiredManifest({ name: 'a', spec: { dependsOn: ['b'] } }),
        desiredManifest({ name: 'b', spec: { dependsOn: ['a', 'nobody'] } }),
      ];
      expect(inOrder(circle)).to.have.length(2);
    });

    it('is the same however the manifests are handed over, and nothing comes before what it needs', () => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f'];
      // Each may depend on those after it only, so there is no circle.
      const needs = fc.tuple(...names.map((_, index) => fc.subarray(names.slice(index + 1))));
      fc.assert(
        fc.property(needs, fc.shuffledSubarray(names, { minLength: 6 }), (dependsOn, shuffled) => {
          const manifests = names.map((name, index) =>
            desiredManifest({ name, spec: { dependsOn: dependsOn[index] } }),
          );
          const order = inOrder(manifests).map((one) => one.name);
          const again = inOrder(shuffled.flatMap((name) => manifests.filter((one) => one.name === name)));
          expect(again.map((one) => one.name)).to.deep.equal(order);
          names.forEach((name, index) => {
            for (const needed of dependsOn[index] ?? [])
              expect(order.indexOf(needed)).to.be.lessThan(order.indexOf(name));
          });
        }),
      );
    });
  });

  describe('as a rule', () => {
    const NAMES = ['a', 'b', 'c', 'd', 'e'];
    const ANNOTATIONS: Record<string, string>[] = [
      {},
      {},
      { 'headgate/prune': 'confirm' },
      { 'headgate/prune': 'never' },
    ];
    const PROBLEMS: Problem[][] = [[], [], [sourceProblem()]];
    const manifest = (name: string) =>
      fc.record({
        name: fc.constantFrom(name, name.toUpperCase()),
        uid: fc.constantFrom(null, null, `uid-${name}`),
        previousName: fc.constantFrom(null, null, ...NAMES),
        annotations: fc.constantFrom(...ANNOTATIONS),
        spec: fc.record(
          {
            description: fc.constantFrom('one', 'two'),
            deployed: fc.boolean(),
            suspend: fc.constantFrom(false, false, false, true),
            dependsOn: fc.subarray(NAMES.filter((other) => other > name)),
          },
          { requiredKeys: [] },
        ),
      });
    const tree = fc
      .subarray(NAMES)
      .chain((names) => fc.tuple(...names.map(manifest)))
      .map((texts) => texts.map(desiredManifest));
    const inventory = tree.chain((manifests) =>
      fc.tuple(
        ...manifests.map((one) =>
          fc
            .constantFrom<Partial<Recorded>>(
              {},
              {},
              { objectHash: 'drifted' },
              { objectDeployed: false },
              { objectId: null, appliedHash: null, objectHash: null, objectDeployed: null },
            )
            .map((more) => appliedRecord(one, more)),
        ),
      ),
    );
    const situation = fc.record({
      manifests: tree,
      recorded: inventory,
      descends: fc.boolean(),
      allowedDeletes: fc.nat(6),
      problems: fc.constantFrom(...PROBLEMS),
    });
    type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;
    const planOf = (given: Situation) =>
      makePlan({
        desired: desiredState(given.manifests, { problems: given.problems }),
        recorded: given.recorded,
        descends: given.descends,
        allowedDeletes: given.allowedDeletes,
      });

    /** What the inventory is after every change of a plan went through. */
    function applied(recorded: readonly Recorded[], { changes }: Plan): Recorded[] {
      const there = listLiveNames({ ui: [], recorded });
      const { blocked } = withoutBlocked(changes.filter(applies), there);
      const waits = new Set<Change>(blocked.map(({ change }) => change));
      const gone = new Set<Recorded>();
      const written: Recorded[] = [];
      for (const change of changes) {
        if (waits.has(change)) continue;
        if (change.action === 'create' || change.action === 'update') {
          for (const line of recorded)
            if (line === change.previous || line.nameKey === change.manifest.nameKey) gone.add(line);
          written.push(
            appliedRecord(change.manifest, {
              objectId: change.previous?.objectId ?? `new object of ${change.manifest.nameKey}`,
            }),
          );
        } else if (change.action === 'prune' || change.action === 'forget') gone.add(change.previous);
      }
      return [...recorded.filter((line) => !gone.has(line)), ...written];
    }

    it('is the same when it is made twice, and when the inventory comes in another order', () => {
      fc.assert(
        fc.property(situation, (given) => {
          const first = planOf(given);
          expect(planOf(given)).to.deep.equal(first);
          const turned = planOf({ ...given, recorded: [...given.recorded].reverse() });
          expect(new Set(told(turned))).to.deep.equal(new Set(told(first)));
        }),
      );
    });

    it('has an equal hash exactly when it would do the same', () => {
      fc.assert(
        fc.property(situation, situation, (one, other) => {
          /** What waits for the approval of this very hash counts as done. */
          const deedOf = (change: Change, { awaiting }: Plan) =>
            'manifest' in change
              ? [
                  change.action,
                  change.manifest.nameKey,
                  change.manifest.hash,
                  change.manifest.uid,
                  change.previous?.objectId ?? null,
                ]
              : change.action === 'prune' ||
                  (change.action === 'keep' &&
                    change.reason === awaiting &&
                    change.previous.prunePolicy === 'auto')
                ? ['prune', change.previous.nameKey, change.previous.appliedHash, change.previous.objectId]
                : null;
          const deeds = (made: Plan) =>
            made.changes.flatMap((change) => {
              const deed = acts(change) || change.action === 'keep' ? deedOf(change, made) : null;
              return deed ? [deed] : [];
            });
          const [a, b] = [planOf(one), planOf(other)];
          expect(a.hash === b.hash).to.equal(JSON.stringify(deeds(a)) === JSON.stringify(deeds(b)));
          expect(a.empty).to.equal(!a.changes.some(acts));
        }),
      );
    });

    it('is empty once the plan before was applied', () => {
      fc.assert(
        fc.property(situation, (given) => {
          const after = { ...given, recorded: applied(given.recorded, planOf(given)) };
          const again = planOf(after as Situation);
          const { ready } = withoutBlocked(
            again.changes.filter(applies),
            listLiveNames({ ui: [], recorded: after.recorded }),
          );
          expect(ready).to.deep.equal([]);
          expect(told(again).filter((line) => line.startsWith('prune'))).to.deep.equal([]);
        }),
        { numRuns: 500 },
      );
    });

    it('never prunes where something is broken or history was rewritten, and never what is in the tree', () => {
      fc.assert(
        fc.property(situation, (given) => {
          const prunes = planOf(given).changes.filter((change) => change.action === 'prune');
          if (given.problems.length > 0 || !given.descends) expect(prunes).to.deep.equal([]);
          for (const { previous } of prunes) {
            expect(previous.prunePolicy).to.equal('auto');
            expect(given.manifests.some((one) => one.uid !== null && one.uid === previous.uid)).to.equal(
              false,
            );
          }
        }),
        { numRuns: 500 },
      );
    });

    it('touches each object and each manifest once', () => {
      fc.assert(
        fc.property(situation, (given) => {
          const { changes } = planOf(given);
          const objects = changes.flatMap((change) =>
            change.previous?.objectId ? [change.previous.objectId] : [],
          );
          expect(new Set(objects).size).to.equal(objects.length);
          const manifests = changes.flatMap((change) => ('manifest' in change ? [change.manifest] : []));
          expect(manifests).to.have.members(given.manifests);
        }),
      );
    });
  });
});

describe('the trailer Headgate-Allow-Delete', () => {
  const rows: [reason: string, message: string, count: number][] = [
    ['absent', 'Remove the shop', 0],
    ['at the end', 'Remove the shop\n\nHeadgate-Allow-Delete: 12\n', 12],
    ['among other trailers', 'x\n\nHeadgate-Allow-Delete: 4\nSigned-off-by: Ada <ada@example.org>\n', 4],
    [
      'quoted in an earlier paragraph',
      'Explain it\n\nWrite\nHeadgate-Allow-Delete: 12\nto delete.\n\nSigned-off-by: Ada',
      0,
    ],
    ['in another case, with spaces', 'x\n\nheadgate-allow-delete:  3  ', 3],
    ['in the middle of a line', 'see Headgate-Allow-Delete: 12', 0],
    ['without a number', 'x\n\nHeadgate-Allow-Delete: all', 0],
    ['with a sign', 'x\n\nHeadgate-Allow-Delete: -1', 0],
    ['absurdly large', 'x\n\nHeadgate-Allow-Delete: 99999999', 0],
    ['after a Windows line end', 'x\r\n\r\nHeadgate-Allow-Delete: 2\r\n', 2],
  ];
  for (const [reason, message, count] of rows)
    it(`${reason} counts ${count}`, () => expect(allowedDeletes(message)).to.equal(count));
});
