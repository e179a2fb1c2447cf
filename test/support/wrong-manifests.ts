/** Manifests that no engine runs, each with what catches it first, and what is said of it. */
import type { Definition } from '../../controller/pipelines/definition.ts';
import { definition } from './definition.ts';

export interface WrongManifest {
  name: string;
  of: Definition;
  /**
   * A level of the check at push; `read` and `build` are the controller's engine; `node` is what only the node's own
   * engine can know.
   */
  by: 'structure' | 'references' | 'secrets' | 'options' | 'vrl' | 'read' | 'build' | 'node';
  says: RegExp;
  /** Where it is placed; only of the levels that place. */
  at?: string;
}

type Options = Record<string, unknown>;

const IN = { type: 'demo_logs', format: 'json', interval: 1 };
const OUT = { type: 'blackhole', inputs: ['in'] };

const whole = (more: Partial<Definition>): Definition =>
  definition({ sources: { in: IN }, sinks: { out: OUT }, ...more });
const source = (options: Options) => whole({ sources: { in: options as never } });
const sink = (options: Options) => whole({ sinks: { out: { inputs: ['in'], ...options } as never } });
const transform = (options: Options) =>
  whole({
    transforms: { t: { inputs: ['in'], ...options } as never },
    sinks: { out: { type: 'blackhole', inputs: [options.type === 'route' ? 't.a' : 't'] } },
  });
const globally = (global: Options) => whole({ global });
const encoding = { codec: 'json' };
const http = (options: Options) => sink({ type: 'http', uri: 'https://example.com', encoding, ...options });
const kafka = (options: Options) =>
  sink({ type: 'kafka', bootstrap_servers: 'k:9092', topic: 'logs', encoding, ...options });
const loki = (options: Options) =>
  sink({ type: 'loki', endpoint: 'http://l:3100', labels: { app: 'x' }, encoding, ...options });
const file = (options: Options) => source({ type: 'file', include: ['/var/log/a.log'], ...options });
const buffered = (buffer: unknown) => sink({ type: 'blackhole', buffer });
const program = (text: string) => transform({ type: 'remap', source: text });
const NO_PREFIX = /has no literal prefix/;

const options = (name: string, of: Definition, at: string, says: RegExp): WrongManifest => ({
  name,
  of,
  by: 'options',
  says,
  at,
});

