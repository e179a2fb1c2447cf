/**
 * One test in real time for each long limit of the compiled agent; the others run on a clock moved by hand. All begin
 * together, so that the file takes as long as the longest: the crashes, which come to the wait of 60 s after 63 s.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { type AgentProcess, ensureAgent, isAlive } from '../e2e/agent/agent-process.ts';
import { faulty, makeScene, type Scene, zombiesOf } from '../e2e/agent/scene.ts';
import { patient } from '../support/harness/patience.ts';
import { until } from '../support/harness/until.ts';

describe('long limits of the agent in real time', function () {
  this.timeout(160_000);
  const scenes: Scene[] = [];
  const begun: Record<string, Promise<void>> = {};
  let wire: FreezingProxy;

  before(async () => {
    await ensureAgent();
    const tests = { stopsStubborn, endsStubborn, countsCrashes, reconnects, noticesSilence };
    for (const [name, test] of Object.entries(tests)) {
      const scene = await makeScene();
      scenes.push(scene);
      begun[name] = test(scene);
      // Told by the test that waits for it.
      begun[name].catch(() => {});
    }
  });
  after(async () => {
    wire?.close();
    for (const scene of scenes) await scene.close();
  });

  const titles = {
    stopsStubborn: 'kills an engine that ignores SIGTERM 30 s after its pipeline was taken away',
    endsStubborn: 'ends 30 s after SIGTERM where an engine ignores it, and the others end at once',
    countsCrashes:
      'starts an engine that crashes again after 1, 2, 4, 8, 16, 32 and 60 s, and leaves no zombie',
    reconnects: 'tries the push channel again after up to 1, 2, 4, 8 and 16 s',
    noticesSilence: 'notices after 75 s that a push stream is dead that nobody closed, and opens another',
  };
  for (const [name, title] of Object.entries(titles)) {
    it(title, () => begun[name]);
  }

  async function runStubborn(scene: Scene): Promise<{ agent: AgentProcess; pid: number }> {
    scene.server.pipelines = [faulty('stubborn', 'ignore-term'), faulty('p2', 'idle')];
    const agent = scene.runCompiled();
    await scene.reach('stubborn', 'RUNNING', 20_000);
    return { agent, pid: scene.server.report('stubborn')?.pid ?? 0 };
  }

  async function stopsStubborn(scene: Scene): Promise<void> {
    const { agent, pid } = await runStubborn(scene);
    scene.server.pipelines = [faulty('p2', 'idle')];

    const startedAt = Date.now();
    await until(() => !isAlive(pid), { what: 'it is killed', timeoutMs: 40_000, everyMs: 50 });
    // Up to one poll passes before the agent knows.
    expect(Date.now() - startedAt).to.be.within(29_900, 30_000 + patient(2_500));
    await until(() => agent.output().includes('engine did not end in time and is killed'), {
      what: 'the log',
    });
    expect(scene.server.report('p2')?.status).to.equal('RUNNING');
  }

  async function endsStubborn(scene: Scene): Promise<void> {
    const { agent, pid } = await runStubborn(scene);
    const other = scene.server.report('p2')?.pid ?? 0;
    const startedAt = Date.now();
    agent.child.kill('SIGTERM');
    await until(() => !isAlive(other), { what: 'the other engine ends' });
    expect(await agent.ended).to.equal(0);
    expect(Date.now() - startedAt).to.be.within(29_900, 30_000 + patient(3_000));
    expect(isAlive(pid)).to.equal(false);
  }

  async function countsCrashes(scene: Scene): Promise<void> {
    scene.server.pipelines = [faulty('p1', 'exit-78')];
    const agent = scene.runCompiled();
    const starts = () =>
      [...agent.output().matchAll(/time=(\S+) .*msg="engine started" pipeline=p1 /g)].map((line) =>
        Date.parse(line[1] ?? ''),
      );
    await until(() => starts().length >= 8, { what: 'eight starts', timeoutMs: 150_000, everyMs: 100 });
    const at = starts();
    for (const [index, seconds] of [1, 2, 4, 8, 16, 32, 60].entries()) {
      const waited = (at[index + 1] ?? 0) - (at[index] ?? 0);
      expect(waited, `wait ${index + 1}`).to.be.within(seconds * 1_000 - 5, seconds * 1_000 + patient(1_500));
    }
    expect(zombiesOf(agent.pid)).to.deep.equal([]);
  }

  async function reconnects(scene: Scene): Promise<void> {
    const tries: number[] = [];
    scene.server.override.push = (_, response) => {
      tries.push(Date.now());
      response.writeHead(503).end();
    };
    scene.runCompiled();
    await until(() => tries.length >= 6, { what: 'six tries', timeoutMs: 60_000, everyMs: 100 });
    for (const [index, seconds] of [1, 2, 4, 8, 16].entries()) {
      const waited = (tries[index + 1] ?? 0) - (tries[index] ?? 0);
      expect(waited, `wait ${index + 1}`).to.be.within(seconds * 500 - 5, seconds * 1_000 + patient(1_000));
    }
  }

  async function noticesSilence(scene: Scene): Promise<void> {
    const { server } = scene;
    wire = await startFreezingProxy(Number(new URL(server.url).port));
    server.pushUrl = `${wire.url}/api/agent/push`;
    server.pollIntervalMs = 2_000;
    scene.runCompiled();
    const health = () => server.heartbeats.at(-1)?.agentHealth;
    await until(() => wire.open() === 1 && health()?.pushConnected === true, {
      what: 'the push stream goes through the wire',
      timeoutMs: 10_000,
    });
    const frozenAt = Date.now();
    wire.freeze();
    await until(() => wire.open() === 2, { what: 'another is opened', timeoutMs: 90_000, everyMs: 100 });
    expect(Date.now() - frozenAt).to.be.within(70_000, 70_000 + patient(10_000));
    await until(() => health()?.pushReconnectsTotal === 1 && health()?.pushConnected === true, {
      what: 'one reconnect is told',
    });
    // Heartbeats and polls went on all the while.
    expect(server.heartbeats.length).to.be.greaterThan(30);
  }
});

interface FreezingProxy {
  url: string;
  /** How many connections there have been. */
  open(): number;
  /** Connections of this moment stay open and bring nothing any more, as if the cable were cut. */
  freeze(): void;
  close(): void;
}

async function startFreezingProxy(port: number): Promise<FreezingProxy> {
  const pairs: [near: Socket, far: Socket][] = [];
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far);
    far.pipe(near);
    for (const end of [near, far]) end.on('error', () => {});
    pairs.push([near, far]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => pairs.length,
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
      }
    },
    close() {
      for (const end of pairs.flat()) end.destroy();
      server.close();
    },
  };
}
