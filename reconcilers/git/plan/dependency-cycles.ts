/** Reports manifests whose dependencies form a cycle, with every file and line of the cycle. Pure. */
import {
  circleText,
  type OrderedPipeline,
  type StoredDependency,
} from '../../../controller/pipelines/order/index.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import { type DesiredManifest, type Problem, problemLocation } from '../../source/index.ts';
import { applies, type Change } from './change.ts';
import { type DependencyNode, orderOf } from './dependency-order.ts';

/** The dependencies of an environment's pipelines in the database. */
export interface ObservedOrder {
  pipelines: readonly OrderedPipeline[];
  /** Made in the UI or by the API. */
  stored: readonly StoredDependency[];
}

/** A manifest, and its pipeline. */
interface Wanted {
  manifest: DesiredManifest;
  objectId: string | null;
  /** False where the pipeline stays as it is in spite of the manifest. */
  isApplied: boolean;
}

/** Among manifests alone, where there is no database. */
export const findCyclesAmong = (manifests: readonly DesiredManifest[]): Map<DesiredManifest, Problem[]> =>
  problemsOfCycles(
    manifests.map((manifest) => ({ manifest, objectId: null, isApplied: true })),
    { pipelines: [], stored: [] },
  );

/**
 * @param refused Manifests that are refused for another reason: their pipelines stay as they are.
 * @param removed Ids of objects that the plan deletes.
 */
export function findCycles(
  changes: readonly Change[],
  { pipelines, stored }: ObservedOrder,
  refused: Pick<ReadonlyMap<DesiredManifest, unknown>, 'has'>,
  removed: ReadonlySet<string>,
): Map<DesiredManifest, Problem[]> {
  const wanted = changes.flatMap((change): Wanted[] => {
    if (!('manifest' in change) || change.action === 'policy' || change.action === 'ignore') return [];
    const { manifest } = change;
    const objectId = 'object' in change ? change.object.id : (change.previous?.objectId ?? null);
    const isApplied = (applies(change) || change.action === 'none') && !refused.has(manifest);
    return [{ manifest, objectId, isApplied }];
  });
  return problemsOfCycles(wanted, { pipelines: pipelines.filter(({ id }) => !removed.has(id)), stored });
}

/** The dependencies of a manifest: references to its own kind. */
const dependenciesIn = (manifest: DesiredManifest) =>
  (KINDS.get(manifest.kind)?.references(manifest) ?? []).filter(({ kind }) => kind === manifest.kind);

export const hasDependencies = (manifest: DesiredManifest): boolean => dependenciesIn(manifest).length > 0;

function problemsOfCycles(
  wanted: readonly Wanted[],
  observed: ObservedOrder,
): Map<DesiredManifest, Problem[]> {
  const graph = graphOf(
    wanted.filter(({ manifest }) => manifest.kind === 'Pipeline'),
    observed,
  );
  const found = [...orderOf(graph.nodes).circles];
  return new Map(
    found.flatMap(([key, circle]) => {
      const manifest = graph.manifests.get(key);
      return manifest ? [[manifest, [problemOf(manifest, circle, graph)]] as const] : [];
    }),
  );
}

/** Keys are ids of pipelines; new manifests get a key made from their name. */
interface Graph {
  nodes: DependencyNode[];
  manifests: ReadonlyMap<string, DesiredManifest>;
  names: ReadonlyMap<string, string>;
  /** By `nameKeyOf`, with the names after the plan. */
  byName: ReadonlyMap<string, string>;
  /** Dependencies made in the UI or by the API. */
  upstreamsByHand(key: string): string[];
}

function graphOf(wanted: readonly Wanted[], { pipelines, stored }: ObservedOrder): Graph {
  const keyOf = ({ manifest, objectId }: Wanted) => objectId ?? `new ${manifest.nameKey}`;
  const manifests = new Map(wanted.map((one) => [keyOf(one), one.manifest]));
  const rows = new Map(pipelines.map((row) => [row.id, row]));
  const names = new Map(pipelines.map(({ id, name }) => [id, name]));
  const byName = new Map(pipelines.map(({ id, name }) => [nameKeyOf(name), id]));
  for (const [key, { name, nameKey }] of manifests) {
    names.set(key, name);
    byName.set(nameKey, key);
  }
  const byHand = Map.groupBy(stored, ({ downstreamId }) => downstreamId);
  const upstreamsByHand = (key: string) =>
    (byHand.get(key) ?? []).flatMap(({ upstreamId }) => (names.has(upstreamId) ? upstreamId : []));
  const dependenciesOf = (key: string, entries: readonly string[]) => [
    ...entries.flatMap((name) => byName.get(nameKeyOf(name)) ?? []),
    ...upstreamsByHand(key),
  ];
  const current = (key: string) => dependenciesOf(key, rows.get(key)?.dependsOn ?? []);
  const nodes = wanted.map((one): DependencyNode => {
    const key = keyOf(one);
    const entries = dependenciesIn(one.manifest).map(({ name }) => name);
    return { key, wanted: one.isApplied ? dependenciesOf(key, entries) : null, current: current(key) };
  });
  for (const { id } of pipelines)
    if (!manifests.has(id)) nodes.push({ key: id, wanted: null, current: current(id) });
  return { nodes, manifests, names, byName, upstreamsByHand };
}

function problemOf(manifest: DesiredManifest, circle: readonly string[], graph: Graph): Problem {
  const { manifests, names, byName, upstreamsByHand } = graph;
  const nameOf = (key: string | undefined) => names.get(key ?? '') ?? '';
  const entries = dependenciesIn(manifest);
  const entry = entries.find(({ name }) => byName.get(nameKeyOf(name)) === circle[1 % circle.length]);
  const isAlone = circle.length === 1;
  const links = circle.map((member, index) => {
    const next = circle[(index + 1) % circle.length] ?? member;
    const location = dependencyLocation(manifests.get(member), nameOf(next));
    const elsewhere = upstreamsByHand(member).includes(next) ? 'in the web UI' : 'as it was applied last';
    return `${nameOf(member)} (${location ?? elsewhere})`;
  });
  return {
    ...{ kind: manifest.kind, name: manifest.name, stage: 'graph' },
    ...manifest.at((entry ?? entries[0])?.pointer ?? ''),
    message: isAlone
      ? `"${manifest.name}" depends on itself`
      : `its dependencies go round in a circle, each waiting for the next: ${circleText(links, nameOf(circle[0]))}`,
    hint: isAlone ? 'take the entry out' : 'take one of these dependencies out',
  };
}

/** Where the manifest names the other; null where it does not. */
function dependencyLocation(manifest: DesiredManifest | undefined, name: string): string | null {
  const entry = manifest && dependenciesIn(manifest).find((one) => nameKeyOf(one.name) === nameKeyOf(name));
  return entry ? problemLocation(manifest.at(entry.pointer)) : null;
}