const MISSPELT: WrongManifest[] = [
  options(
    'an option that no type has',
    sink({ type: 'blackhole', nonsense: 1 }),
    '/sinks/out/nonsense',
    /unknown option `nonsense` in `sinks.out`; there are: acknowledgements/,
  ),
  options(
    'batch.max_evnts',
    http({ batch: { max_evnts: 5 } }),
    '/sinks/out/batch/max_evnts',
    /unknown option `max_evnts` in `sinks.out.batch`(?:: the engine would ignore it in silence)?; did you mean `max_events`\?/,
  ),
  options(
    'request.retry_atempts',
    http({ request: { retry_atempts: 5 } }),
    '/sinks/out/request/retry_atempts',
    /did you mean `retry_attempts`/,
  ),
  options(
    'compression misspelt',
    loki({ comression: 'gzip' }),
    '/sinks/out/comression',
    /did you mean `compression`/,
  ),
  options(
    'read_from misspelt',
    file({ readfrom: 'end' }),
    '/sources/in/readfrom',
    /did you mean `read_from`/,
  ),
  options(
    'bulk.indx',
    sink({ type: 'elasticsearch', endpoints: ['http://e:9200'], bulk: { indx: 'a' } }),
    '/sinks/out/bulk/indx',
    /did you mean `index`/,
  ),
  options(
    'a server too few',
    sink({ type: 'kafka', bootstrap_server: 'k:9092', topic: 't', encoding }),
    '/sinks/out/bootstrap_server',
    /did you mean `bootstrap_servers`/,
  ),
  options(
    'adress',
    source({ type: 'http_server', adress: '127.0.0.1:80' }),
    '/sources/in/adress',
    /did you mean `address`/,
  ),
  options(
    'buffer.max_event',
    buffered({ type: 'memory', max_event: 10 }),
    '/sinks/out/buffer/max_event',
    /did you mean `max_events`/,
  ),
  options(
    'fields.mach',
    transform({ type: 'dedupe', fields: { mach: ['id'] } }),
    '/transforms/t/fields/mach',
    /did you mean `match`/,
  ),
  options(
    'condition.sorce',
    transform({ type: 'filter', condition: { type: 'vrl', sorce: 'true' } }),
    '/transforms/t/condition/sorce',
    /did you mean `source`/,
  ),
  options(
    'tls.verify_cert',
    http({ tls: { verify_cert: false } }),
    '/sinks/out/tls/verify_cert',
    /did you mean `verify_certificate`/,
  ),
  options(
    'proxy.htp',
    http({ proxy: { htp: 'http://p:80' } }),
    '/sinks/out/proxy/htp',
    /did you mean `http`/,
  ),
  options(
    'encoding.only_field',
    http({ encoding: { codec: 'json', only_field: ['a'] } }),
    '/sinks/out/encoding/only_field',
    /did you mean `only_fields`/,
  ),
  options(
    'drop_on_eror',
    transform({ type: 'remap', source: '.a = 1', drop_on_eror: true }),
    '/transforms/t/drop_on_eror',
    /did you mean `drop_on_error`/,
  ),
  options(
    'a section that no engine has',
    globally({ pipelines: {} }),
    '/global/pipelines',
    /unknown option `pipelines` in `global`/,
  ),
  options(
    'log_schema.hostkey',
    globally({ log_schema: { hostkey: 'h' } }),
    '/global/log_schema/hostkey',
    /did you mean `host_key`/,
  ),
];

