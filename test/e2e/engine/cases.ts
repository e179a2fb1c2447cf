/**
 * What Vector 0.57.0 answered to command lines, shortened: the exit code, and what stood in its outputs. Each case is
 * about components that the reference engine has too, so either engine must answer so.
 */
export interface EngineCase {
  name: string;
  args: readonly string[];
  env?: Record<string, string>;
  /** By their names in the folder that the engine runs in. */
  files?: Record<string, string>;
  code: number;
  /** The whole of the standard output. */
  stdout?: string;
  /** What the outputs hold, in this order. */
  out?: readonly (string | RegExp)[];
  err?: readonly (string | RegExp)[];
}

const SOURCE = 'sources: {in: {type: demo_logs, format: json, interval: 1}}\n';
const SINK = 'sinks: {out: {type: blackhole, inputs: [in]}}\n';
const GOOD = SOURCE + SINK;
const CONFIG = 'config.yaml';
const OFF = ['validate', '--no-environment', CONFIG];
const ON = ['validate', CONFIG];
const ALLOWED = { VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true' };
const sinks = (text: string) => `${SOURCE}sinks: {out: {${text}}}\n`;
const transforms = (text: string) =>
  `${SOURCE}transforms: {t: {inputs: [in], ${text}}}\nsinks: {out: {type: blackhole, inputs: [t]}}\n`;
const DATA = 'data_dir: data\n';
const SIDECAR = `data_dir: /var/lib/vector/p1
expire_metrics_secs: 300
api: {enabled: true, address: "127.0.0.1:19601"}
sources: {svc_metrics: {type: internal_metrics}}
sinks: {svc_exporter: {type: prometheus_exporter, inputs: [svc_metrics], address: "127.0.0.1:19602"}}
`;
const PAIR = ['validate', '--no-environment', 'a.yaml', 'b.yaml'];
const HTTP = 'type: http, inputs: [in], encoding: {codec: json}';

/** A file that does not load. */
const refused = (name: string, config: string, ...messages: (string | RegExp)[]): EngineCase => ({
  name,
  args: OFF,
  files: { [CONFIG]: config },
  code: 78,
  out: [`Failed to load ["${CONFIG}"]\n${'-'.repeat(`Failed to load ["${CONFIG}"]`.length)}\n`, ...messages],
});
/** Transforms that do not build. */
const unbuilt = (name: string, config: string, ...messages: (string | RegExp)[]): EngineCase => ({
  name,
  args: OFF,
  files: { [CONFIG]: config },
  code: 78,
  out: [`√ Loaded ["${CONFIG}"]\n\nTransform errors\n----------------\n`, ...messages],
});
const loaded = (name: string, config: string): EngineCase => ({
  name,
  args: OFF,
  files: { [CONFIG]: config },
  code: 0,
  out: [`√ Loaded ["${CONFIG}"]\n√ Transforms configuration\n`, /-+\n +Validated\n$/],
});
const pair = (name: string, a: string, b: string, ...messages: string[]): EngineCase => ({
  name,
  args: PAIR,
  files: { 'a.yaml': a, 'b.yaml': b },
  code: messages.length > 0 ? 78 : 0,
  out:
    messages.length > 0 ? messages.map((message) => `x ${message}\n`) : ['√ Loaded ["a.yaml", "b.yaml"]\n'],
});

export const VALIDATE_CASES: readonly EngineCase[] = [
  {
    name: 'a good file',
    args: OFF,
    files: { [CONFIG]: GOOD },
    code: 0,
    stdout: `√ Loaded ["config.yaml"]\n√ Transforms configuration\n--------------------------\n${'Validated'.padStart(26)}\n`,
  },
  {
    name: 'a good file with its environment',
    args: ON,
    files: { [CONFIG]: DATA + GOOD, 'data/.keep': '' },
    code: 0,
    out: [
      '√ Loaded ["config.yaml"]\n√ Transforms configuration\n√ Component configuration\n√ Health check "out"\n',
      /Validated\n$/,
    ],
  },
  refused('a duplicate key', `${GOOD}sources: {}\n`, /^x .*/m),
  refused('an empty file', '', 'x No sources defined in the config.\nx No sinks defined in the config.\n'),
  refused('an unknown key at the top', `${GOOD}pipelines: {}\n`, 'x unknown field `pipelines`'),
  refused(
    'an unknown type',
    `sources: {in: {type: demo_log}}\n${SINK}`,
    'x unknown variant `demo_log`, expected one of `',
    'in `sources.in`',
  ),
  refused(
    'an unknown option of a sink',
    sinks('type: blackhole, inputs: [in], nonsense: 1'),
    'x unknown field `nonsense`, expected one of `print_interval_secs`, `rate`, `acknowledgements`\n',
    'in `sinks.out`',
  ),
  loaded(
    'an unknown option of a source that ignores them',
    `sources: {in: {type: demo_logs, format: json, intervall: 1}}\n${SINK}`,
  ),
  loaded('an unknown option of a batch', sinks(`${HTTP}, uri: "http://127.0.0.1:9", batch: {max_evnts: 1}`)),
  refused('a missing option', sinks(HTTP), 'x missing field `uri`\n', 'in `sinks.out`'),
  refused(
    'a wrong type',
    `sources: {in: {type: demo_logs, format: json, interval: soon}}\n${SINK}`,
    'x invalid type: string',
    'in `sources.in`',
  ),
  refused(
    'a missing type',
    `sources: {in: {format: json}}\n${SINK}`,
    'x missing field `type`\nin `sources.in`\n',
  ),
  refused(
    'a file without sources',
    SINK,
    'x No sources defined in the config.\nx Input "in" for sink "out" doesn\'t match any components.\n',
  ),
  refused('a file without sinks', SOURCE, 'x No sinks defined in the config.\n'),
  refused(
    'a missing input',
    sinks('type: blackhole, inputs: [nope]'),
    'x Input "nope" for sink "out" doesn\'t match any components.\n',
  ),
  refused('empty inputs', sinks('type: blackhole, inputs: []'), 'x Sink "out" has no inputs\n'),
  refused('no inputs', sinks('type: blackhole'), 'x missing field `inputs`\nin `sinks.out`\n'),
  refused(
    'an input twice',
    sinks('type: blackhole, inputs: [in, in]'),
    'x Sink "out" has input "in" duplicated 2 times\n',
  ),
  loaded(
    'a glob that matches nothing where that is allowed',
    `wildcard_matching: relaxed\n${sinks('type: blackhole, inputs: ["zz*", in]')}`,
  ),
  refused(
    'an id with a dot',
    'sources: {a.b: {type: demo_logs, format: json}}\nsinks: {out: {type: blackhole, inputs: [a.b]}}\n',
    'x Component name "a.b" should not contain a "."\n',
  ),
  refused(
    'one id in two kinds',
    `${SOURCE}sinks: {in: {type: blackhole, inputs: [in]}}\n`,
    'x More than one component with name "in" (source, sink).\n',
  ),
  refused(
    'metrics into a transform for logs',
    'sources: {in: {type: internal_metrics}}\ntransforms: {t: {type: dedupe, inputs: [in]}}\nsinks: {out: {type: blackhole, inputs: [t]}}\n',
    'x Data type mismatch between in (["Metric"]) and t (["Log"])\n',
  ),
  refused(
    'one port for two sources',
    'sources: {a: {type: http_server, address: "127.0.0.1:19610"}, b: {type: http_server, address: "127.0.0.1:19610"}}\nsinks: {out: {type: blackhole, inputs: [a, b]}}\n',
    'x Resource `tcp 127.0.0.1:19610` is claimed by multiple components: {ComponentKey { id: "',
  ),
  {
    name: 'a source without consumers',
    args: OFF,
    files: {
      [CONFIG]: `${SINK}sources: {in: {type: demo_logs, format: json}, lost: {type: demo_logs, format: json}}\n`,
    },
    code: 0,
    out: [
      'Loaded with warnings ["config.yaml"]\n------------------------------------\n~ Source "lost" has no consumers\n\n√ Transforms configuration\n',
      /Validated\n$/,
    ],
  },
  {
    name: 'a source without consumers where warnings are denied',
    args: ['validate', '--no-environment', '--deny-warnings', CONFIG],
    files: {
      [CONFIG]: `${SINK}sources: {in: {type: demo_logs, format: json}, lost: {type: demo_logs, format: json}}\n`,
    },
    code: 78,
    out: ['Failed to load', 'x Source "lost" has no consumers\n'],
  },
  unbuilt(
    'an unhandled error in VRL',
    transforms('type: remap, source: ".a = 1\\n\\n.b = parse_json(.message)"'),
    'x Transform "t": \nerror[E103]: unhandled fallible assignment\n  ┌─ :',
    'learn more about error code 103 at https://errors.vrl.dev/103',
  ),
  unbuilt(
    'a condition that is no boolean',
    transforms('type: filter, condition: "1 + 1"'),
    'x Transform "t": VRL conditions must return a boolean.\n',
  ),
  unbuilt(
    'a condition that assigns',
    transforms('type: filter, condition: ".a = 1\\n\\ntrue"'),
    'x Transform "t": \nerror[E315]: mutation of read-only value\n',
  ),
  ...['source: ".", file: p.vrl', 'drop_on_error: true'].map((options) =>
    unbuilt(
      `remap with ${options}`,
      transforms(`type: remap, ${options}`),
      'x Transform "t": must provide exactly one of `source` or `file` or `files` configuration\n',
    ),
  ),
  unbuilt(
    'a program that is not there',
    transforms('type: remap, file: p.vrl'),
    'x Transform "t": Could not open vrl program "p.vrl": No such file or directory (os error 2)\n',
  ),
  refused(
    'a reserved name of an output',
    `${SOURCE}transforms: {r: {type: route, inputs: [in], route: {_default: ".x == 1"}}}\nsinks: {out: {type: blackhole, inputs: ["r.*"]}}\n`,
    'x Transform r cannot have a named output with reserved name: `_default`\n',
  ),
  pair('one source in two files', GOOD, SOURCE, 'duplicate source id found: in'),
  pair(
    'two data directories',
    `data_dir: /var/lib/other\n${GOOD}`,
    SIDECAR,
    "conflicting values for 'data_dir' found",
  ),
  pair('the default data directory', `data_dir: /var/lib/vector\n${GOOD}`, SIDECAR),
  pair(
    'two times of expiry',
    `expire_metrics_secs: 60\n${GOOD}`,
    SIDECAR,
    "conflicting values for 'expire_metrics_secs' found",
  ),
  pair(
    'two addresses of the API',
    `api: {enabled: true, address: "127.0.0.1:9999"}\n${GOOD}`,
    SIDECAR,
    'Conflicting `api` address: 127.0.0.1:9999, 127.0.0.1:19601 .',
  ),
  pair(
    'two log schemas',
    `log_schema: {host_key: h1, message_key: m1}\n${GOOD}`,
    'log_schema: {host_key: h2, message_key: m2}\n',
    "conflicting values for 'log_schema.host_key' found",
    "conflicting values for 'log_schema.message_key' found",
  ),
  pair('a sidecar alone', '', SIDECAR),
  refused(
    'an old key of the API',
    `api: {enabled: true, playground: false}\n${GOOD}`,
    'x unknown field `playground`, expected `enabled` or `address`\nin `api`',
  ),
  refused(
    'a host name as the address of the API',
    `api: {enabled: true, address: "localhost:8686"}\n${GOOD}`,
    'x invalid socket address syntax\nin `api.address`',
  ),
  loaded('a placeholder where variables are not expanded', sinks(`${HTTP}, uri: "\${TARGET_URL}"`)),
  {
    ...refused(
      'a variable that is not set',
      sinks(`type: blackhole, inputs: ["$\{NOPE}"]`),
      'x Missing environment variable in config. name = "NOPE"\n',
    ),
    env: ALLOWED,
  },
  {
    ...refused(
      'a value with a line break',
      sinks(`type: blackhole, inputs: ["$\{NL}"]`),
      'x Environment variable contains newline character. name = "NL"\nx Missing environment variable in config. name = "NL"\n',
    ),
    env: { ...ALLOWED, NL: 'a\nb' },
  },
  {
    ...refused(
      'a variable that is required',
      sinks(`type: blackhole, inputs: ["$\{EM:?give me}"]`),
      'x Non-empty environment variable required in config. name = "EM", error = "give me"\n',
    ),
    env: { ...ALLOWED, EM: '' },
  },
  {
    name: 'a data directory that is not there and that nothing uses',
    args: ON,
    files: { [CONFIG]: `data_dir: none\n${GOOD}` },
    code: 78,
    stdout: '√ Loaded ["config.yaml"]\n√ Transforms configuration\nx data_dir "none" does not exist\n',
  },
  {
    name: 'a receiver that is away',
    args: ON,
    files: {
      [CONFIG]:
        DATA +
        sinks(
          `${HTTP}, uri: "http://127.0.0.1:9/", healthcheck: {enabled: true, uri: "http://127.0.0.1:9/h"}`,
        ),
      'data/.keep': '',
    },
    code: 78,
    out: [
      '√ Component configuration\n',
      'x Health check for "out" failed: Failed to make HTTP(S) request: error trying to connect: tcp connect error: Connection refused (os error 111)\n',
    ],
    err: [
      /ERROR \w+::topology::builder: msg="Healthcheck failed\." error=.* component_kind="sink" component_type="http" component_id=out/,
    ],
  },
  {
    name: 'a path template without a start',
    args: ON,
    files: {
      [CONFIG]: DATA + sinks('type: file, inputs: [in], path: "{{ host }}/x.log", encoding: {codec: json}'),
      'data/.keep': '',
    },
    code: 78,
    out: [
      '√ Transforms configuration\n\nComponent errors\n----------------\nx Sink "out": path template references event fields (["host"]) but has no literal directory prefix to derive a base directory from. Set `base_dir` explicitly',
    ],
  },
  loaded(
    'a path template without a start, without the environment',
    sinks('type: file, inputs: [in], path: "{{ host }}/x.log", encoding: {codec: json}'),
  ),
  {
    name: 'a file that is not there',
    args: ['validate', '--no-environment', 'none.yaml'],
    code: 78,
    stdout: '',
    err: [
      /ERROR \w+::config::loading: Config file not found in path\. path="none\.yaml" internal_log_rate_limit=false/,
    ],
  },
  {
    name: 'a flag that is none',
    args: ['validate', '--config', CONFIG],
    code: 2,
    stdout: '',
    err: ["error: unexpected argument '--config' found"],
  },
];

const RUN = ['-c', CONFIG];
const failsToStart = (name: string, config: string, ...err: (string | RegExp)[]): EngineCase => ({
  name,
  args: RUN,
  files: { [CONFIG]: config },
  code: 78,
  err: [
    /INFO \w+::app: Log level is enabled\. level="info"/,
    'Loading configs. paths=["config.yaml"]',
    ...err,
  ],
});

export const START_CASES: readonly EngineCase[] = [
  failsToStart(
    'an empty file',
    '',
    /ERROR \w+::cli: Configuration error\. error=No sources defined in the config\. internal_log_rate_limit=false/,
  ),
  failsToStart(
    'several errors',
    `${SOURCE}sinks: {o2: {type: blackhole, inputs: []}, out: {type: blackhole, inputs: [nope, in, in]}}\n`,
    'error=Sink "o2" has no inputs internal_log_rate_limit=false',
    'error=Sink "out" has input "in" duplicated 2 times internal_log_rate_limit=false',
  ),
  failsToStart(
    'a VRL error',
    transforms('type: remap, source: ".b = parse_json(.message)"'),
    /ERROR \w+::topology::builder: Configuration error\. error=Transform "t": \nerror\[E103\]/,
    '\n internal_log_rate_limit=false',
  ),
  failsToStart(
    'a data directory that is not there',
    `data_dir: none\nsources: {in: {type: file, include: [/tmp/x.log]}}\n${SINK}`,
    /ERROR \w+::topology::builder: Configuration error\. error=Source "in": data_dir "none" does not exist internal_log_rate_limit=false/,
  ),
  failsToStart(
    'a path template without a start',
    sinks('type: file, inputs: [in], path: "{{ host }}/x.log", encoding: {codec: json}'),
    'error=Sink "out": path template references event fields (["host"])',
  ),
  {
    name: 'a receiver that must be well and is not',
    args: ['-r', 'true', ...RUN],
    files: {
      [CONFIG]: sinks(
        `${HTTP}, uri: "http://127.0.0.1:9/", healthcheck: {enabled: true, uri: "http://127.0.0.1:9/h"}`,
      ),
    },
    code: 78,
    err: [
      'Running healthchecks.',
      'msg="Healthcheck failed." error=',
      'Sinks unhealthy. internal_log_rate_limit=false',
    ],
  },
  {
    name: 'a file that is not there',
    args: ['-c', 'none.yaml'],
    code: 78,
    err: ['Config file not found in path. path="none.yaml" internal_log_rate_limit=false'],
  },
  {
    name: 'a source that ends',
    args: RUN,
    files: { [CONFIG]: `sources: {in: {type: demo_logs, format: json, count: 3, interval: 0.01}}\n${SINK}` },
    code: 0,
    err: [
      'Running healthchecks.',
      'has started. debug="false" version="',
      'API is disabled',
      'All sources have finished.',
      'is stopping.',
      'has stopped.',
    ],
  },
  {
    name: 'a log filter that cannot be read',
    args: RUN,
    env: { VECTOR_LOG: 'a=b=c,,==' },
    files: { [CONFIG]: GOOD },
    code: 101,
    err: ['logging filter targets were not formatted correctly'],
  },
  {
    name: 'a switch that is neither true nor false',
    args: RUN,
    env: { VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: '1' },
    files: { [CONFIG]: GOOD },
    code: 2,
  },
  {
    name: 'a required value that is missing',
    args: ['-r', ...RUN],
    files: { [CONFIG]: GOOD },
    code: 2,
    err: ["error: a value is required for '--require-healthy <REQUIRE_HEALTHY>' but none was supplied"],
  },
  {
    name: 'a schema into a file that is there',
    args: ['generate-schema', '-o', CONFIG],
    files: { [CONFIG]: GOOD },
    code: 73,
  },
  {
    name: 'a schema into a folder that is not',
    args: ['generate-schema', '-o', 'none/schema.json'],
    code: 74,
  },
  {
    name: 'the list of components',
    args: ['list', '--format', 'json'],
    code: 0,
    out: [
      /^\{"sources":\[.*"demo_logs".*\],"transforms":\[.*"remap".*\],"sinks":\[.*"blackhole".*\],"enrichment_tables":\[.*\]\}\n$/,
    ],
  },
  {
    name: 'the list of components as text',
    args: ['list'],
    code: 0,
    out: [/^Sources:\n/, '\n- demo_logs\n', '\nSinks:\n', '- blackhole\n'],
  },
];
