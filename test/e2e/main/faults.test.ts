/** What breaks on a node while it runs: an engine that is killed, an agent that is stopped. */
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import type { PipelineOnNode } from '../../../schemas/api/pipelines/on-nodes.ts';
import type { NodeAgent } from '../../support/agents/node-agent.ts';
import { Clone } from '../../support/clients/clone.ts';
import { idleManifest, namedPipeline, onNodes, untilRunning } from '../../support/fixtures/pipelines.ts';
import { enginesOf } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import { type Site, startSite } from '../../support/scenes/site.ts';
import { type CountingProxy, startCountingProxy } from '../../support/servers/counting-proxy.ts';

/** How often the agent asks, in milliseconds; a node is unreachable after three times that. */
const POLL_MS = 1_000;
/** After a fault, agents are watched for so long. */
const WATCHED_MS = 4_000;

describe('when something breaks on a node', function () {
  this.timeout(60_000);
  this.slow(30_000);
  let proxy: CountingProxy;
  let site: Site;
  let api: ApiClient;
  let agent: NodeAgent;
  let left: string;
  let right: string;

  before(async () => {
    let target = '';
    proxy = await startCountingProxy(() => target);
    site = await startSite({
      inProcess: true,
      fleet: { pollIntervalMs: POLL_MS },
      // Agents are told to open their push streams there.
      controller: { variables: { HEADGATE_BASE_URL: proxy.url } },
    });
    target = site.controller.url;
    api = await site.api();
    agent = await site.agent({ url: proxy.url });
    const clone = await Clone.of(site.cloneUrl());
    await clone.push('Two pipelines', {
      'staging/left.yaml': idleManifest('left'),
      'staging/right.yaml': idleManifest('right'),
    });
    await clone.remove();
    left = (await namedPipeline(api, site.environmentId, 'left')).id;
    right = (await namedPipeline(api, site.environmentId, 'right')).id;
    for (const id of [left, right]) await untilRunning(api, id, 1);
  });
  after(async () => {
    await site?.remove();
    await proxy?.close();
  });

  const health = async () => {
    const [node] = await site.nodes();
    return { status: node?.status, reason: node?.statusReason ?? '' };
  };
  const untilHealthy = () =>
    until(async () => (await health()).status === 'HEALTHY', {
      what: 'the node to be healthy',
      timeoutMs: 15_000,
      everyMs: 50,
    });

  it('an engine that is killed again and again is CRASHED and counted, then runs; others go on', async () => {
    const before = await untilRunning(api, left, 1);
    const other = enginesOf(right);
    const seen: PipelineOnNode[] = [];
    const degraded = new Set<string>();
    let pid = before.pid;
    for (const _ of [1, 2]) {
      process.kill(pid, 'SIGKILL');
      await until(
        async () => {
          seen.push(...(await onNodes(api, left)));
          const { status, reason } = await health();
          if (status === 'DEGRADED') degraded.add(reason);
          return enginesOf(left).some((one) => one !== pid);
        },
        { what: 'another engine', timeoutMs: 10_000, everyMs: 20 },
      );
      [pid = 0] = enginesOf(left);
    }
    const after = await untilRunning(api, left, 1);
    expect(enginesOf(left)).to.deep.equal([after.pid]);
    expect(after).to.include({ pid, restarts: before.restarts + 2 });

    const crashes = seen.filter(({ status }) => status === 'CRASHED');
    const restarts = [...new Set(crashes.map((one) => one.restarts - before.restarts))];
    // Who asks too seldom, on a busy machine, misses the one of a second.
    expect(restarts).to.deep.equal([1, 2].filter((nth) => restarts.includes(nth)));
    expect(restarts.at(-1)).to.equal(2);
    for (const { lastError } of crashes) expect(lastError).to.match(/^engine ended by SIGKILL/);
    expect([...degraded]).to.deep.equal(['Crashed: left']);
    await untilHealthy();

    expect(enginesOf(right)).to.deep.equal(other);
    expect((await untilRunning(api, right, 1)).restarts).to.equal(0);
  });

  it('an agent that is stopped is UNREACHABLE while its engines run, then well at once and without a storm', async () => {
    const engines = [enginesOf(left), enginesOf(right)];
    const pid = agent.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      await until(async () => (await health()).status === 'UNREACHABLE', {
        what: 'the node to be unreachable',
        timeoutMs: 10_000,
        everyMs: 50,
      });
      expect((await health()).reason).to.match(/^No heartbeat for \d+ s; check the agent/);
      expect([enginesOf(left), enginesOf(right)]).to.deep.equal(engines);
      expect((await onNodes(api, left))[0]).to.include({ nodeHealth: 'UNREACHABLE', status: 'RUNNING' });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const since = performance.now();
    await untilHealthy();
    console.log(`      (well again ${Math.round(performance.now() - since)} ms after SIGCONT)`);
    await until(() => performance.now() - since > WATCHED_MS, { what: 'time to pass', everyMs: 50 });
    const counts = requestsSince(since);
    console.log(`      (in ${WATCHED_MS} ms: ${JSON.stringify(counts)})`);
    const polls = WATCHED_MS / POLL_MS;
    // One by the clock each, one more for a stream that was opened anew and one for a revision that was missed.
    expect(counts.config).to.be.within(polls - 2, polls + 3);
    expect(counts.heartbeat).to.be.within(polls - 2, polls + 3);
    expect(counts.push ?? 0).to.be.at.most(1);
    expect(counts.logs ?? 0).to.be.at.most(WATCHED_MS / 1_000);
    expect([enginesOf(left), enginesOf(right)]).to.deep.equal(engines);
  });

  function requestsSince(since: number): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { at, what } of proxy.requests()) {
      const name = /\/api\/agent\/(\w+)/.exec(what)?.[1];
      if (name && at >= since && at < since + WATCHED_MS) counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }
});
