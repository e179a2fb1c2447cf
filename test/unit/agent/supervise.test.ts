import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';

import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createLogger } from '../../../agent/log.ts';
import { HeartbeatBuilder } from '../../../agent/report/heartbeat-body.ts';
import { engineEnvironment } from '../../../agent/supervise/engine/engine-environment.ts';
import { PortCounter } from '../../../agent/supervise/engine/engine-ports.ts';
import { renderSidecar } from '../../../agent/supervise/engine/sidecar.ts';
import { WriteError, writeFilesAtomically } from '../../../agent/supervise/files/atomic-files.ts';
import { Certificates } from '../../../agent/supervise/files/certificates.ts';
import { DataDirectory } from '../../../agent/supervise/files/data-directory.ts';
import { lockDirectory } from '../../../agent/supervise/files/directory-lock.ts';
import { Supervisor } from '../../../agent/supervise/supervisor.ts';
import { freePort } from '../../../controller/demo/free-ports.ts';
import { systemClock } from '../../../reconcilers/loops/clock.ts';
import { PipelineReport } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';
import { until } from '../../support/harness/until.ts';

describe('what an engine is given', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-unit-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const sidecar = (configYaml: string, dataDir = '/d/data/p1') =>
    parse(renderSidecar({ metricsPort: 8688, apiPort: 8689, dataDir, configYaml })) as Record<
      string,
      unknown
    >;

  it('gets a sidecar with metrics, API, six collectors and a data folder of its own', () => {
    expect(sidecar('sources: {}\n')).to.deep.equal({
      data_dir: '/d/data/p1',
      api: { enabled: true, address: '127.0.0.1:8689' },
      sources: {
        svc_internal_metrics: { type: 'internal_metrics' },
        svc_host_metrics: {
          type: 'host_metrics',
          collectors: ['cpu', 'memory', 'load', 'disk', 'filesystem', 'network'],
        },
      },
      sinks: {
        svc_metrics_exporter: {
          type: 'prometheus_exporter',
          inputs: ['svc_internal_metrics', 'svc_host_metrics'],
          address: '127.0.0.1:8688',
        },
      },
    });
  });

  it('gets no second data_dir where its pipeline sets one at the top level', () => {
    for (const own of ['data_dir: /x\n', 'sources: {}\n"data_dir" : /x\n', "'data_dir': /x"]) {
      expect(sidecar(own), own).not.to.have.property('data_dir');
    }
    for (const byDefault of ['data_dir: /var/lib/vector/\n', 'data_dir: "/var/lib/vector/" # ours\n']) {
      expect(sidecar(byDefault), byDefault).to.have.property('data_dir');
    }
    for (const other of ['sources:\n  in:\n    data_dir: /x\n', '# data_dir: /x\n', 'my_data_dir: 1\n']) {
      expect(sidecar(other), other).to.have.property('data_dir');
    }
  });

  it('gets a folder with a dollar sign in the form that the engine turns back', () => {
    expect(sidecar('', '/d/$HOME "x"').data_dir).to.equal('/d/$$HOME "x"');
  });

  it('has a level that the engine reads, and never one at which it panics or goes silent', () => {
    const levelOf = (logLevel: string) =>
      engineEnvironment({ configYaml: '', logLevel, secrets: {} }, {}, '/c').env.VECTOR_LOG;
    for (const good of ['trace', 'off', 'WARN', 'info,vector::sinks=debug', 'vector=off'])
      expect(levelOf(good), good).to.equal(good);
    for (const bad of ['a=b=c', 'warning', 'info,', 'vector=loud', '=info', '', 'x'.repeat(300)])
      expect(levelOf(bad), bad).to.equal('info');
  });

  it('gets a clean environment, and only secrets under their own prefix', () => {
    const agent = {
      PATH: '/bin',
      SVC_TOKEN: 't',
      VECTOR_CONFIG: '/x',
      BUN_OPTIONS: '-e 1',
      https_proxy: 'http://p',
    };
    const secrets = {
      SVC_SECRET_A: 'value',
      PATH: '/evil',
      SVC_SECRET_a: 'x',
      SVC_SECRET_N: 'a\0b',
      LD_PRELOAD: 'x',
    };
    const { env, refused } = engineEnvironment(
      { configYaml: '', logLevel: 'debug', secrets },
      agent,
      '/data/certs',
    );
    expect(env).to.deep.equal({
      PATH: '/bin',
      https_proxy: 'http://p',
      SVC_SECRET_A: 'value',
      ENGINE_LOG: 'debug',
      VECTOR_LOG: 'debug',
      SVC_CERT_DIR: '/data/certs',
      VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true',
      VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS: '25',
      VECTOR_THREADS: '2',
    });
    expect(refused).to.have.members(['PATH', 'SVC_SECRET_a', 'SVC_SECRET_N', 'LD_PRELOAD']);
  });

  it('gets TZ and LANG where its config uses them and the agent has none, since a missing one ends it', () => {
    const given = (configYaml: string, agent = {}) => {
      const { env } = engineEnvironment({ configYaml, logLevel: 'info', secrets: {} }, agent, '/c');
      return { TZ: env.TZ, LANG: env.LANG };
    };
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const none = { TZ: undefined, LANG: undefined };
    expect(given(`timezone: \${TZ}\n`)).to.deep.equal({ ...none, TZ: zone });
    expect(given(`a: $LANG\nb: \${TZ:-UTC}\n`)).to.deep.equal({ TZ: zone, LANG: 'C.UTF-8' });
    expect(given(`a: \${TZ} $LANG\n`, { TZ: 'Asia/Tokyo', LANG: 'de' })).to.deep.equal({
      ...{ TZ: 'Asia/Tokyo', LANG: 'de' },
    });
    for (const other of ['', `a: $$TZ \${TZ_OF_MINE} $LANGUAGE $$\${TZX} $TZ.a\n`])
      expect(given(other), other).to.deep.equal(none);
  });

  it('gets no log level that would end it or make it silent', () => {
    const level = (logLevel: string) =>
      engineEnvironment({ configYaml: '', logLevel, secrets: {} }, {}, '/c').env.VECTOR_LOG;
    for (const good of ['debug', 'off', 'vector=info,vector::sinks=debug', 'info,a-b.c=trace'])
      expect(level(good)).to.equal(good);
    for (const bad of [
      'a=b=c',
      'warning',
      'debug,',
      '=info',
      'vector=loud',
      '',
      'info\n',
      'x=info '.repeat(60),
    ])
      expect(level(bad), bad).to.equal('info');
  });

  it('gets the folder of the agent where its pipeline names the default of the engine, which yields', () => {
    expect(sidecar('data_dir: /var/lib/vector/\n')).to.include({ data_dir: '/d/data/p1' });
    expect(sidecar('data_dir: /var/lib/vector/p1\n')).not.to.have.property('data_dir');
  });

  it('gets the ports that follow from the order of starts', () => {
    const ports = new PortCounter(8688);
    expect([ports.allocate(), ports.allocate()]).to.deep.equal([
      { metrics: 8688, api: 8689 },
      { metrics: 8690, api: 8691 },
    ]);
  });

  it('keeps its ports while they are free, and gets the next free pair where one is taken', async () => {
    const holder = createServer().listen(await freePort(24_001), '127.0.0.1');
    await once(holder, 'listening');
    const base = (holder.address() as AddressInfo).port - 1;
    try {
      const ports = new PortCounter(base);
      const [first, second] = [ports.allocate(), ports.allocate()];
      expect(await ports.ensureFree(second)).to.deep.equal(second);
      // Not the second's, which its engine may be about to take; and no pair twice.
      const moved = await Promise.all([ports.ensureFree(first), ports.ensureFree(first)]);
      expect(new Set(moved.map(({ metrics }) => metrics)).size).to.equal(2);
      for (const { metrics, api } of moved) {
        expect(metrics).to.be.at.least(base + 4);
        expect(api).to.equal(metrics + 1);
      }
      const next = Math.max(...moved.map(({ api }) => api)) + 1;
      expect(ports.allocate().metrics).to.equal(next);
    } finally {
      holder.close();
    }
  });

  it('gets no ports above 65535, and is told which setting to change', async () => {
    const holder = createServer().listen(65_535, '127.0.0.1');
    await once(holder, 'listening');
    try {
      const ports = new PortCounter(65_534);
      const none = await ports.ensureFree(ports.allocate()).catch(String);
      expect(none)
        .to.match(
          /^PortError: address already in use: 127\.0\.0\.1:65535.*no free pair of ports up to 65535: .*SVC_PORT_BASE/,
        )
        .and.not.match(/restart the agent/);
      // What was not found costs nothing: the same search succeeds once the port is free.
      expect(await ports.ensureFree({ metrics: 65_532, api: 65_533 })).to.include({ metrics: 65_532 });
    } finally {
      holder.close();
    }
  });

  it('reports no port above 65535, so that the controller stores why its pipeline does not run', async () => {
    const directory = new DataDirectory(folder);
    directory.ensureRoot();
    const supervisor = new Supervisor({
      ...{ directory, portBase: 65_535, engineBin: '/bin/true', env: {}, clock: systemClock },
      ...{ log: createLogger('error', () => {}), onChange: () => {}, onLine: () => {} },
    });
    try {
      for (const pipelineId of ['one', 'two']) {
        const entry = { pipelineId, pipelineName: '', version: 1, configYaml: '', checksum: 'sha256:1' };
        supervisor.apply([{ ...entry, logLevel: 'info', secrets: {}, certFiles: [] }]);
        const problem = () => supervisor.find(pipelineId)?.lastError ?? '';
        await until(() => problem() !== '', { what: 'the start to fail' });
        expect(problem()).to.match(/is above 65535, and no free pair of ports .*SVC_PORT_BASE/);
      }
      const { body } = new HeartbeatBuilder().build(supervisor.list(), () => undefined, {});
      const sent = JSON.parse(JSON.stringify(body.pipelines)) as unknown[];
      expect(sent.map((report) => validator(PipelineReport).issues(report))).to.deep.equal([[], []]);
    } finally {
      await supervisor.stopAll();
    }
  });

  it('gets certificate files under plain names; two pipelines may share one but not differ in it', () => {
    const certificates = new Certificates(folder);
    const file = (filename: string, data = 'cGVt') => ({ name: 'c', filename, data });
    const entry = (pipelineId: string, certFiles: ReturnType<typeof file>[]) => ({
      pipelineId,
      pipelineName: '',
      version: 1,
      configYaml: '',
      checksum: '',
      logLevel: '',
      secrets: {},
      certFiles,
    });
    const one = entry('one', [file('ca.pem'), file('../x'), file('k.pem', '%%%')]);
    const two = entry('two', [file('ca.pem'), file('ca.pem', 'b3RoZXI=')]);
    certificates.claim([one, two]);
    expect(certificates.plan(one).write.map(({ path }) => path)).to.deep.equal([join(folder, 'ca.pem')]);
    expect(certificates.plan(one).refused).to.have.length(2);
    expect(certificates.plan(two).refused).to.have.length(1);
    expect(certificates.plan(two).refused[0]).to.contain('pipeline one has other content');
  });

  it('has a certificate removed once no pipeline names it', () => {
    const certificates = new Certificates(folder);
    const certFiles = [{ name: 'c', filename: 'ca.pem', data: 'cGVt' }];
    const entry = {
      pipelineId: 'p',
      pipelineName: '',
      version: 1,
      configYaml: '',
      checksum: '',
      logLevel: '',
      secrets: {},
      certFiles,
    };
    certificates.claim([entry]);
    const plan = certificates.plan(entry);
    writeFilesAtomically(plan.write);
    certificates.wrote(plan);
    writeFileSync(join(folder, 'theirs.pem'), '');
    certificates.claim([]);
    expect(readdirSync(folder)).to.deep.equal(['theirs.pem']);
  });
});

