import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { isExcused } from '../../../agent/supervise/engine/config-check.ts';
import {
  componentBlock,
  ownDataDir,
  portsIn,
  withDataDir,
} from '../../../agent/supervise/engine/config-text.ts';
import { listeningPorts } from '../../../agent/supervise/engine/listening-ports.ts';
import { joinFindings, parseReport } from '../../../agent/supervise/engine/validate-report.ts';

interface Report {
  name: string;
  exitCode: number;
  stdout: string;
  stderr?: string;
}

/** What Vector 0.57.0 prints. */
const REPORTS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/validate-reports.json'), 'utf8'),
) as Report[];

/** As the lines of a process arrive: without the empty ones. */
const linesOf = (text = '') => text.split('\n').filter((line) => line !== '');
const findingsOf = (name: string) => {
  const report = REPORTS.find((one) => one.name === name);
  return parseReport(linesOf(report?.stdout), linesOf(report?.stderr));
};

describe('what the engine answers to the check of a config', () => {
  const FALLIBLE =
    "this expression is fallible because at least one argument's type cannot be verified to be valid";
  const expected: Record<string, string[]> = {
    'unknown-source-type': [
      'sources.in: unknown variant `demo_log`, expected one of `aws_s3`, `aws_sqs`, `datadog_agent`, `demo_logs`, `exec`, `file`, `fluent`, `heroku_logs`, `host_metrics`, `http` and 24 more',
    ],
    'unknown-sink-field': [
      'sinks.out: unknown field `nonsense`, expected one of `print_interval_secs`, `rate`, `acknowledgements`',
    ],
    'vrl-unhandled-error-with-environment': [
      `Transform "t": error[E103]: unhandled fallible assignment at line 2, column 6 of the program: ${FALLIBLE}, update the expression to be infallible by adding a \`!\`: \`parse_json!(.message)\`, \`.message\` argument type is \`any\` and this function expected a parameter \`value\` of type \`string\`, or change this to an infallible assignment: .b, err = parse_json(.message)`,
    ],
    'merge-duplicate-all': [
      'duplicate enrichment_table name found: e',
      'duplicate source id found: in',
      'duplicate sink id found: out',
      'duplicate transform id found: t',
      'duplicate test name found: x',
      'duplicate secret id found: s',
    ],
    'data-dir-missing': ['data_dir "/var/lib/vector/none" does not exist'],
    'sink-tls-file-missing': [
      'Sink "out": Could not open certificate file "/etc/vector/ca.pem": No such file or directory (os error 2)',
    ],
    'buffer-too-small': [
      'Sink "out": error occurred when building buffer: failed to build individual stage 0: parameter \'max_buffer_size\' was invalid: must be greater than or equal to 268435488 bytes',
    ],
    'source-no-consumers': [],
    'yaml-syntax': [
      'did not find expected key at line 4 column 4, while parsing a block mapping at line 2 column 3',
    ],
    'file-not-found': ['Config file not found in path. path="/etc/vector/none.yaml"'],
    'same-id-two-kinds': [
      'More than one component with name "in" (source, sink).',
      'Input "in" for sink "in" doesn\'t match any components.',
    ],
    'env-required-empty': [
      'Non-empty environment variable required in config. name = "EM", error = "give me"',
    ],
    'api-host-name-address': ['api.address: invalid socket address syntax'],
  };

  for (const [name, texts] of Object.entries(expected)) {
    it(`is read from the report: ${name}`, () => {
      expect(findingsOf(name).map(({ text }) => text)).to.deep.equal(texts);
    });
  }

  it('has something to say for each report with exit code 78, and nothing for the others', () => {
    for (const { name, exitCode, stdout } of REPORTS) {
      const findings = findingsOf(name);
      expect(findings.length > 0, name).to.equal(exitCode === 78);
      for (const { text } of findings) {
        expect(text, name)
          .to.match(/^\S/)
          .and.not.match(/\n|internal_log_rate_limit|https:\/\/(errors\.)?vrl\.dev/);
        expect(stdout.includes('┌─') && text.includes('│'), name).to.equal(false);
      }
    }
  });

  it('names both transforms of which neither compiles, each with its component', () => {
    const findings = findingsOf('vrl-two-transforms-bad');
    expect(findings.map(({ component }) => component)).to.deep.equal(['f', 't']);
    expect(findings[1]?.text).to.match(
      /^Transform "t": error\[E105\]: call to undefined function at line 1, column 6/,
    );
  });

  it('is bounded, whatever the engine prints', () => {
    const line = fc.oneof(
      fc.constantFrom('x ', 'x a', '----------', 'Component errors', 'error[E1]: t', '  ┌─ :1:2', '  │ ^ l'),
      fc.string({ maxLength: 3_000 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 200 }), fc.array(line, { maxLength: 20 }), (stdout, stderr) => {
        const findings = parseReport(stdout, stderr);
        expect(findings.length).to.be.at.most(20);
        expect(joinFindings(findings).length).to.be.at.most(3_500);
      }),
    );
  });
});

