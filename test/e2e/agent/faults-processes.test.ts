/** Engines, when they or the agent are killed or swapped. Only what is killed itself is the compiled agent. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { ensureAgent, FAKE_ENGINE, isAlive } from './agent-process.ts';
import { faulty, makeScene, type Scene } from './scene.ts';

describe('engines when the agent or they themselves are killed, swapped or many', function () {
  this.timeout(60_000);
  let scene: Scene;

  before(ensureAgent);
  beforeEach(async () => {
    scene = await makeScene();
  });
  afterEach(() => scene.close());
  const until: Scene['until'] = (...args) => scene.until(...args);

  /** An engine that still has to write its first line ends with the agent that reads it. */
  const untilSpoken = (...ids: string[]) =>
    until(() => ids.every((id) => scene.logs(id).some((line) => line.startsWith('started with'))), {
      what: 'all engines have written a line',
    });
  const starts = (output: string, id: string) =>
    [...output.matchAll(new RegExp(`msg="engine started" pipeline=${id} `, 'g'))].length;

  it('are told from other programs that name their files, after the agent was killed', async () => {
    const { server, place, run, runCompiled, reach } = scene;
    server.pipelines = ['p1', 'p2', 'p3'].map((id) => faulty(id, 'idle'));
    const killed = runCompiled();
    await untilSpoken('p1', 'p2', 'p3');
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
      server.heartbeats = [];
      run();
      await until(() => left.every((pid) => !isAlive(pid)), { what: 'those that were left have ended' });
      await reach('p3', 'RUNNING');
      for (const { pid } of strangers) expect(isAlive(pid ?? 0), `${pid} lives`).to.equal(true);
      // The ports of the first run: nobody else held them any more.
      for (const id of ['p1', 'p2', 'p3']) expect(server.statuses(id)).to.deep.equal(['STARTING', 'RUNNING']);
    } finally {
      for (const { pid } of strangers) if (pid) process.kill(-pid, 'SIGKILL');
    }
  });

  it('run on while an agent that was started anew cannot ask the controller, and end with it', async () => {
    const { server, place, run, runCompiled } = scene;
    server.pipelines = ['p1', 'p2'].map((id) => faulty(id, 'idle'));
    const killed = runCompiled();
    await untilSpoken('p1', 'p2');
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
    expect(await waiting.terminate()).to.equal(0);
    expect(place.engines()).to.deep.equal([]);
  });

  it('hold up no heartbeat where one of an earlier run ignores SIGTERM, and start when it is gone', async () => {
    const { server, place, run, runCompiled, reach } = scene;
    server.pipelines = [faulty('p1', 'ignore-term')];
    const killed = runCompiled();
    await untilSpoken('p1');
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
      expect(await agent.terminate()).to.equal(0);
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
