/** What a rendered engine config uses of its host: the addresses that it listens on, and the folders for its state. */
import { hash } from 'node:crypto';
import { parse } from 'yaml';

export interface Listener {
  /** `sources.intake`, or `api`. */
  component: string;
  protocol: 'tcp' | 'udp';
  /** As written in the config. */
  host: string;
  port: number;
}

export interface DataDir {
  /** A component, or null for the whole config. */
  component: string | null;
  path: string;
}

export interface ConfigFacts {
  listeners: readonly Listener[];
  dataDirs: readonly DataDir[];
  /** Component to its type. */
  types: ReadonlyMap<string, { kind: 'SOURCE' | 'TRANSFORM' | 'SINK'; type: string }>;
}

const MAX_CACHED = 5_000;
const cache = new Map<string, ConfigFacts>();

/** Cached by content, because most pipelines do not change between plans. */
export function configFacts(configYaml: string): ConfigFacts {
  const key = hash('sha256', configYaml, 'base64');
  const cached = cache.get(key);
  if (cached) return cached;
  if (cache.size >= MAX_CACHED) cache.clear();
  const facts = read(parse(configYaml) as unknown);
  cache.set(key, facts);
  return facts;
}

/** Other sinks send to `address`; these listen on it. */
const LISTENING_SINKS = new Set(['prometheus_exporter', 'websocket_server']);
/** Options of sources that hold further addresses to listen on. */
const LISTENING_PARTS = ['grpc', 'http'] as const;
const KINDS = { sources: 'SOURCE', transforms: 'TRANSFORM', sinks: 'SINK' } as const;
const DEFAULT_API = '127.0.0.1:8686';
const DEFAULT_EXPORTER = '0.0.0.0:9598';

function read(config: unknown): ConfigFacts {
  const listeners: Listener[] = [];
  const dataDirs: DataDir[] = [];
  const types: Map<string, { kind: 'SOURCE' | 'TRANSFORM' | 'SINK'; type: string }> = new Map();
  const listen = (component: string, written: unknown, protocol: Listener['protocol']) => {
    const address = addressOf(written);
    if (address) listeners.push({ component, protocol, ...address });
  };
  const top = record(config);
  if (typeof top.data_dir === 'string') dataDirs.push({ component: null, path: top.data_dir });
  const api = record(top.api);
  if (api.enabled === true) listen('api', api.address ?? DEFAULT_API, 'tcp');
  for (const section of ['sources', 'transforms', 'sinks'] as const) {
    for (const [key, value] of Object.entries(record(top[section]))) {
      const options = record(value);
      const component = `${section}.${key}`;
      const type = typeof options.type === 'string' ? options.type : '';
      types.set(component, { kind: KINDS[section], type });
      if (typeof options.data_dir === 'string') dataDirs.push({ component, path: options.data_dir });
      const protocol =
        options.mode === 'udp' || (type === 'statsd' && options.mode === undefined) ? 'udp' : 'tcp';
      if (section === 'sources') {
        listen(component, options.address ?? options.listen, protocol);
        for (const part of LISTENING_PARTS) listen(component, record(options[part]).address, 'tcp');
      } else if (section === 'sinks' && LISTENING_SINKS.has(type)) {
        listen(
          component,
          options.address ?? (type === 'prometheus_exporter' ? DEFAULT_EXPORTER : undefined),
          'tcp',
        );
      }
    }
  }
  return { listeners, dataDirs, types };
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** Reads `0.0.0.0:80`, `[::]:80`, `:80` and `host:80`; null for what only the node knows (`${…}`, systemd sockets). */
export function addressOf(written: unknown): { host: string; port: number } | null {
  if (typeof written !== 'string') return null;
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/${}]*)):(\d{1,5})$/.exec(written.trim());
  const port = Number(found?.[3]);
  if (!found || port < 1 || port > 65_535) return null;
  return { host: found[1] ?? found[2] ?? '', port };
}

const ANY = new Set(['', '0.0.0.0', '::', '*']);
const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1']);

/** Whether two listeners cannot both bind their port on one host. */
export function clash(a: Listener, b: Listener): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  if (ANY.has(a.host) || ANY.has(b.host) || a.host === b.host) return true;
  // `localhost` may resolve to IPv4 or IPv6.
  return LOOPBACK.has(a.host) && LOOPBACK.has(b.host) && (a.host === 'localhost' || b.host === 'localhost');
}
