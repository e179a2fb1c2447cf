/** Findings about whole nodes after a plan: all pipelines of a node share its ports and folders. Pure. */
import type { Catalogue } from '../../controller/pipelines/engine/index.ts';
import type { FleetFinding } from '../../schemas/api/delivery/git-plan.ts';
import { matchesSelector } from '../../schemas/pipelines/selector.ts';
import type { NodeAfter, Running } from '../git/plan/affected-nodes.ts';
import { type ConfigFacts, clash, configFacts, type Listener } from './config-facts.ts';

const MAX_HOSTS = 20;
const MAX_FINDINGS = 200;
/** Listeners on one port of one node that are compared. */
const MAX_LISTENERS = 20;
/** The agent's default for the first port of its engines, and for its own metrics. */
const AGENT_PORTS = 8688;
const AGENT_METRICS = 9090;
/** Ports that the agent gives to each engine. */
const PORTS_EACH = 2;

export interface FleetState {
  pipelines: readonly Running[];
  nodes: readonly NodeAfter[];
  /** The components of the controller's engine; null where they are not known. */
  catalogue: Catalogue | null;
}

interface Found {
  type: FleetFinding['type'];
  message: string;
  pipelines: string[];
  hosts: string[];
}

export function fleetFindings({ pipelines, nodes, catalogue }: FleetState): FleetFinding[] {
  const found = new Map<string, Found>();
  const byKey = new Map(pipelines.map((one) => [one.key, { ...one, facts: factsOf(one) }]));
  const add = (type: Found['type'], message: string, names: string[], hosts: readonly string[]) => {
    const key = `${type} ${message}`;
    const known = found.get(key);
    if (known) known.hosts.push(...hosts);
    else if (found.size < MAX_FINDINGS)
      found.set(key, { type, message, pipelines: [...new Set(names)], hosts: [...hosts] });
  };
  // Nodes that run the same pipelines have the same clashes.
  const alike = Map.groupBy(nodes, ({ runs }) => [...runs].sort().join(' '));
  for (const group of alike.values()) {
    const runs = [...(group[0]?.runs ?? [])].flatMap((key) => byKey.get(key) ?? []);
    if (runs.length === 0) continue;
    const hosts = group.map(({ host }) => host);
    for (const { message, names } of portClashes(runs)) add('port-clash', message, names, hosts);
    for (const { message, names } of dataDirClashes(runs)) add('data-dir-clash', message, names, hosts);
  }
  if (nodes.length > 0) {
    for (const { name, selector } of pipelines) {
      if (selector === null || nodes.some(({ labels }) => matchesSelector(selector, labels))) continue;
      const pairs = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
      add(
        'selector-matches-nothing',
        `no node carries ${pairs.join(', ')}: "${name}" would run nowhere`,
        [name],
        [],
      );
    }
  }
  if (catalogue !== null && catalogue.detail === null)
    for (const one of unknownComponents([...byKey.values()], nodes, catalogue))
      add('unknown-component', one.message, [one.name], one.hosts);
  return [...found.values()].map(({ type, message, pipelines, hosts }) => ({
    ...{ type, message, pipelines },
    severity: 'warning',
    hosts: [...new Set(hosts)].sort().slice(0, MAX_HOSTS),
  }));
}

const factsOf = ({ config }: Running): ConfigFacts => configFacts(config.slice(config.indexOf('\n') + 1));

type Known = Running & { facts: ConfigFacts };
interface Clash {
  message: string;
  names: string[];
}

const written = ({ host, port }: Listener): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

function portClashes(runs: readonly Known[]): Clash[] {
  const listeners = runs.flatMap(({ name, facts }) =>
    facts.listeners.map((listener) => ({ name, listener })),
  );
  const clashes: Clash[] = [];
  const lastOfAgent = AGENT_PORTS + PORTS_EACH * runs.length - 1;
  for (const { name, listener } of listeners) {
    const { port, protocol } = listener;
    if (protocol !== 'tcp') continue;
    const what = `${listener.component} of "${name}" listens on ${written(listener)}`;
    if (port === AGENT_METRICS)
      clashes.push({
        message: `${what}, where the agent serves its own metrics unless SVC_METRICS_PORT says otherwise`,
        names: [name],
      });
    if (port >= AGENT_PORTS && port <= lastOfAgent)
      clashes.push({
        message: `${what}, and the agent gives ${AGENT_PORTS} to ${lastOfAgent} to engines unless SVC_PORT_BASE says otherwise`,
        names: [name],
      });
  }
  for (const all of Map.groupBy(
    listeners,
    ({ listener }) => `${listener.protocol} ${listener.port}`,
  ).values()) {
    const group = all.slice(0, MAX_LISTENERS);
    for (const [index, a] of group.entries()) {
      for (const b of group.slice(index + 1)) {
        if (!clash(a.listener, b.listener)) continue;
        clashes.push({
          message: `${a.listener.component} of "${a.name}" and ${b.listener.component} of "${b.name}" both listen on ${written(a.listener)}${written(a.listener) === written(b.listener) ? '' : ` and ${written(b.listener)}`}; only the one that starts first gets it`,
          names: [a.name, b.name],
        });
      }
    }
  }
  return clashes;
}

const folder = (path: string): string => path.replace(/\/+$/, '') || '/';

/** State folders of whole configs or of single components: two engines in one folder would read each other's positions. */
function dataDirClashes(runs: readonly Known[]): Clash[] {
  const dirs = runs.flatMap(({ key, name, facts }) =>
    facts.dataDirs.map(({ component, path }) => ({ key, name, component, path: folder(path) })),
  );
  const clashes: Clash[] = [];
  for (const [path, group] of Map.groupBy(dirs, (one) => one.path)) {
    const pipelines = [...new Map(group.map((one) => [one.key, one])).values()];
    if (pipelines.length < 2) continue;
    const names = pipelines.map(({ name }) => name);
    const listed =
      names.length > 5
        ? [...names.slice(0, 5).map((name) => `"${name}"`), `${names.length - 5} more`]
        : names.map((name) => `"${name}"`);
    clashes.push({
      message: `${listed.join(', ')} keep their state in one folder, ${path}; give each its own data_dir, or none`,
      names,
    });
  }
  return clashes;
}

/** The controller's engine stands for nodes that run the same version. */
function unknownComponents(
  pipelines: readonly Known[],
  nodes: readonly NodeAfter[],
  { engine, components }: Catalogue,
) {
  const has = new Set(components.map(({ kind, type }) => `${kind} ${type}`));
  return pipelines.flatMap(({ key, name, facts }) => {
    const unknown = [...facts.types].filter(([, { kind, type }]) => !has.has(`${kind} ${type}`));
    if (unknown.length === 0) return [];
    const hosts = nodes
      .filter(({ runs, engineVersion }) => runs.has(key) && isVersion(engineVersion, engine))
      .map(({ host }) => host);
    if (hosts.length === 0) return [];
    return unknown.map(([component, { kind, type }]) => ({
      name,
      hosts,
      message: `${engine} on the nodes has no ${kind.toLowerCase()} of type ${type}, which ${component} of "${name}" is`,
    }));
  });
}

const isVersion = (banner: string | null, engine: string): boolean =>
  banner !== null && (banner === engine || banner.startsWith(`${engine} `));
