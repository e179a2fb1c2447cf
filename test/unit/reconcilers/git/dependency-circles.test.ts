import { expect } from 'chai';
import { findCyclesAmong } from '../../../../reconcilers/git/plan/dependency-cycles.ts';
import { inOrder, makePlan, type PlanInput } from '../../../../reconcilers/git/plan/plan.ts';
import type { DesiredManifest } from '../../../../reconcilers/source/index.ts';
import { appliedRecord, desiredManifest, desiredState } from '../../../support/fixtures/desired.ts';

const pipeline = (name: string, ...dependsOn: string[]) => desiredManifest({ name, spec: { dependsOn } });
const row = (name: string, more: { managedBy?: 'ui' | 'git'; dependsOn?: string[] } = {}) => ({
  ...{ id: `object of ${name}`, name, isDraft: false, managedBy: more.managedBy ?? ('git' as const) },
  dependsOn: more.dependsOn ?? [],
});
const byHand = (upstream: string, downstream: string) => ({
  ...{ id: 'd', upstreamId: `object of ${upstream}`, downstreamId: `object of ${downstream}` },
  ...{ description: null, createdAt: new Date(0) },
});

/** The first message of each manifest that is refused, by name. */
const messages = (faults: ReadonlyMap<DesiredManifest, readonly { message: string }[]>) =>
  Object.fromEntries([...faults].map(([{ name }, [first]]) => [name, first?.message]));

function faultsOf(manifests: DesiredManifest[], more: Partial<PlanInput>) {
  return makePlan({
    ...{ desired: desiredState(manifests), recorded: [], descends: true, allowedDeletes: 0 },
    ...more,
  }).faults;
}

describe('a circle of dependencies', () => {
  it('is told to everyone in it, with every file and line', () => {
    const found = messages(findCyclesAmong([pipeline('a', 'B'), pipeline('b', 'c'), pipeline('c', 'a')]));
    expect(Object.keys(found)).to.have.members(['a', 'b', 'c']);
    expect(found.a).to.match(
      /in a circle.*: a \(pipelines\/a\.yaml:1:1\) → b \(pipelines\/b\.yaml:1:1\) → c \(pipelines\/c\.yaml:1:1\) → a/,
    );
    expect(found.c).to.match(/: c \(.*\) → a \(.*\) → b \(.*\) → c/);
  });

  it('is one that depends on itself, and none that leads to it', () => {
    const found = messages(findCyclesAmong([pipeline('a', 'a'), pipeline('b', 'a')]));
    expect(found).to.deep.equal({ a: '"a" depends on itself' });
  });

  it('is closed by a dependency that people have made', () => {
    const order = {
      pipelines: [row('web'), row('mine', { managedBy: 'ui' })],
      stored: [byHand('web', 'mine')],
    };
    const web = pipeline('web', 'mine');
    const recorded = [appliedRecord(web, { appliedHash: 'before', objectHash: 'before' })];
    expect(messages(faultsOf([web], { recorded, order })).web).to.match(
      /: web \(pipelines\/web\.yaml.*\) → mine \(in the web UI\) → web/,
    );
  });

  it('is closed over one whose document is refused and that stays as it was', () => {
    const order = { pipelines: [row('web'), row('broken', { dependsOn: ['web'] })], stored: [] };
    const web = pipeline('web', 'broken');
    const refused = [{ kind: 'Pipeline', name: 'broken', path: 'pipelines/broken.yaml' }];
    const recorded = [
      appliedRecord(web, { appliedHash: 'before', objectHash: 'before' }),
      appliedRecord(pipeline('broken', 'web')),
    ];
    const found = faultsOf([web], { desired: desiredState([web], { refused }), recorded, order });
    expect(messages(found).web).to.match(/→ broken \(as it was applied last\) → web/);
  });

  it('is none over one that this commit deletes', () => {
    const order = {
      pipelines: [row('web'), row('old', { dependsOn: ['web'] }), row('mine', { managedBy: 'ui' })],
      stored: [byHand('old', 'mine')],
    };
    const web = pipeline('web', 'mine');
    const recorded = [
      appliedRecord(web, { appliedHash: 'before', objectHash: 'before' }),
      appliedRecord(pipeline('old', 'web')),
    ];
    expect(messages(faultsOf([web], { recorded, order }))).to.deep.equal({});
    const kept = recorded.map((line) => ({ ...line, prunePolicy: 'never' as const }));
    expect(Object.keys(messages(faultsOf([web], { recorded: kept, order })))).to.deep.equal(['web']);
  });

  it('is found across a rename', () => {
    const order = {
      pipelines: [row('web'), row('mine', { managedBy: 'ui' })],
      stored: [byHand('web', 'mine')],
    };
    const shop = desiredManifest({ name: 'shop', previousName: 'web', spec: { dependsOn: ['mine'] } });
    const recorded = [appliedRecord(pipeline('web'))];
    expect(messages(faultsOf([shop], { recorded, order })).shop).to.match(/: shop .* → mine .* → shop/);
  });

  it('is none where one of them is left alone', () => {
    const a = pipeline('a', 'b');
    const b = desiredManifest({ name: 'b', spec: { dependsOn: ['a'], suspend: true } });
    const order = { pipelines: [row('a'), row('b')], stored: [] };
    const recorded = [a, b].map((one) => appliedRecord(one, { appliedHash: 'before', objectHash: 'before' }));
    expect(messages(faultsOf([a, b], { recorded, order }))).to.deep.equal({});
  });
});

describe('the order of applying', () => {
  it('leads through manifests that are not applied themselves, and down long chains', () => {
    const [last, first] = [pipeline('a last', 'between'), pipeline('z first')];
    expect(inOrder([last, first], [last, pipeline('between', 'z first'), first])).to.deep.equal([
      first,
      last,
    ]);
    const count = 500;
    const chain = Array.from({ length: count }, (_, n) =>
      pipeline(
        `p${String(n).padStart(3, '0')}`,
        ...(n + 1 < count ? [`p${String(n + 1).padStart(3, '0')}`] : []),
      ),
    );
    expect(inOrder(chain).map(({ name }) => name)).to.deep.equal(chain.map(({ name }) => name).reverse());
  });
});
