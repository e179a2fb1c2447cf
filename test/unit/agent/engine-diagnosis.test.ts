import { expect } from 'chai';
import { componentAddress } from '../../../agent/report/component-address.ts';
import { EngineDiagnosis } from '../../../agent/report/engine-diagnosis.ts';

const T = '2026-01-01T00:00:01.014538Z';
const SPAN = (kind: string, id: string, type: string) =>
  `${kind}{component_kind="${kind}" component_id=${id} component_type=${type}}`;
const STARTED = `${T}  INFO vector: Vector has started. debug="false" version="0.57.0" arch="x86_64" revision=""`;
const GENERIC =
  "vector::topology: An error occurred that Vector couldn't handle: the task completed with an error.";
const BAD_BIND = 'TcpBind { source: Os { code: 98, kind: AddrInUse, message: "Address already in use" } }';
const CONFIG = `sources:
  in:
    type: http_server
    address: 127.0.0.1:19610
  otel:
    type: opentelemetry
    grpc:
      address: 127.0.0.1:4317
    http: {address: "127.0.0.1:4318", keepalive: {}}
sinks:
  exp:
    type: prometheus_exporter
    inputs: [in]
    address: 127.0.0.1:19602
`;

function read(text: string, from: 'stdout' | 'stderr' = 'stderr'): EngineDiagnosis {
  const diagnosis = new EngineDiagnosis((component, message) => componentAddress(CONFIG, component, message));
  for (const line of text.split('\n')) if (line !== '') diagnosis.add(line, from);
  return diagnosis;
}

/** As the engine printed them when it ended; shortened. */
const CASES: [name: string, log: string, cause: string][] = [
  [
    'the port of an exporter is taken',
    `${STARTED}
${T} ERROR ${SPAN('sink', 'exp', 'prometheus_exporter')}: vector::sinks::prometheus::exporter: Failed to start Prometheus exporter: TCP bind failed: Address already in use (os error 98).
${T} ERROR ${SPAN('sink', 'exp', 'prometheus_exporter')}: ${GENERIC}
${T}  INFO vector: Vector is stopping.`,
    'Sink "exp": Failed to start Prometheus exporter: TCP bind failed: Address already in use (os error 98) (127.0.0.1:19602)',
  ],
  [
    'the port of the API is taken',
    `${STARTED}
${T} ERROR vector::app: An error occurred that Vector couldn't handle. error=Failed to bind gRPC API server to 127.0.0.1:19601: Address already in use (os error 98) internal_log_rate_limit=false`,
    "An error occurred that Vector couldn't handle: Failed to bind gRPC API server to 127.0.0.1:19601: Address already in use (os error 98)",
  ],
  [
    'the port of a source is taken',
    `${STARTED}
${T} ERROR ${SPAN('source', 'in', 'http_server')}: vector::sources::util::http::prelude: An error occurred: ${BAD_BIND}.
${T} ERROR ${SPAN('source', 'in', 'http_server')}: ${GENERIC}`,
    'Source "in": TCP bind failed: Address already in use (os error 98) (127.0.0.1:19610)',
  ],
  [
    'a UDP port is taken, which is told before the start is',
    `${T} ERROR ${SPAN('source', 'in', 'socket')}: vector::internal_events::socket: Error binding socket. error=Address already in use (os error 98) error_code="socket_bind" error_type="io_failed" stage="initializing" mode=udp
${STARTED}
${T} ERROR ${SPAN('source', 'in', 'socket')}: ${GENERIC}`,
    'Source "in": Error binding socket: Address already in use (os error 98) (udp 127.0.0.1:19610)',
  ],
  [
    'another component had errors before',
    `${STARTED}
${T} ERROR ${SPAN('source', 'in', 'vector')}: vector::sources::vector: Source future failed. error=TCP bind failed: Address already in use (os error 98)
${T} ERROR ${SPAN('transform', 'parse', 'remap')}: vector::internal_events::remap: Mapping failed with event. error="function call error for \\"to_int\\"" error_type="conversion_failed" stage="processing"
${T} ERROR ${SPAN('source', 'in', 'vector')}: ${GENERIC}`,
    'Source "in": Source future failed: TCP bind failed: Address already in use (os error 98) (127.0.0.1:19610)',
  ],
  [
    'a source binds while it is built',
    `${T} ERROR vector::topology::builder: Configuration error. error=Source "in": TCP bind failed: Address already in use (os error 98) internal_log_rate_limit=false`,
    'Source "in": TCP bind failed: Address already in use (os error 98) (127.0.0.1:19610)',
  ],
  [
    'the YAML is broken',
    `${T} ERROR vector::cli: Configuration error. error=did not find expected key at line 4 column 4, while parsing a block mapping at line 2 column 3 internal_log_rate_limit=false`,
    'did not find expected key at line 4 column 4, while parsing a block mapping at line 2 column 3',
  ],
  [
    'a type is unknown',
    `${T} ERROR vector::cli: Configuration error. error=unknown variant \`demo_log\`, expected one of ${'abcdefghijkl'
      .split('')
      .map((name) => `\`${name}\``)
      .join(', ')}
