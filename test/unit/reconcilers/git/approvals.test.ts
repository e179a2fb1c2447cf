/** What an approval is about: one plan, and what is left of it after a pass was killed in the middle. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  acts,
  type Change,
  makePlan,
  objectIdOf,
  type Plan,
  type Recorded,
} from '../../../../reconcilers/git/plan/plan.ts';
import { actionsOf } from '../../../../reconcilers/git/plan/plan-hash.ts';
import {
  NO_OPERATOR_INPUT,
  type OperatorInput,
  type UiObject,
} from '../../../../reconcilers/git/read/overrides.ts';
import type { DesiredManifest } from '../../../../reconcilers/source/index.ts';
import { appliedRecord, desiredManifest, desiredState } from '../../../support/fixtures/desired.ts';

interface World {
  manifests: readonly DesiredManifest[];
  recorded: readonly Recorded[];
  ui: readonly UiObject[];
}

const planOf = ({ manifests, recorded, ui }: World, operatorInput: OperatorInput = NO_OPERATOR_INPUT): Plan =>
  makePlan({
    desired: desiredState(manifests),
    recorded,
    ui,
    descends: true,
    allowedDeletes: 0,
    operatorInput,
  });
const approved = ({ hash }: Plan): OperatorInput => ({ ...NO_OPERATOR_INPUT, approved: new Set([hash]) });
const begun = ({ hash, whole }: Plan): OperatorInput => ({
  ...NO_OPERATOR_INPUT,
  approved: new Set([hash]),
  begun: [{ hash, actions: new Set(actionsOf(whole)) }],
});

const NAMES = ['a', 'b', 'c', 'd'];
const trees = fc
  .subarray(NAMES)
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          uid: fc.constantFrom(null, `uid-${name}`),
          spec: fc.record({ description: fc.constantFrom('one', 'two'), deployed: fc.boolean() }),
        }),
      ),
    ),
  )
  .map((texts) => texts.map((text) => desiredManifest(text)));
const worlds = fc
  .record({ manifests: trees, before: trees, ui: fc.subarray(NAMES) })
  .map(({ manifests, before, ui }): World => {
    const owned = new Set(before.map(({ nameKey }) => nameKey));
    return {
      manifests,
      recorded: before.map((one) => appliedRecord(one)),
      ui: ui
        .filter((name) => !owned.has(name))
        .map((name) => ({ kind: 'Pipeline', id: `ui ${name}`, name, nameKey: name, uid: `uid-${name}` })),
    };
  });

/** What a pass leaves that carried out a change and was killed before it recorded anything. */
function killedAfter({ manifests, recorded, ui }: World, change: Change): World {
  if (change.action === 'prune') {
    const left = { ...change.previous, objectName: null, objectHash: null, objectDeployed: null };
    return { manifests, ui, recorded: recorded.map((line) => (line === change.previous ? left : line)) };
  }
  if (change.action !== 'create' && change.action !== 'update' && change.action !== 'adopt')
    throw new Error('nothing is done by it');
  const { manifest } = change;
  const objectId = objectIdOf(change) ?? `new ${manifest.nameKey}`;
  const made = appliedRecord(manifest, { objectId });
  const { objectName, objectHash, objectDeployed } = made;
  const known = change.previous;
  const line = known
    ? { ...known, objectName, objectHash, objectDeployed }
    : { ...made, appliedHash: null, appliedMeta: null, path: '' };
  return {
    manifests,
    ui: ui.filter(({ id }) => id !== objectId),
    recorded: [...recorded.filter((one) => one !== known && one.nameKey !== line.nameKey), line],
  };
}

describe('an approval', () => {
  const web = desiredManifest({ name: 'web' });
  const shop = desiredManifest({ name: 'shop' });
  const gone = appliedRecord(desiredManifest({ name: 'gone' }));
  const world: World = { manifests: [web, shop], recorded: [gone], ui: [] };
  const half: World = {
    ...world,
    recorded: [gone, appliedRecord(shop, { appliedHash: null, objectId: 'new shop' })],
  };

  it('is about one plan, and not about a part of it', () => {
    const plan = planOf(world);
    expect(planOf(world, approved(plan)).approval).to.equal(plan.hash);
    expect(planOf(half, approved(plan)).approval).to.equal(null);
    expect(planOf({ ...world, recorded: [] }, approved(plan)).approval).to.equal(null);
  });

  it('is about the rest of it, too, once a pass has begun with it', () => {
    const plan = planOf(world);
    expect(planOf(half, begun(plan)).approval).to.equal(plan.hash);
  });

  it('is about nothing that was not in it, though a pass has begun', () => {
    const plan = planOf(world);
    const others: Record<string, World> = {
      'one more': { ...half, manifests: [web, shop, desiredManifest({ name: 'more' })] },
      'another spec': {
        ...half,
        manifests: [desiredManifest({ name: 'web', spec: { description: 'x' } }), shop],
      },
      'another object is deleted': { ...half, recorded: [appliedRecord(web), ...half.recorded.slice(1)] },
      'another object stands in its place': {
        ...half,
        recorded: [gone, appliedRecord(shop, { appliedHash: null, objectHash: 'somebody changed it' })],
      },
    };
    for (const [what, other] of Object.entries(others)) {
      const left = what === 'another object is deleted' ? { ...other, manifests: [shop] } : other;
      expect(planOf(left, begun(plan)).approval, what).to.equal(null);
    }
  });

  it('holds wherever a pass was killed, to the end of the plan', () => {
    fc.assert(
      fc.property(worlds, fc.nat(), (given, seed) => {
        const plan = planOf(given);
        const doings = plan.changes.filter(acts);
        let after = given;
        const inSomeOrder = doings.toSorted(
          (a, b) => ((doings.indexOf(a) * 7 + seed) % 5) - ((doings.indexOf(b) * 7 + seed) % 5),
        );
        for (const change of inSomeOrder) {
          after = killedAfter(after, change);
          expect(planOf(after, begun(plan)).approval).to.equal(plan.hash);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('covers no plan with a change that it was not given for', () => {
    fc.assert(
      fc.property(worlds, worlds, (one, other) => {
        const plan = planOf(one);
        const given = new Set(actionsOf(plan.whole));
        const later = planOf(other, begun(plan));
        if (later.approval === null || later.hash === plan.hash) return;
        for (const change of later.changes.filter(acts))
          for (const deed of actionsOf([change])) expect(given.has(deed)).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });
});