const WRONG_VALUES: WrongManifest[] = [
  options(
    'a word for a number',
    source({ ...IN, interval: 'soon' }),
    '/sources/in/interval',
    /must be a number, here it is text/,
  ),
  options(
    'a word for a switch',
    transform({ type: 'remap', source: '.a = 1', drop_on_error: 'yes' }),
    '/transforms/t/drop_on_error',
    /must be true or false, here it is text/,
  ),
  options(
    'a text for a list',
    source({ type: 'file', include: '/var/log/a.log' }),
    '/sources/in/include',
    /must be a list, here it is text/,
  ),
  options(
    'a codec that there is not',
    http({ encoding: { codec: 'jsn' } }),
    '/sinks/out/encoding/codec',
    /must be one of .*did you mean `json`/,
  ),
  options(
    'a mode of multiline',
    file({ multiline: { mode: 'halt_befor', start_pattern: 'a', condition_pattern: 'a', timeout_ms: 9 } }),
    '/sources/in/multiline/mode',
    /did you mean `halt_before`/,
  ),
  options('no uri', sink({ type: 'http', encoding }), '/sinks/out', /option `uri` of `sinks.out` is missing/),
  options(
    'no encoding',
    sink({ type: 'console' }),
    '/sinks/out',
    /option `encoding` of `sinks.out` is missing/,
  ),
  options(
    'a type of buffer',
    buffered({ type: 'dsk', max_size: 300_000_000 }),
    '/sinks/out/buffer/type',
    /did you mean `disk`/,
  ),
  options(
    'buffer.when_full',
    buffered({ type: 'memory', max_events: 9, when_full: 'drop_newst' }),
    '/sinks/out/buffer/when_full',
    /did you mean `drop_newest`/,
  ),
  options(
    'a disk buffer that is too small',
    buffered({ type: 'disk', max_size: 1000 }),
    '/sinks/out/buffer/max_size',
    /must be at least 268435488; here it is 1000/,
  ),
  options(
    'the second of two buffers',
    buffered([
      { type: 'memory', max_events: 9 },
      { type: 'disk', max_size: 9 },
    ]),
    '/sinks/out/buffer/1/max_size',
    /must be at least 268435488/,
  ),
  options(
    'a rate as text',
    transform({ type: 'sample', rate: 'ten' }),
    '/transforms/t/rate',
    /must be a whole number/,
  ),
  options(
    'no threshold',
    transform({ type: 'throttle', window_secs: 1 }),
    '/transforms/t',
    /option `threshold` of `transforms.t` is missing/,
  ),
  options(
    'group_by as text',
    transform({ type: 'reduce', group_by: 'id' }),
    '/transforms/t/group_by',
    /must be a list/,
  ),
  options(
    'a number for a condition',
    transform({ type: 'route', route: { a: 5 } }),
    '/transforms/t/route/a',
    /must be .*text.*here it is 5/,
  ),
  options(
    'a kind of metric',
    transform({ type: 'log_to_metric', metrics: [{ type: 'cuonter', field: 'a' }] }),
    '/transforms/t/metrics/0/type',
    /did you mean `counter`/,
  ),
  options(
    'a mode of exec',
    source({ type: 'exec', command: ['ls'], mode: 'scheduld' }),
    '/sources/in/mode',
    /did you mean `scheduled`/,
  ),
  options(
    'a mode of socket',
    source({ type: 'socket', mode: 'tcpp', address: '127.0.0.1:1' }),
    '/sources/in/mode',
    /did you mean `tcp`/,
  ),
  options(
    'a length as text',
    source({ type: 'syslog', mode: 'tcp', address: '127.0.0.1:1', max_length: 'long' }),
    '/sources/in/max_length',
    /must be a whole number/,
  ),
  options(
    'a period as text',
    sink({ type: 'prometheus_exporter', flush_period_secs: 'long' }),
    '/sinks/out/flush_period_secs',
    /must be a whole number/,
  ),
  options('a method', http({ method: 'pst' }), '/sinks/out/method', /did you mean `post`/),
  options(
    'a codec to decode',
    source({ type: 'http_server', address: '127.0.0.1:1', decoding: { codec: 'jsonn' } }),
    '/sources/in/decoding/codec',
    /did you mean `json`/,
  ),
  options(
    'expiry as text',
    globally({ expire_metrics_secs: 'never' }),
    '/global/expire_metrics_secs',
    /must be a number/,
  ),
];

const UNCONFINED: WrongManifest[] = [
  options(
    'path',
    sink({ type: 'file', path: '{{ host }}/x.log', encoding }),
    '/sinks/out/path',
    /has no literal prefix.*set `base_dir`/,
  ),
  options('uri', http({ uri: '{{ url }}' }), '/sinks/out/uri', NO_PREFIX),
  options('topic', kafka({ topic: '{{ topic }}' }), '/sinks/out/topic', NO_PREFIX),
  options(
    'key_prefix',
    sink({ type: 'aws_s3', bucket: 'b', region: 'eu-west-1', key_prefix: '{{ app }}/', encoding }),
    '/sinks/out/key_prefix',
    NO_PREFIX,
  ),
  options(
    'bulk.index',
    sink({ type: 'elasticsearch', endpoints: ['http://e:9200'], bulk: { index: '{{ app }}' } }),
    '/sinks/out/bulk/index',
    NO_PREFIX,
  ),
  options('labels', loki({ labels: { app: '{{ app }}' } }), '/sinks/out/labels/app', NO_PREFIX),
  options(
    'table',
    sink({ type: 'clickhouse', endpoint: 'http://c:8123', table: '{{ t }}' }),
    '/sinks/out/table',
    NO_PREFIX,
  ),
  options(
    'subject',
    sink({ type: 'nats', url: 'nats://n:4222', subject: '{{ s }}', connection_name: 'v', encoding }),
    '/sinks/out/subject',
    NO_PREFIX,
  ),
  options(
    'key',
    sink({ type: 'redis', endpoint: 'redis://r:6379', key: '{{ k }}', encoding }),
    '/sinks/out/key',
    NO_PREFIX,
  ),
  options(
    'group_name',
    sink({
      type: 'aws_cloudwatch_logs',
      region: 'eu-west-1',
      group_name: '{{ g }}',
      stream_name: 's',
      encoding,
    }),
    '/sinks/out/group_name',
    NO_PREFIX,
  ),
].map((row) => ({ ...row, name: `a template without a prefix in ${row.name}` }));