in \`sources.in\`
 internal_log_rate_limit=false`,
    'sources.in: unknown variant `demo_log`, expected one of `a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`, `i`, `j` and 2 more',
  ],
  [
    'a field is unknown',
    `${T} ERROR vector::cli: Configuration error. error=unknown field \`nonsense\`, expected one of \`rate\`, \`acknowledgements\`


in \`sinks.out\`
 internal_log_rate_limit=false`,
    'sinks.out: unknown field `nonsense`, expected one of `rate`, `acknowledgements`',
  ],
  [
    'an option has none of its shapes',
    `${T} ERROR vector::cli: Configuration error. error=data did not match any variant of untagged enum BufferConfig
in \`sinks.out\`
 internal_log_rate_limit=false`,
    'sinks.out: data did not match any variant of untagged enum BufferConfig',
  ],
  [
    'there are several errors, after a list that is none',
    `${T}  INFO vector::config::graph: Available components:
"in":
  component_kind: source
${T} ERROR vector::cli: Configuration error. error=Sink "o2" has no inputs internal_log_rate_limit=false
${T} ERROR vector::cli: Configuration error. error=Input "nope" for sink "out" doesn't match any components. internal_log_rate_limit=false`,
    'Sink "o2" has no inputs; Input "nope" for sink "out" doesn\'t match any components.',
  ],
  [
    'a VRL program does not compile',
    `${T} ERROR vector::topology::builder: Configuration error. error=Transform "t": 
error[E103]: unhandled fallible assignment
  ┌─ :2:6
  │
2 │ .b = parse_json(.message)
  │ ---- ^^^^^^^^^^^^^^^^^^^^
  │ │    │
  │ │    this expression is fallible because at least one argument's type cannot be verified to be valid
  │ or change this to an infallible assignment:
  = see documentation about error handling at https://errors.vrl.dev/#handling
  = learn more about error code 103 at https://errors.vrl.dev/103
 internal_log_rate_limit=false`,
    'Transform "t": error[E103]: unhandled fallible assignment at line 2, column 6 of the program: `.b = parse_json(.message)`: this expression is fallible because at least one argument\'s type cannot be verified to be valid',
  ],
  [
    'a required health check fails',
    `${T}  WARN http: vector::internal_events::http_client: HTTP error. error=Connection refused (os error 111) error_type="request_failed" stage="processing"
${T} ERROR vector::topology::builder: msg="Healthcheck failed." error=Failed to make HTTP(S) request: Connection refused (os error 111) component_kind="sink" component_type="http" component_id=out
${T} ERROR vector::topology::running: Sinks unhealthy. internal_log_rate_limit=false`,
    'Sink "out": Healthcheck failed: Failed to make HTTP(S) request: Connection refused (os error 111)',
  ],
  [
    'a file cannot be opened, which is told twice',
    `${T} ERROR vector::config::loading: Error opening config file. error=Permission denied (os error 13) path="/etc/vector/config.yaml" internal_log_rate_limit=false
${T} ERROR vector::config::loading: Error opening config file. error=Permission denied (os error 13) path="/etc/vector/config.yaml" internal_log_rate_limit=false
${T} ERROR vector::cli: Configuration error. error=No sources defined in the config. internal_log_rate_limit=false`,
    'Error opening config file: Permission denied (os error 13) (/etc/vector/config.yaml); No sources defined in the config.',
  ],
  [
    'a component panics',
    `${STARTED}
thread 'vector-worker' (12345) panicked at src/sources/internal_metrics.rs:154:33:
\`period\` must be non-zero.
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace
${T} ERROR ${SPAN('source', 'in', 'internal_metrics')}: vector::topology: An error occurred that Vector couldn't handle: the task panicked and was aborted.
${T}  INFO vector_common::shutdown: All sources have finished.`,
    'Source "in": panicked: `period` must be non-zero. (src/sources/internal_metrics.rs:154:33)',
  ],
  [
    'a log level makes it panic before its log begins',
    `thread 'main' (12345) panicked at src/trace.rs:67:76:
logging filter targets were not formatted correctly
note: run with \`RUST_BACKTRACE=1\``,
    'panicked: logging filter targets were not formatted correctly (src/trace.rs:67:76)',
  ],
  [
    'a flag is unknown',
    `error: unexpected argument '--confg' found
  tip: a similar argument exists: '--config'
Usage: vector --config <config>
For more information, try '--help'.`,
    "error: unexpected argument '--confg' found tip: a similar argument exists: '--config'",
  ],
  [
    'its sources are finite',
    `${STARTED}
${T}  INFO vector::app: All sources have finished.
${T}  INFO vector: Vector has stopped.`,
    'all its sources have finished',
  ],
  ['it is another program', 'started\nERROR engine: no such thing\nbye', 'ERROR engine: no such thing'],
  ['it is another program without errors', 'started\nbye', 'bye'],
];

