/**
 * The part of a config that the controller's engine may build, and not only read: what building it finds (patterns,
 * templates, addresses) is found before any node runs it. A right to commit manifests must not become a right to do on the controller what
 * the controller may, so a component stays out unless its type is known to reach nothing while it is built, and none of
 * its options names a file, a folder, a command, a Unix socket or credentials of the machine.
 */
import { parse, stringify } from 'yaml';
import { isRecord } from '../../platform/text/is-record.ts';
import { COMPUTING, expands, REACHING_OUT, READING_FILES } from './transform-tests/engine-config.ts';

/** They open their ports when the pipeline runs. `splunk_hec` and `datadog_agent` do so while they are built. */
const SOURCES: ReadonlySet<string> = new Set([
  'demo_logs',
  'file',
  'fluent',
  'heroku_logs',
  'http_server',
  'internal_logs',
  'internal_metrics',
  'logstash',
  'opentelemetry',
  'prometheus_remote_write',
  'socket',
  'static_metrics',
  'statsd',
  'syslog',
  'vector',
]);
/** They connect when the first event comes. Left out is what connects, or looks for credentials, when it is built. */
const SINKS: ReadonlySet<string> = new Set([
  'blackhole',
  'console',
  'datadog_logs',
  'file',
  'http',
  'loki',
  'papertrail',
  'prometheus_exporter',
  'socket',
  'splunk_hec_logs',
  'statsd',
  'vector',
]);
const ALLOWED = { sources: SOURCES, transforms: COMPUTING, sinks: SINKS };
/** Options that lead to something of the machine, wherever they stand. */
const MACHINE =
  /(?:^|_)(?:file|files|dir|directory|command|socket|profile|credentials|role)$|^(?:tls|aws|imds|proxy|assume_role|credentials_.*)$/;
/** Who signs requests by other strategies looks for credentials in the environment and asks the cloud for them. */
const STRATEGIES: ReadonlySet<unknown> = new Set(['basic', 'bearer']);
/** A secret there is text whatever it is; elsewhere what stands for it could be refused where the secret is not. */
const SECRET_OPTIONS = /(?:token|password|passphrase|secret|user|api_key|license_key)$/;
const SECRET = /\$\{?SVC_SECRET_|SECRET\[/;
/** Other sections that components depend on, and that name no file. */
const COMMON = ['log_schema', 'schema', 'timezone'];
const MAX_DEPTH = 40;

/** Names that no pipeline uses: keys that begin so are refused. */
const STUB = 'svc_stub';
const END = 'svc_end';

type Components = Record<string, Record<string, unknown>>;

export interface BuildConfig {
  text: string;
  /** Keys of the pipeline's own components that are built. */
  components: ReadonlySet<string>;
}

/** Null where nothing is left that is worth building. `dataDir` is a folder for this run alone. */
export function buildConfig(configYaml: string, dataDir: string): BuildConfig | null {
  const config = parse(configYaml) as unknown;
  if (!isRecord(config)) return null;
  const kept: Record<keyof typeof ALLOWED, Components> = { sources: {}, transforms: {}, sinks: {} };
  for (const section of ['sources', 'transforms', 'sinks'] as const) {
    const components = isRecord(config[section]) ? config[section] : {};
    for (const [key, component] of Object.entries(components)) {
      if (!isRecord(component) || !ALLOWED[section].has(String(component.type))) continue;
      // A buffer on disk would be measured by the disk of the controller.
      const { buffer: _, healthcheck: __, ...options } = component;
      if (isHarmless(key, options)) kept[section][key] = options;
    }
  }
  const keys = Object.values(kept).flatMap(Object.keys);
  if (keys.length === 0) return null;
  const names = new Set(keys);
  let needsStub = Object.keys(kept.sources).length === 0;
  for (const section of ['transforms', 'sinks'] as const) {
    for (const component of Object.values(kept[section])) {
      const inputs = Array.isArray(component.inputs) ? component.inputs.map(String) : [];
      const live = inputs.filter((input) => names.has(input.split('.')[0] ?? ''));
      needsStub ||= live.length === 0;
      component.inputs = live.length > 0 ? live : [STUB];
    }
  }
  // It gives every kind of event, so that whatever takes from it is content.
  if (needsStub) kept.sources[STUB] = { type: 'vector', address: '127.0.0.1:9' };
  if (Object.keys(kept.sinks).length === 0) {
    const [first] = Object.keys(kept.sources);
    kept.sinks[END] = { type: 'blackhole', inputs: [`${first}*`] };
  }
  const sections = Object.fromEntries(Object.entries(kept).filter(([, of]) => Object.keys(of).length > 0));
  const common = COMMON.flatMap((name) =>
    config[name] === undefined ? [] : [[name, config[name]] as const],
  );
  if (expands(JSON.stringify(common))) return null;
  const whole = { data_dir: dataDir, ...Object.fromEntries(common), ...sections };
  return { text: stringify(whole, { lineWidth: 0 }), components: names };
}

function isHarmless(key: string, component: Record<string, unknown>): boolean {
  const text = JSON.stringify([key, component]);
  // What expands before the config is read could become another config.
  if (expands(text) || REACHING_OUT.test(text) || READING_FILES.test(text)) return false;
  return isHarmlessValue(component, '', 0);
}

function isHarmlessValue(value: unknown, name: string, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (typeof value === 'string') return !SECRET.test(value) || SECRET_OPTIONS.test(name);
  if (Array.isArray(value)) return value.every((item) => isHarmlessValue(item, name, depth + 1));
  if (!isRecord(value)) return true;
  return Object.entries(value).every(([option, one]) => {
    if (MACHINE.test(option) && one !== null) return false;
    if (option === 'mode' && String(one).startsWith('unix')) return false;
    if (option === 'strategy' && name === 'auth' && !STRATEGIES.has(one)) return false;
    return isHarmlessValue(one, option, depth + 1);
  });
}