const STRUCTURE: WrongManifest[] = [
  {
    name: 'an API of its own',
    of: globally({ api: { enabled: true, playground: false } }),
    at: '/global/api',
    says: /`global.api` cannot be set/,
  },
  {
    name: 'a data folder of its own',
    of: globally({ data_dir: '/var/lib/other' }),
    at: '/global/data_dir',
    says: /`global.data_dir` cannot be set/,
  },
  {
    name: 'a config from elsewhere',
    of: globally({ provider: { type: 'http', url: 'http://c/' } }),
    at: '/global/provider',
    says: /`global.provider` cannot be set/,
  },
  {
    name: 'sources in the wrong place',
    of: globally({ sources: { a: IN } }),
    at: '/global/sources',
    says: /write it as spec.sources/,
  },
  {
    name: 'a test named as those of the agent',
    of: globally({ enrichment_tables: { svc_geo: { type: 'geoip', path: '/g' } } }),
    at: '/global/enrichment_tables/svc_geo',
    says: /begins with svc_/,
  },
  {
    name: 'a component named as those of the agent',
    of: whole({ sources: { in: IN, svc_metrics: IN } }),
    at: '/sources/svc_metrics',
    says: /begins with svc_/,
  },
  {
    name: 'one key in two kinds',
    of: whole({ sinks: { in: { type: 'blackhole', inputs: ['in'] } } }),
    at: '/sinks/in',
    says: /used in sources and in sinks/,
  },
  { name: 'no source', of: whole({ sources: {} }), at: '/sources', says: /has no source/ },
  { name: 'no sink', of: whole({ sinks: {} }), at: '/sinks', says: /has no sink/ },
].map((row) => ({ ...row, by: 'structure' }));

const REFERENCES: WrongManifest[] = [
  {
    name: 'an input that is not there',
    of: sink({ type: 'blackhole', inputs: ['nope'] }),
    at: '/sinks/out/inputs/0',
    says: /matches no component/,
  },
  {
    name: 'a wildcard that matches nothing',
    of: sink({ type: 'blackhole', inputs: ['zz*'] }),
    at: '/sinks/out/inputs/0',
    says: /matches no component/,
  },
  {
    name: 'a circle',
    of: whole({
      transforms: {
        a: { type: 'remap', inputs: ['in', 'b'], source: '.' },
        b: { type: 'remap', inputs: ['a'], source: '.' },
      },
    }),
    at: '/transforms/a/inputs',
    says: /form a cycle/,
  },
  {
    name: 'an input twice',
    of: sink({ type: 'blackhole', inputs: ['in', 'in'] }),
    at: '/sinks/out/inputs/1',
    says: /stands twice/,
  },
  { name: 'no input', of: sink({ type: 'blackhole', inputs: [] }), at: '/sinks/out', says: /has no input/ },
  {
    name: 'an output that a route has not',
    of: whole({
      transforms: { r: { type: 'route', inputs: ['in'], route: { a: 'true' } } },
      sinks: { out: { type: 'blackhole', inputs: ['r.b'] } },
    }),
    at: '/sinks/out/inputs/0',
    says: /has no output "b"/,
  },
].map((row) => ({ ...row, by: 'references' }));