/** The same records as an engine prints them with `--log-format json`. */
const JSON_CASES: [name: string, log: string, cause: string][] = [
  [
    'the component is in the span',
    `{"timestamp":"${T}","level":"INFO","message":"Log level is enabled.","level":"\\"info\\"","target":"vector::app"}
{"timestamp":"${T}","level":"INFO","message":"Vector has started.","debug":"false","target":"vector"}
{"timestamp":"${T}","level":"ERROR","message":"Error binding socket.","error":"TCP bind failed: Address already in use (os error 98)","mode":"tcp","target":"vector::internal_events::socket","span":{"component_id":"in","component_kind":"source","component_type":"socket","name":"source"},"spans":[]}
{"timestamp":"${T}","level":"ERROR","message":"An error occurred that Vector couldn't handle: the task completed with an error.","target":"vector::topology","span":{"component_id":"in","component_kind":"source","component_type":"socket","name":"source"},"spans":[]}`,
    'Source "in": Error binding socket: TCP bind failed: Address already in use (os error 98) (tcp 127.0.0.1:19610)',
  ],
  [
    'the component is in the fields and the message in `msg`',
    `{"timestamp":"${T}","level":"ERROR","msg":"Healthcheck failed.","error":"refused","component_kind":"sink","component_type":"http","component_id":"out","target":"vector::topology::builder"}
{"timestamp":"${T}","level":"ERROR","message":"Sinks unhealthy.","target":"vector::topology::running"}`,
    'Sink "out": Healthcheck failed: refused',
  ],
];

const OTEL = (server: string) =>
  `${STARTED}\n${T} ERROR ${SPAN('source', 'otel', 'opentelemetry')}: vector::sources::opentelemetry::config: OpenTelemetry source ${server} server failed. error=TCP bind failed: Address already in use (os error 98)`;

describe('the diagnosis of an engine', () => {
  for (const [name, log, cause] of CASES)
    it(`names the cause where ${name}`, () => {
      expect(read(log).cause).to.equal(cause);
    });

  for (const [name, log, cause] of JSON_CASES)
    it(`reads JSON where ${name}`, () => {
      expect(read(log, 'stdout').cause).to.equal(cause);
    });

  it('bounds the configuration errors of one start', () => {
    const log = Array.from(
      { length: 9 },
      (_, at) => `${T} ERROR vector::cli: Configuration error. error=Sink "o${at}" has no inputs`,
    ).join('\n');
    expect(read(log).cause).to.match(/^Sink "o0".*Sink "o4" has no inputs; and 4 more errors$/);
  });

  it('takes no event of a console sink for a record', () => {
    const event = `{"timestamp":"${T}","level":"ERROR","message":"An error occurred that Vector couldn't handle."}`;
    expect(read(event, 'stdout').cause).to.equal(undefined);
  });

  it('keeps warnings of the config once each, and none of what goes on at run time', () => {
    const warnings = read(`${T}  WARN vector::config::loading: Source "in.metrics" has no consumers
${T}  WARN vector::config::loading: Internal log [Source "in.metrics" has no consumers] is being suppressed to avoid flooding.
${T}  WARN vector::config::loading: Source "in.metrics" has no consumers
${STARTED}
${T}  WARN ${SPAN('source', 'in', 'internal_metrics')}: vector::sources::internal_metrics: Interval set to 0 secs, this could result in high CPU utilization. It is suggested to use interval >= 1 secs.
${T}  WARN ${SPAN('sink', 'out', 'http')}:request{request_id=1}: vector::sinks::util::retries: Retrying after error. error=refused
${T}  WARN http: vector::internal_events::http_client: HTTP error. error=refused error_type="request_failed"`).warnings;
    expect(warnings).to.deep.equal([
      'Source "in.metrics" has no consumers',
      'Source "in": Interval set to 0 secs, this could result in high CPU utilization. It is suggested to use interval >= 1 secs.',
    ]);
  });

  it('keeps at most 20 warnings of at most 1,024 characters', () => {
    const { warnings } = read(
      Array.from(
        { length: 60 },
        (_, at) => `${T}  WARN vector::config::loading: Source "s${at}${'x'.repeat(2_000)}" has no consumers`,
      ).join('\n'),
    );
    expect(warnings).to.have.length(20);
    expect(Math.max(...warnings.map(({ length }) => length))).to.equal(1_024);
  });

  it('tells which listener of a source is lost, with its address', () => {
    expect(read(OTEL('gRPC')).degraded).to.equal(
      'Source "otel": OpenTelemetry source gRPC server failed: TCP bind failed: Address already in use (os error 98) (127.0.0.1:4317)',
    );
    expect(read(OTEL('HTTP')).degraded).to.match(/HTTP server failed: .* \(127\.0\.0\.1:4318\)$/);
    expect(read(STARTED).degraded).to.equal(null);
  });
});
