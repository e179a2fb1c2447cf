/** What is wrong with manifests whose dependencies form a circle, told with every file and line of it. Pure. */
import {
  circleText,
  type OrderedPipeline,
  type StoredDependency,
} from '../../../controller/pipelines/order/index.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest, Problem } from '../../source/index.ts';
import { problemLocation } from '../pass-report.ts';
import { applies, type Change } from './change.ts';
import { type DependencyNode, orderOf } from './dependency-order.ts';

/** What the database holds of the order of an environment's pipelines. */
export interface ObservedOrder {
  pipelines: readonly OrderedPipeline[];
  /** Made by people. */
  stored: readonly StoredDependency[];
}

/** A manifest, and the pipeline that it becomes. */
interface Wanted {
  manifest: DesiredManifest;
  objectId: string | null;
  /** False where its pipeline stays as it is, whatever the manifest says. */
  isApplied: boolean;
}

/** Of manifests alone, as where there is no database. */
export const findCyclesAmong = (manifests: readonly DesiredManifest[]): Map<DesiredManifest, Problem[]> =>
  circles(
    manifests.map((manifest) => ({ manifest, objectId: null, isApplied: true })),
    { pipelines: [], stored: [] },
  );

/**
 * @param refused Manifests that are refused for another reason: their pipelines stay as they are.
 * @param leaving Ids of objects that the plan deletes.
 */
export function findCycles(
  changes: readonly Change[],
  { pipelines, stored }: ObservedOrder,
  refused: Pick<ReadonlyMap<DesiredManifest, unknown>, 'has'>,
  leaving: ReadonlySet<string>,
): Map<DesiredManifest, Problem[]> {
  const wanted = changes.flatMap((change): Wanted[] => {
    if (!('manifest' in change) || change.action === 'policy' || change.action === 'ignore') return [];
    const { manifest } = change;
    const objectId = 'object' in change ? change.object.id : (change.previous?.objectId ?? null);
    const isApplied = (applies(change) || change.action === 'none') && !refused.has(manifest);
    return [{ manifest, objectId, isApplied }];
  });
  return circles(wanted, { pipelines: pipelines.filter(({ id }) => !leaving.has(id)), stored });
}

/** What a manifest is applied after: names of its own kind. */
const entriesOf = (manifest: DesiredManifest) =>
  (KINDS.get(manifest.kind)?.references(manifest) ?? []).filter(({ kind }) => kind === manifest.kind);

export const hasDependencies = (manifest: DesiredManifest): boolean => entriesOf(manifest).length > 0;

function circles(wanted: readonly Wanted[], observed: ObservedOrder): Map<DesiredManifest, Problem[]> {
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

/** Keys are ids of pipelines; those of manifests that are new are their names. */
interface Graph {
  nodes: DependencyNode[];
  manifests: ReadonlyMap<string, DesiredManifest>;
  names: ReadonlyMap<string, string>;
  /** By `nameKeyOf` the name, as all are called once the plan is carried out. */
  byName: ReadonlyMap<string, string>;
  /** What people have made it depend on. */
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
    const entries = entriesOf(one.manifest).map(({ name }) => name);
    return { key, wanted: one.isApplied ? dependenciesOf(key, entries) : null, current: current(key) };
  });
  for (const { id } of pipelines)
    if (!manifests.has(id)) nodes.push({ key: id, wanted: null, current: current(id) });
  return { nodes, manifests, names, byName, upstreamsByHand };
}

function problemOf(manifest: DesiredManifest, circle: readonly string[], graph: Graph): Problem {
  const { manifests, names, byName, upstreamsByHand } = graph;
  const nameOf = (key: string | undefined) => names.get(key ?? '') ?? '';
  const entries = entriesOf(manifest);
  const entry = entries.find(({ name }) => byName.get(nameKeyOf(name)) === circle[1 % circle.length]);
  const isAlone = circle.length === 1;
  const links = circle.map((member, index) => {
    const next = circle[(index + 1) % circle.length] ?? member;
    const place = placeOf(manifests.get(member), nameOf(next));
    const elsewhere = upstreamsByHand(member).includes(next) ? 'in the web UI' : 'as it was applied last';
    return `${nameOf(member)} (${place ?? elsewhere})`;
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

/** The entry of the manifest that names the other; null where it has none. */
function placeOf(manifest: DesiredManifest | undefined, name: string): string | null {
  const entry = manifest && entriesOf(manifest).find((one) => nameKeyOf(one.name) === nameKeyOf(name));
  return entry ? problemLocation(manifest.at(entry.pointer)) : null;
}
