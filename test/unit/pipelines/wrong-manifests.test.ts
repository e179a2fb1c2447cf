/**
 * Every manifest that no engine runs, and what catches it at push. With `HEADGATE_ENGINE_BIN` the engine that it names is
 * asked as well; without, what needs an engine has to pass the levels before it.
 */
import { expect } from 'chai';
import { checkPipeline } from '../../../controller/pipelines/definition/checks/check-pipeline.ts';
import { compile } from '../../../controller/pipelines/definition/compile.ts';
import type { Definition } from '../../../controller/pipelines/definition/definition.ts';
import { buildConfig } from '../../../controller/pipelines/engine/build-config.ts';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { definition } from '../../support/fixtures/definition.ts';
import { scriptedEngine } from '../../support/fixtures/engine-schema/scripted-engine.ts';
import { leaveOut, typesLacking } from '../../support/fixtures/engine-types.ts';
import { WRONG_MANIFESTS } from '../../support/fixtures/wrong-manifests.ts';

const REAL = process.env.HEADGATE_ENGINE_BIN;

describe('a manifest that no engine runs', function () {
  this.timeout(30_000);
  const scripted = scriptedEngine();
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: REAL ?? scripted.bin, log: createLogger('silent') });
  });
  after(async () => {
    await engine.stop();
    scripted.remove();
  });
  const check = (of: Definition) =>
    checkPipeline(of, {
      secrets: new Set(),
      engine,
      engineLevel: { configYaml: compile(of).configYaml },
      nodeEngines: [],
    });

  it('is one of 82', () => {
    expect(WRONG_MANIFESTS).to.have.length(82);
  });

  for (const { name, of, by, says, at } of WRONG_MANIFESTS) {
    const isOfEngine = by === 'read' || by === 'build';
    const needsEngine = isOfEngine || by === 'node';
    it(`${by === 'node' ? 'is left to the node' : `is caught by ${by}`}: ${name}`, async function () {
      const lacking = REAL === undefined ? [] : await typesLacking(engine, of);
      if (lacking.length > 0) leaveOut(this, lacking);
      const { findings } = await check(of);
      const told = findings.map((one) => `${one.pointer} ${one.level} ${one.message}; ${one.hint}`);
      if (needsEngine && (by === 'node' || REAL === undefined)) {
        expect(told).to.deep.equal([]);
        return;
      }
      expect(told.join('\n')).to.match(says);
      expect(findings.map(({ level }) => level)).to.include(isOfEngine ? 'engine' : by);
      if (at !== undefined) expect(findings.map(({ pointer }) => pointer)).to.include(at);
    });
  }
});

describe('options by the schema of an engine', function () {
  this.timeout(30_000);
  /** By what they answer to `validate`. */
  const engines = new Map<string | undefined, { engine: Engine; remove: () => void }>();
  after(async () => {
    for (const { engine, remove } of engines.values()) {
      await engine.stop();
      remove();
    }
  });
  const engineThat = (validate?: string): Engine => {
    const known = engines.get(validate);
    if (known) return known.engine;
    const { bin, remove } = scriptedEngine(validate);
    const engine = createEngineChecks({ engineBin: bin, log: createLogger('silent') });
    engines.set(validate, { engine, remove });
    return engine;
  };
  const found = (of: Definition, validate?: string) =>
    checkPipeline(of, {
      secrets: new Set(['SVC_SECRET_N']),
      engine: engineThat(validate),
      nodeEngines: [],
      engineLevel: { configYaml: compile(of).configYaml },
    });
  const sources = { in: { type: 'demo_logs', format: 'json' } };
  const sink = (options: Record<string, unknown>) =>
    definition({
      sources,
      sinks: {
        out: { type: 'http', inputs: ['in'], uri: 'https://a', encoding: { codec: 'json' }, ...options },
      },
    });
  const levelOf = (report: Awaited<ReturnType<typeof found>>) =>
    report.levels.find(({ level }) => level === 'options');

  it('take a placeholder for a value of any type', async () => {
    const report = await found(
      sink({ batch: { max_events: `$\{SVC_SECRET_N}` }, tls: { verify_certificate: `$\{SVC_SECRET_N}` } }),
    );
    expect(report.findings).to.deep.equal([]);
    expect(levelOf(report)).to.deep.include({ status: 'passed', detail: 'by the schema of vector 0.57.0' });
  });

  it('are not looked at of a component that is switched off', async () => {
    const of = sink({});
    of.sinks.off = { type: 'http', inputs: ['in'], nonsense: 1 };
    of.components.off = { disabled: true };
    expect((await found(of)).findings).to.deep.equal([]);
  });

  it('are refused where the engine ignores them in silence', async () => {
    const { findings } = await found(sink({ batch: { max_evnts: 1 } }), 'cat > /dev/null; exit 0');
    expect(findings.map(({ message }) => message)).to.deep.equal([
      'unknown option `max_evnts` in `sinks.out.batch`: the engine would silently ignore it',
    ]);
  });

  it('pass by a name that the schema does not tell and the engine reads', async () => {
    // Reads the text once whatever it is, and minds a list of lists in `url`.
    const reads = 'if grep -qe "- - \\[\\]"; then echo "x invalid type: sequence"; exit 78; fi';
    const { findings, warnings } = await found(sink({ url: 'https://b' }), reads);
    expect(findings).to.deep.equal([]);
    expect(warnings).to.deep.equal([]);
  });

  it('are a warning where the engine accepts a value that the schema does not', async () => {
    const { findings, warnings } = await found(sink({ method: 'PATCH' }), 'cat > /dev/null; exit 0');
    expect(findings).to.deep.equal([]);
    expect(warnings.map(({ message }) => message).join()).to.match(/method.* which accepts it/);
  });

  it('do not mind a template of a component that opts out, or has a folder', async () => {
    const optOut = { dangerously_allow_unconfined_template_resolution: true };
    expect((await found(sink({ uri: '{{ a }}', ...optOut }))).findings).to.deep.equal([]);
    const file = {
      type: 'file',
      inputs: ['in'],
      path: '{{ a }}/b',
      base_dir: '/c',
      encoding: { codec: 'json' },
    };
    expect((await found(definition({ sources, sinks: { out: file } }))).findings).to.deep.equal([]);
  });

  it('accept the default data folder, and leave it out of the config', async () => {
    for (const dir of ['/var/lib/vector/', '/var/lib/vector']) {
      const of = { ...sink({}), global: { data_dir: dir } };
      expect((await found(of)).findings).to.deep.equal([]);
      expect(compile(of).configYaml).not.to.include('data_dir');
    }
  });

  it('warn of a backend that engines before 0.58 do not read', async () => {
    const of = sink({ auth: { strategy: 'bearer', token: 'SECRET[my-vault.k]' } });
    of.global = { secret: { 'my-vault': { type: 'file', path: '/s' } } };
    const { findings, warnings } = await found(of);
    expect(findings).to.deep.equal([]);
    expect(warnings.map(({ hint }) => hint)).to.deep.equal(['call the backend my_vault']);
  });
});

