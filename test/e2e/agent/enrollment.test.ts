import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { deploymentMode } from '../../../agent/report/deployment-mode.ts';
import { ensureAgent, makeWorkplace, type Workplace } from './agent-process.ts';
import { pipeline, type ScriptedServer, send, startServer } from './scripted-server.ts';

describe('enrollment and the start of the agent', function () {
  this.timeout(30_000);
  let server: ScriptedServer;
  let place: Workplace;

  before(ensureAgent);
  beforeEach(async () => {
    server = await startServer();
    place = await makeWorkplace();
  });
  afterEach(async () => {
    await place.clean();
    await server.close();
  });

  const env = () => ({ SVC_URL: server.url, SVC_TOKEN: 'enroll-me' });
  const until: Workplace['until'] = (...args) => place.until(...args);
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const heartbeat = (count = 1) =>
    until(() => server.heartbeats.length >= count, { what: `heartbeat ${count} has come` });

  it('enrolls once, keeps the token 0600 under umask 0, and uses it on the next start', async () => {
    const first = place.runCompiled({ ...env(), SVC_LABELS: 'rack=7' }, [], 'umask 0');
    await heartbeat();
    expect(server.enrollments).to.have.length(1);
    expect(server.enrollments[0]).to.deep.include({
      token: 'enroll-me',
      os: `${process.platform}/${process.arch}`,
      agentVersion: 'v0.1.0',
      engineVersion: 'fake-engine 1.0',
      channel: 'stable',
      labels: { rack: '7' },
    });
    expect(readFileSync(place.path('node-token'), 'utf8').trim()).to.equal(server.token);
    expect(mode(place.path('node-token'))).to.equal('600');
    expect(mode(place.dataDir)).to.equal('700');
    expect(await first.terminate()).to.equal(0);
    const beats = server.heartbeats.length;
    place.runCompiled({ SVC_URL: server.url });
    await heartbeat(beats + 1);
    expect(server.enrollments).to.have.length(1);
  });

  it('says which channel it follows, which user it runs as, and in what kind of place', async () => {
    place.run(env(), ['--channel=dev']);
    await until(() => server.heartbeats.length > 0, { what: 'a heartbeat' });
    expect(server.enrollments[0]?.channel).to.equal('dev');
    expect(server.heartbeats[0]).to.include({
      runningAs: execFileSync('id', ['-un'], { encoding: 'utf8' }).trim(),
      deploymentMode: deploymentMode(),
    });
  });

  it('keeps folders 0700 and files 0600 under umask 0', async () => {
    server.pipelines = [pipeline('p1', { certFiles: [{ name: 'ca', filename: 'ca.pem', data: 'cGVt' }] })];
    const umask = process.umask(0);
    try {
      place.run(env());
      await until(() => server.report('p1')?.status === 'RUNNING', { what: 'the pipeline runs' });
    } finally {
      process.umask(umask);
    }
    for (const folder of ['pipelines', 'certs', 'data/p1'])
      expect(mode(place.path(folder)), folder).to.equal('700');
    for (const file of ['pipelines/p1.yaml', 'pipelines/p1.yaml.svc-metrics.yaml', 'certs/ca.pem']) {
      expect(mode(place.path(file)), file).to.equal('600');
    }
  });

  it('closes a token file that others could read', async () => {
    mkdirSync(place.dataDir, { recursive: true });
    writeFileSync(place.path('node-token'), `${server.token}\n`, { mode: 0o644 });
    place.run({ SVC_URL: server.url });
    await heartbeat();
    expect(mode(place.path('node-token'))).to.equal('600');
  });

  it('writes a lost token file again, but not while the controller refuses the token', async () => {
    const agent = place.run({ ...env(), SVC_POLL_INTERVAL: '500ms' });
    await heartbeat();
    rmSync(place.path('node-token'));
    await until(() => existsSync(place.path('node-token')), { what: 'the file is back' });
    expect(readFileSync(place.path('node-token'), 'utf8')).to.equal(`${server.token}\n`);
    expect(mode(place.path('node-token'))).to.equal('600');
    server.override.config = (_, response) => send(response, 401, { error: 'revoked', code: 'NODE_REVOKED' });
    const refusals = () => server.polls.filter(({ status }) => status === 401).length;
    await until(() => refusals() >= 1, { what: 'the token is refused' });
    rmSync(place.path('node-token'));
    const before = refusals();
    await until(() => refusals() >= before + 2, { what: 'it is asked for on' });
    expect(existsSync(place.path('node-token'))).to.equal(false);
    expect(await agent.terminate()).to.equal(0);
    expect(existsSync(place.path('node-token'))).to.equal(false);
  });

  it('replaces a symbolic link at the token file and leaves its target alone', async () => {
    mkdirSync(place.dataDir, { recursive: true });
    symlinkSync(`${place.dir}/elsewhere`, place.path('node-token'));
    place.run(env());
    await heartbeat();
    expect(existsSync(`${place.dir}/elsewhere`)).to.equal(false);
    expect(readFileSync(place.path('node-token'), 'utf8').trim()).to.equal(server.token);
  });

  const failures: { reason: string; message: string; env: () => Record<string, string>; args?: string[] }[] =
    [
      { reason: 'no address', message: 'config error: SVC_URL is required', env: () => ({}) },
      {
        reason: 'nobody listens',
        message: 'enrollment failed: connection refused',
        env: () => ({ SVC_URL: `http://127.0.0.1:${place.portBase}`, SVC_TOKEN: 't' }),
      },
      {
        reason: 'no token at all',
        message: 'no node token found and SVC_TOKEN is not set',
        env: () => ({ SVC_URL: server.url }),
      },
      {
        reason: 'a wrong duration',
        message: 'config error: SVC_POLL_INTERVAL must be a duration such as 10s or 1m30s, from 100ms to 24h',
        env: () => ({ ...env(), SVC_POLL_INTERVAL: 'soon' }),
      },
      {
        reason: 'an unknown channel',
        message: 'config error: --channel must be stable or dev',
        env,
        args: ['--channel', 'nightly'],
      },
    ];
  for (const { reason, message, env: environment, args } of failures) {
    it(`says what is wrong and does not start: ${reason}`, async () => {
      const agent = place.run(environment(), args);
      expect(await agent.ended).to.equal(1);
      expect(agent.output().split('\n')[0]).to.equal(message);
    });
  }

  it('exits with 1 where it does not start, and prints why on stderr', async () => {
    const agent = place.runCompiled({ SVC_URL: 'http://127.0.0.1:1', SVC_TOKEN: 't' });
    expect(await agent.ended).to.equal(1);
    expect(agent.output()).to.match(
      /^enrollment failed: connection refused\nCheck that http:\/\/127\.0\.0\.1:1 is right/,
    );
  });

  for (const status of [401, 403]) {
    it(`names status ${status} of the enrollment and writes no token`, async () => {
      server.override.enroll = (_, response) => send(response, status, { error: 'no' });
      const agent = place.run(env());
      expect(await agent.ended).to.equal(1);
      expect(agent.output().split('\n')[0]).to.equal(`enrollment failed: (status ${status})`);
      expect(agent.output()).to.contain('SVC_TOKEN').and.not.to.contain('enroll-me');
      expect(existsSync(place.path('node-token'))).to.equal(false);
    });
  }

  it('refuses an enrollment answer that is not one', async () => {
    server.override.enroll = (_, response) => send(response, 200, { nodeId: '../x', nodeToken: '' });
    const agent = place.run(env());
    expect(await agent.ended).to.equal(1);
    expect(agent.output()).to.match(/^enrollment failed: unexpected answer/);
    expect(existsSync(place.path('node-token'))).to.equal(false);
  });

  it('refuses a data directory that another agent uses, under any of its names', async () => {
    place.run(env());
    await heartbeat();
    symlinkSync(place.dataDir, `${place.dir}/other-name`);
    const second = place.runCompiled({ ...env(), SVC_DATA_DIR: `${place.dir}/other-name` });
    expect(await second.ended).to.equal(1);
    expect(second.output()).to.match(/^another agent uses .*: stop it, or set SVC_DATA_DIR/);
  });

  it('serves its own metrics, and goes on without them where the port is taken', async () => {
    const holder = createHttpServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const metrics = { SVC_METRICS_PORT: String(port), SVC_METRICS_HOST: '127.0.0.1' };
    const without = place.run({ ...env(), ...metrics });
    await heartbeat();
    await until(() => without.output().includes('no metrics endpoint'), { what: 'the taken port is told' });
    await without.terminate();
    holder.close();
    await once(holder, 'close');
    place.run({ ...env(), ...metrics });
    let text = '';
    await until(
      async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
        text = (await answer?.text()) ?? '';
        return /^svc_agent_push_connected 1$/m.test(text);
      },
      { what: 'the metrics are served' },
    );
    expect(text).to.match(/^svc_agent_uptime_seconds [\d.]+$/m);
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).to.equal(404);
  });

  it('prints version and help without any setting', async () => {
    for (const flag of ['-v', '--version']) {
      const agent = place.runCompiled({}, [flag]);
      expect(await agent.ended).to.equal(0);
      expect(agent.output()).to.equal('v0.1.0\n');
    }
    const help = place.runCompiled({}, ['--help']);
    expect(await help.ended).to.equal(0);
    for (const name of ['SVC_URL', 'SVC_TOKEN', 'SVC_AGENT_USER', '--channel'])
      expect(help.output()).to.contain(name);
  });

  it('takes no settings from files in the folder it is started in', async () => {
    writeFileSync(`${place.dir}/.env`, `SVC_URL=${server.url}\n`);
    const agent = place.runCompiled({}, [], `cd ${place.dir}`);
    expect(await agent.ended).to.equal(1);
    expect(agent.output()).to.contain('SVC_URL is required');
  });
});