const token = (text: string) => ({ auth: { strategy: 'bearer', token: text } });
const SECRETS: WrongManifest[] = [
  {
    name: 'a backend that there is not',
    of: { ...http(token('SECRET[zz.k]')), global: { secret: { s: { type: 'file', path: '/s.json' } } } },
    at: '/sinks/out/auth/token',
    says: /names the secret backend "zz", which is not defined/,
  },
  {
    name: 'a backend, and none defined',
    of: http(token('SECRET[s.k]')),
    at: '/sinks/out/auth/token',
    says: /names the secret backend "s"/,
  },
  {
    name: 'a variable that nobody sets',
    of: http(token(`$\{NOPE}`)),
    at: '/sinks/out/auth/token',
    says: /none of that name is set/,
  },
  {
    name: 'a secret that does not exist',
    of: http(token(`$\{SVC_SECRET_NOPE}`)),
    at: '/sinks/out/auth/token',
    says: /does not exist in this environment/,
  },
].map((row) => ({ ...row, by: 'secrets' }));

const PROGRAMS: WrongManifest[] = [
  { name: 'a syntax error', of: program('.a = = 1'), at: '/transforms/t/source', says: /syntax error/ },
  {
    name: 'a function that there is not',
    of: program('.a = parse_jsn(.message)'),
    at: '/transforms/t/source',
    says: /undefined function/,
  },
  {
    name: 'an error that nobody handles',
    of: program('.a = 1\n.b = parse_json(.message)'),
    at: '/transforms/t/source',
    says: /unhandled/,
  },
].map((row) => ({ ...row, by: 'vrl' }));

const ENGINE: WrongManifest[] = [
  {
    name: 'metrics where logs are wanted',
    of: whole({
      sources: { in: { type: 'internal_metrics' } },
      transforms: {
        t: { type: 'log_to_metric', inputs: ['in'], metrics: [{ type: 'counter', field: 'a' }] },
      },
      sinks: { out: { type: 'blackhole', inputs: ['t'] } },
    }),
    by: 'read',
    says: /Data type mismatch between in/,
  },
  {
    name: 'one address twice',
    of: whole({
      sources: {
        in: { type: 'http_server', address: '127.0.0.1:19610' },
        b: { type: 'http_server', address: '127.0.0.1:19610' },
      },
      sinks: { out: { type: 'blackhole', inputs: ['in', 'b'] } },
    }),
    by: 'read',
    says: /claimed by multiple components/,
  },
  {
    name: 'an output with a reserved name',
    of: whole({
      transforms: { r: { type: 'route', inputs: ['in'], route: { _unmatched: 'true' } } },
      sinks: { out: { type: 'blackhole', inputs: ['r._unmatched'] } },
    }),
    by: 'read',
    says: /reserved name/,
  },
  {
    name: 'a pattern that is none',
    of: file({
      multiline: { mode: 'halt_before', start_pattern: '(', condition_pattern: 'a', timeout_ms: 9 },
    }),
    by: 'build',
    says: /regex|unclosed|start_pattern/,
  },
  {
    name: 'an address that is none',
    of: loki({ endpoint: 'example' }),
    by: 'build',
    says: /invalid format/,
  },
  {
    name: 'a file of certificates that is not there',
    of: http({ tls: { ca_file: '/etc/none.pem' } }),
    by: 'node',
    says: /Could not open certificate file/,
  },
  {
    name: 'Lua that does not compile',
    of: transform({ type: 'lua', version: '2', hooks: { process: 'function (' } }),
    by: 'node',
    says: /Lua|syntax/,
  },
  {
    name: 'no region of AWS',
    of: sink({ type: 'aws_s3', bucket: 'b', key_prefix: 'a/', encoding }),
    by: 'node',
    says: /region/i,
  },
  {
    name: 'a data folder of a source that is not there',
    of: file({ data_dir: '/none' }),
    by: 'node',
    says: /does not exist/,
  },
  {
    name: 'a disk buffer larger than the disk',
    of: buffered({ type: 'disk', max_size: 99_268_435_488_000 }),
    by: 'node',
    says: /total capacity/,
  },
];

export const WRONG_MANIFESTS: readonly WrongManifest[] = [
  ...STRUCTURE,
  ...REFERENCES,
  ...SECRETS,
  ...MISSPELT,
  ...WRONG_VALUES,
  ...UNCONFINED,
  ...PROGRAMS,
  ...ENGINE,
];
