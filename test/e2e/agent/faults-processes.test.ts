/** The compiled agent and its engines, when either is killed, swapped or counted in hundreds. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';
import { ensureAgent, FAKE_ENGINE, isAlive } from './agent-process.ts';
import { faulty, makeScene, residentBytes, type Scene } from './scene.ts';

describe('engines when the agent or they themselves are killed, swapped or many', function () {
  this.timeout(60_000);
  let scene: Scene;

  before(ensureAgent);
  beforeEach(async () => {
    scene = await makeScene();
  });
  afterEach(() => scene.close());

  const starts = (output: string, id: string) =>
    [...output.matchAll(new RegExp(`msg="engine started" pipeline=${id} `, 'g'))].length;

  it('are told from other programs that name their files, after the agent was killed', async () => {
    const { server, place, run, reach } = scene;
    server.pipelines = ['p1', 'p2', 'p3'].map((id) => faulty(id, 'idle'));
    const killed = run();
    await reach('p3', 'RUNNING');
    killed.child.kill('SIGKILL');
    await killed.ended;
    const left = place.engines();
    const config = place.path('pipelines/p1.yaml');
    // An editor, an engine of another directory, and one whose name only begins alike.
    const strangers = [
      ['-c', 'sleep 1000 & wait', 'vi', config],
      ['-c', 'sleep 1000 & wait', 'x', '--config', `${place.dir}/other/p1.yaml`],
      ['-c', 'sleep 1000 & wait', 'x', '--config', `${place.dataDir}/pipelines-2/p1.yaml`, '--config', 'y'],
    ].map((args): ChildProcess => spawn('/bin/sh', args, { detached: true, stdio: 'ignore' }));
    try {
      expect(left).to.have.length(3);
      const startedAt = Date.now();
      server.heartbeats = [];
      run();
      await until(() => left.every((pid) => !isAlive(pid)), { what: 'those that were left have ended' });
      expect(Date.now() - startedAt).to.be.below(patient(5_000));
      await reach('p3', 'RUNNING');
      for (const { pid } of strangers) expect(isAlive(pid ?? 0), `${pid} lives`).to.equal(true);
      // The ports of the first run: nobody else held them any more.
      for (const id of ['p1', 'p2', 'p3']) expect(server.statuses(id)).to.deep.equal(['STARTING', 'RUNNING']);
    } finally {
      for (const { pid } of strangers) if (pid) process.kill(-pid, 'SIGKILL');
    }
  });

  it('run on while an agent that was started anew cannot ask the controller, and end with it', async () => {
    const { server, place, run, reach } = scene;
    server.pipelines = ['p1', 'p2'].map((id) => faulty(id, 'idle'));
    const killed = run();
    await reach('p2', 'RUNNING');
    killed.child.kill('SIGKILL');
    await killed.ended;
    const left = place.engines();
    expect(left).to.have.length(2);
    let polls = 0;
    server.override.config = (_, response) => {
      polls += 1;
      response.writeHead(503).end();
    };
    const waiting = run({ SVC_POLL_INTERVAL: '500ms' });
    await until(() => polls >= 3, { what: 'it has asked three times' });
    expect(place.engines()).to.have.members(left);
    waiting.child.kill('SIGTERM');
    expect(await waiting.ended).to.equal(0);
    expect(place.engines()).to.deep.equal([]);
  });

  it('hold up no heartbeat where one of an earlier run ignores SIGTERM, and start when it is gone', async () => {
    const { server, place, run, reach } = scene;
    server.pipelines = [faulty('p1', 'ignore-term')];
    const killed = run();
    await reach('p1', 'RUNNING');
    killed.child.kill('SIGKILL');
    await killed.ended;
    const [stubborn = 0] = place.engines();
    server.pipelines = [faulty('p1', 'idle')];
    server.heartbeats = [];
    run();
    await until(() => server.heartbeats.length >= 4, { what: 'heartbeats go on' });
    expect(place.engines()).to.deep.equal([stubborn]);
    expect(server.report('p1')).to.equal(undefined);
    process.kill(-stubborn, 'SIGKILL');
    await reach('p1', 'RUNNING');
    expect(server.statuses('p1')).to.deep.equal(['STARTING', 'RUNNING']);
  });

  it('leaves no engine and no half file when it is told to end at any moment of a change', async () => {
    const { server, place, run, reach } = scene;
    server.pipelines = [faulty('p1', 'idle'), faulty('p2', 'exit-78')];
    for (const delayMs of [0, 20, 60]) {
      const agent = run();
      await reach('p2', 'CRASHED');
      await reach('p1', 'RUNNING');
      server.pipelines = [
        faulty('p1', 'idle', {}, `after ${delayMs}`),
        faulty('p2', 'exit-78'),
        faulty('p3', 'idle'),
      ];
      server.push({ type: 'config_changed', reason: 'deploy' });
      await new Promise((done) => setTimeout(done, delayMs));
      agent.child.kill('SIGTERM');
      expect(await agent.ended).to.equal(0);
      expect(place.engines()).to.deep.equal([]);
      expect(readdirSync(place.path('pipelines')).filter((name) => name.endsWith('.svc-tmp'))).to.deep.equal(
        [],
      );
      const output = agent.output();
      expect(output.slice(output.indexOf('msg=stopping'))).not.to.contain('engine started');
      server.pipelines = server.pipelines.slice(0, 2);
      server.heartbeats = [];
    }
  });

  it('run the newest of twenty configs that came while the first was starting, once', async () => {
    const { server, place, run, reach } = scene;
    server.pipelines = [faulty('p1', 'idle', { version: 1 })];
    const agent = run();
    await until(() => agent.output().includes('msg="engine started"'), { what: 'the first engine starts' });
    for (let version = 2; version <= 20; version += 1) {
      server.pipelines = [faulty('p1', 'idle', { version }, `version ${version}`)];
      server.push({ type: 'config_changed', reason: `deploy ${version}` });
      await new Promise((done) => setTimeout(done, 15));
    }
    await until(() => server.report('p1')?.version === 20, { what: 'the newest is reported' });
    await reach('p1', 'RUNNING');
    expect(place.engines()).to.have.length(1);
    expect(readFileSync(place.path('pipelines/p1.yaml'), 'utf8')).to.contain('version 20');
    expect(server.report('p1')).to.include({ restarts: 0, configChecksum: server.pipelines[0]?.checksum });
    expect(server.statuses('p1')).not.to.include('CRASHED');
    expect(starts(agent.output(), 'p1')).to.be.at.most(20);
  });

  it('whose executable was removed are CRASHED when they end, and run again once it is back', async () => {
    const { server, place, run, reach } = scene;
    const engine = `${place.dir}/engine`;
    symlinkSync(FAKE_ENGINE, engine);
    server.pipelines = [faulty('p1', 'idle'), faulty('p2', 'idle')];
    run({ SVC_ENGINE_BIN: engine });
    await reach('p1', 'RUNNING');
    await reach('p2', 'RUNNING');
    const other = server.report('p2')?.pid;
    rmSync(engine);
    process.kill(-(server.report('p1')?.pid ?? 0), 'SIGKILL');
    const told = () => server.report('p1')?.lastError ?? '';
    await until(() => told().includes('executable not found'), { what: () => `it is told: ${told()}` });
    expect(server.report('p1')).to.include({ status: 'CRASHED', pid: null });
    expect(told()).to.contain('engine ended by SIGKILL').and.to.contain('set SVC_ENGINE_BIN');
    symlinkSync(FAKE_ENGINE, engine);
    await reach('p1', 'RUNNING');
    expect(server.report('p1')?.restarts).to.equal(1);
    expect(server.report('p2')).to.include({ status: 'RUNNING', pid: other, restarts: 0 });
  });

  it('that are given more secrets than a process may hold are CRASHED with that reason, and the others run', async () => {
    const { server, run, reach } = scene;
    const secrets = { SVC_SECRET_LARGE: 'large'.repeat(200_000) };
    server.pipelines = [faulty('p1', 'idle', { secrets }), faulty('p2', 'idle')];
    const agent = run();
    await reach('p2', 'RUNNING');
    await reach('p1', 'CRASHED');
    expect(server.report('p1')?.lastError).to.match(/^start of engine for pipeline failed: .*E2BIG/);
    expect(agent.output()).not.to.contain('largelarge');
    server.pipelines = [faulty('p1', 'idle', { version: 2 }), faulty('p2', 'idle')];
    await reach('p1', 'RUNNING');
  });
});

describe('a node with 200 pipelines', function () {
  this.timeout(120_000);
  const COUNT = 200;
  let scene: Scene;

  before(async () => {
    await ensureAgent();
    scene = await makeScene(2 * COUNT);
  });
  after(() => scene.close());

  it('starts them all, changes one without touching the others, and stops all at once', async () => {
    const { server, place, run } = scene;
    const ids = Array.from({ length: COUNT }, (_, number) => `p${number}`);
    server.pollIntervalMs = 1_000;
    server.pipelines = ids.map((id) => faulty(id, 'idle'));
    const agent = run({ SVC_LOG_LEVEL: 'info' });
    const running = () =>
      server.heartbeats.at(-1)?.pipelines.filter(({ status }) => status === 'RUNNING').length;
    await until(() => running() === COUNT, { what: () => `all run: ${running()}`, timeoutMs: 60_000 });
    const before = new Map(ids.map((id) => [id, server.report(id)?.pid]));
    expect(new Set(before.values()).size).to.equal(COUNT);
    server.pipelines = ids.map((id) => faulty(id, 'idle', {}, id === 'p7' ? 'changed' : ''));
    server.push({ type: 'config_changed', reason: 'deploy' });
    await until(() => server.report('p7')?.pid !== before.get('p7') && running() === COUNT, {
      what: 'the changed one runs anew',
      timeoutMs: 20_000,
    });
    for (const id of ids) {
      if (id !== 'p7') expect(server.report(id)?.pid, id).to.equal(before.get(id));
    }
    expect(residentBytes(agent.pid)).to.be.below(100 * 1024 * 1024);
    agent.child.kill('SIGTERM');
    expect(await agent.ended).to.equal(0);
    expect(place.engines()).to.deep.equal([]);
  });
});
