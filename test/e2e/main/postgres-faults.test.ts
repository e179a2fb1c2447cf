/** The embedded Postgres is killed or hangs: what runs runs on, people are told, and nothing that was pushed is lost. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { unexplainedLines } from '../../support/fixtures/unexplained.ts';
import { ROOT } from '../../support/harness/controller.ts';
import { postmasterPid, processesBelow } from '../../support/harness/embedded-cluster.ts';
import { environmentOf, processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import { type RunningSite, startRunningSite } from '../../support/scenes/running-site.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/servers/holding-proxy.ts';

const HUNG_MS = 5_000;
/** Heartbeats after all is well again, a second each. */
const WATCHED_BEATS = 3;
const AWAY = /^The database does not answer at the moment\. Try again in a few seconds/;

describe('when the embedded Postgres', function () {
  this.timeout(90_000);
  this.slow(40_000);
  let site: RunningSite;
  let proxy: HoldingProxy;

  before(async () => {
    site = await startRunningSite({ inProcess: true, embedded: true });
    proxy = await startHoldingProxy(site.controller.url);
  });
  beforeEach(untilWell);
  after(async () => {
    await proxy?.close();
    await site?.remove();
  });

  const log = () => site.controller.output();
  const isReceiving = () =>
    processesNaming(site.gitdir).some(({ pid }) => environmentOf(pid).REQUEST_METHOD === 'POST');
  const cluster = () => join(site.dataDir, 'postgres');
  async function untilWell(): Promise<void> {
    await until(async () => (await site.health()).status === 200, {
      what: () => `health to be well:\n${log()}`,
      timeoutMs: 20_000,
      everyMs: 50,
    });
  }

  /** Once a heartbeat of after the fault is stored, the node is well, and stays so. */
  async function nodeIsWell(): Promise<void> {
    const heard = async () => {
      const [node] = await site.nodes();
      return { at: String(node?.lastHeartbeatAt), status: node?.status, reason: node?.statusReason };
    };
    const before = (await heard()).at;
    await until(async () => (await heard()).at !== before, {
      what: 'a heartbeat to be stored',
      timeoutMs: 15_000,
      everyMs: 50,
    });
    const beats = new Set<string>();
    const seen = new Set<string>();
    await until(
      async () => {
        const { at, status, reason } = await heard();
        beats.add(at);
        seen.add(`${status} ${reason}`.trim());
        return beats.size > WATCHED_BEATS;
      },
      { what: 'some heartbeats', timeoutMs: 30_000, everyMs: 50 },
    );
    expect([...seen].filter((one) => !/^(HEALTHY|DEGRADED Not yet on)/.test(one))).to.deep.equal([]);
  }

  it('is killed and cannot start, the API says so; a push on its way is kept, the next one refused in words', async () => {
    const before = { engines: site.engines(), events: await site.events() };
    const kept = await site.commitChange('on its way');
    const through = new URL(site.cloneUrl());
    through.host = new URL(proxy.url).host;
    const onItsWay = site.git.run('push', through.href, 'main');
    // Its token and role are checked by then.
    await until(isReceiving, { what: 'the push to be received', timeoutMs: 10_000 });
    const pid = postmasterPid(site.dataDir);
    renameSync(cluster(), `${cluster()}-away`);
    let refused: string;
    try {
      process.kill(pid, 'SIGKILL');
      await until(() => log().includes('does not start yet'), { what: log, timeoutMs: 15_000 });
      expect(await site.health()).to.deep.equal({
        status: 503,
        body: { status: 'error', reason: 'database', message: 'The database does not answer' },
      });
      const signIn = await send(`${site.controller.url}/api/auth/sign-in`, { body: ROOT });
      expect(signIn.status).to.equal(503);
      expect(signIn.json<{ error: string }>().error).to.match(AWAY);
      const asked = await site.status().catch((error: Error) => error.message);
      expect(asked).to.match(/The database does not answer at the moment/);

      proxy.release();
      const pushed = await onItsWay;
      expect(pushed.code, pushed.stderr).to.equal(0);
      expect(pushed.stderr).to.match(
        /^remote: Headgate: the push is stored, and applied as soon as that is possible \(The database does not answer/m,
      );
      refused = await site.commitChange('refused at first');
      const again = await site.push();
      expect(again.code).not.to.equal(0);
      expect(again.stderr).to.match(/^remote: The database does not answer at the moment/m);
      expect(site.engines()).to.deep.equal(before.engines);
    } finally {
      renameSync(`${cluster()}-away`, cluster());
    }

    await untilWell();
    await site.untilApplied(kept);
    await nodeIsWell();
    const taken = await site.push();
    expect(taken.code, taken.stderr).to.equal(0);
    expect(taken.stderr).to.match(/^remote: {3}~ left: version 3/m);
    await site.untilApplied(refused);
    await site.untilLeftRuns();
    expect(site.rightEngines()).to.deep.equal([before.engines[1]]);
    await until(async () => (await site.events()) > before.events, { what: 'events', timeoutMs: 10_000 });
  });

  it('hangs, a push waits for it and is applied', async () => {
    const before = { engines: site.engines(), events: await site.events() };
    const sha = await site.commitChange('while it hung');
    const pids = processesBelow(postmasterPid(site.dataDir));
    const since = performance.now();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    let pushed: ReturnType<RunningSite['push']>;
    try {
      pushed = site.push();
      await until(() => performance.now() - since > HUNG_MS, {
        what: 'the time that it hangs to pass',
        timeoutMs: 2 * HUNG_MS,
        everyMs: 50,
      });
      expect(site.engines()).to.deep.equal(before.engines);
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
    const { code, stderr } = await pushed;
    expect(code, stderr).to.equal(0);
    expect(stderr).to.match(/^remote: (staging|Headgate)[: ]/m);
    await untilWell();
    await site.untilApplied(sha);
    await site.untilLeftRuns();
    await nodeIsWell();
    expect(site.rightEngines()).to.deep.equal([before.engines[1]]);
    await until(async () => (await site.events()) > before.events, { what: 'events', timeoutMs: 10_000 });
  });

  it('has left no error unexplained', () => {
    expect(unexplainedLines(log())).to.deep.equal([]);
  });
});