describe('an address in use', () => {
  const finding = (component = 'in') => ({
    text: `Source "${component}": TCP bind failed: Address already in use (os error 98)`,
    component,
  });
  const yaml = (address: string | undefined) =>
    stringify({
      sources: { other: { type: 'socket', address: '0.0.0.0:1' }, in: { type: 'splunk_hec', address } },
      sinks: { in2: { type: 'blackhole', inputs: ['in'] } },
    });
  const excused = (configYaml: string, pid: number | undefined) =>
    isExcused(finding(), {
      enginePid: () => pid,
      entry: {
        ...{ pipelineId: 'p', pipelineName: '', version: 1, checksum: '', logLevel: '' },
        ...{ configYaml, secrets: {}, certFiles: [] },
      },
    });

  it('is no fault where the engine that runs holds it, and one where another program does', async function () {
    if (process.platform !== 'linux') this.skip();
    const script =
      "require('net').createServer().listen(0, '0.0.0.0', function () { console.log(this.address().port) })";
    const engine = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [chunk] = (await once(engine.stdout, 'data')) as [Buffer];
      const port = Number(String(chunk));
      expect([...(listeningPorts(engine.pid ?? 0) ?? [])]).to.deep.equal([port]);
      expect(excused(yaml(`0.0.0.0:${port}`), engine.pid)).to.equal(true);
      expect(excused(yaml(`[::]:${port}`), engine.pid)).to.equal(true);
      expect(excused(yaml('0.0.0.0:9'), engine.pid)).to.equal(false);
      // The default port of the type is not in the config.
      expect(excused(yaml(undefined), engine.pid)).to.equal(true);
      expect(excused(yaml(`0.0.0.0:${port}`), undefined)).to.equal(false);
    } finally {
      engine.kill('SIGKILL');
      await once(engine, 'exit');
    }
  });

  it('is told from other findings, and a lock of the running engine from a fault', () => {
    const entry = { configYaml: yaml(undefined) } as never;
    const excuse = (text: string) =>
      isExcused({ text, component: 'in' }, { entry, enginePid: () => process.pid });
    expect(excuse('Source "in": Could not open certificate file "/x"')).to.equal(false);
    expect(excuse('Source "in": TCP bind failed: Permission denied (os error 13)')).to.equal(false);
    expect(excuse('Sink "o": failed to lock buffer.lock; is another Vector process running')).to.equal(true);
  });

  it('is no matter for a component with a secret of a backend, which no check resolves', () => {
    const entry = {
      configYaml: stringify({ sinks: { a: { uri: 'https://SECRET[s.h]/' }, b: { uri: 'x' } } }),
    } as never;
    const excuse = (component: string) =>
      isExcused(
        { text: `Sink "${component}": invalid uri character`, component },
        { entry, enginePid: () => undefined },
      );
    expect([excuse('a'), excuse('b')]).to.deep.equal([true, false]);
  });
});

describe('the text of a config', () => {
  it('has its own data_dir unless that is the default of the engine, which yields to the one of the agent', () => {
    const cases: [string, string | undefined][] = [
      ['data_dir: /x\n', '/x'],
      ['sources: {}\n"data_dir" : "/x y"  # mine\n', '/x y'],
      ["'data_dir': '/x/'\n", '/x/'],
      ['data_dir:\n  /x\n', ''],
      ['data_dir: /var/lib/vector/\n', undefined],
      ['data_dir: "/var/lib/vector"\n', undefined],
      ['sources:\n  in:\n    data_dir: /x\n', undefined],
      ['# data_dir: /x\n', undefined],
    ];
    for (const [yaml, own] of cases) expect(ownDataDir(yaml), yaml).to.equal(own);
  });

  it('gets another data_dir in its line alone', () => {
    expect(withDataDir('a: 1\ndata_dir: /x # y\nb: $2\n', '/d/$n')).to.equal(
      'a: 1\ndata_dir: "/d/$$n"\nb: $2\n',
    );
    expect(withDataDir('a: 1\n', '/d')).to.equal('a: 1\n');
  });

  it('shows the lines of a component, and its ports', () => {
    const yaml = stringify({
      sources: {
        'a b': { type: 'x', nested: { out: { address: '0.0.0.0:1' } } },
        otel: { type: 'opentelemetry', grpc: { address: '0.0.0.0:4317' }, http: { address: '[::1]:4318' } },
      },
      sinks: { out: { type: 's', endpoint: 'http://h:9200', port: 514, inputs: ['otel'] } },
    });
    expect(portsIn(componentBlock(yaml, 'otel') ?? '')).to.deep.equal([4317, 4318]);
    expect(componentBlock(yaml, 'a b')).to.contain('type: x').and.not.to.contain('opentelemetry');
    expect(portsIn(componentBlock(yaml, 'out') ?? '')).to.deep.equal([9200, 514]);
    expect(componentBlock(yaml, 'missing')).to.equal(undefined);
  });
});