describe('files of the agent', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-unit-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are 0600 over a file that was not, and replace a link instead of following it', () => {
    writeFileSync(join(folder, 'open'), 'old');
    chmodSync(join(folder, 'open'), 0o644);
    writeFileSync(join(folder, 'target'), 'kept');
    symlinkSync(join(folder, 'target'), join(folder, 'link'));
    writeFilesAtomically([
      { path: join(folder, 'open'), data: 'new' },
      { path: join(folder, 'link'), data: 'new' },
    ]);
    expect(statSync(join(folder, 'open')).mode & 0o777).to.equal(0o600);
    expect(readFileSync(join(folder, 'target'), 'utf8')).to.equal('kept');
    expect(readFileSync(join(folder, 'link'), 'utf8')).to.equal('new');
  });

  it('are all as before when one cannot be written, and nothing half-written stays', () => {
    writeFileSync(join(folder, 'a'), 'old');
    const files = [
      { path: join(folder, 'a'), data: 'new' },
      { path: join(folder, 'missing/b'), data: 'new' },
    ];
    expect(() => writeFilesAtomically(files))
      .to.throw(WriteError)
      .with.property('path', join(folder, 'missing/b'));
    expect(readdirSync(folder)).to.deep.equal(['a']);
    expect(readFileSync(join(folder, 'a'), 'utf8')).to.equal('old');
  });

  it('belong to one agent: the second is refused until the first lets go', async () => {
    const unlock = await lockDirectory(folder);
    let refused: unknown;
    await lockDirectory(folder).catch((error: unknown) => {
      refused = error;
    });
    expect(refused).to.be.instanceOf(Error).with.property('name', 'LockedError');
    unlock();
    (await lockDirectory(folder))();
  });
});