describe('what the engine of the controller builds', () => {
  const built = (sections: Record<string, unknown>): string[] => {
    const config = buildConfig(JSON.stringify(sections), '/scratch');
    return config ? [...config.components].sort() : [];
  };
  const source = (options: Record<string, unknown>) => built({ sources: { a: options } });
  const sink = (options: Record<string, unknown>) => built({ sinks: { a: { inputs: ['x'], ...options } } });

  const kept: { why: string; is: string[] }[] = [
    { why: 'a source that listens when it runs', is: source({ type: 'http_server', address: '0.0.0.0:80' }) },
    { why: 'a file that is followed when it runs', is: source({ type: 'file', include: ['/etc/shadow'] }) },
    { why: 'a sink that connects when it runs', is: sink({ type: 'http', uri: 'http://169.254.169.254' }) },
    { why: 'a token', is: sink({ type: 'http', auth: { strategy: 'bearer', token: `$\{SVC_SECRET_X}` } }) },
  ];
  for (const { why, is } of kept) it(`has ${why}`, () => expect(is).to.deep.equal(['a']));

  const left: [why: string, is: string[]][] = [
    ['ports that are bound while it is built', source({ type: 'splunk_hec', address: '0.0.0.0:80' })],
    ['programs', source({ type: 'exec', command: ['reboot'] })],
    ['Lua', built({ transforms: { a: { type: 'lua', inputs: ['x'], source: 'os.execute("reboot")' } } })],
    ['certificates', sink({ type: 'http', tls: { ca_file: '/etc/shadow' } })],
    [
      'a descriptor in a file',
      source({ type: 'http_server', decoding: { codec: 'protobuf', protobuf: { desc_file: '/x' } } }),
    ],
    ['a Unix socket', sink({ type: 'socket', mode: 'unix', path: '/run/docker.sock' })],
    ['credentials of the machine', sink({ type: 'http', auth: { strategy: 'aws', service: 's3' } })],
    ['what connects while it is built', sink({ type: 'nats', url: 'nats://n' })],
    ['a data folder of the machine', source({ type: 'file', include: ['/a'], data_dir: '/root' })],
    [
      'a program in a file',
      built({ transforms: { a: { type: 'remap', inputs: ['x'], file: '/etc/shadow' } } }),
    ],
    [
      'a program that reads a file',
      built({
        transforms: { a: { type: 'remap', inputs: ['x'], source: 'validate_json_schema(.a, "/x")' } },
      }),
    ],
    [
      'a variable with a default, which could become config',
      sink({ type: 'http', uri: `$\{A:-x"\ntls: {}}` }),
    ],
    ['an address that is a secret', sink({ type: 'http', uri: `$\{SVC_SECRET_X}` })],
  ];
  for (const [why, is] of left) it(`has not ${why}`, () => expect(is).to.deep.equal([]));

  it('has a source in the place of what is left out, and no buffer on the disk of the controller', () => {
    const config = buildConfig(
      JSON.stringify({
        data_dir: '/etc',
        enrichment_tables: { t: { type: 'file', file: { path: '/etc/shadow' } } },
        secret: { s: { type: 'exec', command: ['reboot'] } },
        sources: { a: { type: 'kafka' } },
        sinks: { b: { type: 'blackhole', inputs: ['a'], buffer: { type: 'disk', max_size: 1 } } },
      }),
      '/scratch',
    );
    expect(config?.text).to.equal(
      'data_dir: /scratch\nsources:\n  svc_stub:\n    type: vector\n    address: 127.0.0.1:9\nsinks:\n  b:\n    type: blackhole\n    inputs:\n      - svc_stub\n',
    );
  });
});
