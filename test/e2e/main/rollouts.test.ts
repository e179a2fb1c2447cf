/** Rollouts by stages with real agents and engines: what every node really runs, and what the loop does by itself. */
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import type { RolloutSummary } from '../../../schemas/api/delivery/rollouts.ts';
import type { PipelineOnNode } from '../../../schemas/api/pipelines/on-nodes.ts';
import { GitClient } from '../../support/clients/git-client.ts';
import { namedPipeline, onNodes } from '../../support/fixtures/pipelines.ts';
import { enginesOf } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import { putBackWindow } from '../../support/scenes/rollouts.ts';
import { type Site, startSite } from '../../support/scenes/site.ts';

const NAMES = ['one', 'two', 'three'];
const NAME = 'stream';

/** A hundred events a second; `more` is another source, whose events go nowhere. */
const manifest = (description: string, level: string, more = '') => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${NAME} }
spec:
  description: "${description}"
  logLevel: ${level}
  rollout: { strategy: canary, canarySelector: { name: one }, healthCheckWindowMinutes: 10 }
  sources:
    ticks: { type: demo_logs, format: json, interval: 0.01 }
${more}  sinks:
    discard: { type: blackhole, inputs: [ticks${more ? ', web' : ''}] }
`;

describe('a rollout with real nodes', function () {
  this.timeout(120_000);
  this.slow(60_000);
  let site: Site;
  let api: ApiClient;
  let git: GitClient;
  let pipelineId: string;
  let taken: Server;

  before(async () => {
    site = await startSite({ inProcess: true, fleet: { pollIntervalMs: 1_000 } });
    api = await site.api();
    for (const name of NAMES) await site.agent({ name });
    git = new GitClient(site.cloneUrl());
    await git.clone();
    await push(manifest('the first', 'info'));
    await until(async () => (await versions(false)).one === 1, { what: 'the canary of the first version' });
    pipelineId = (await namedPipeline(api, site.environmentId, NAME)).id;
  });
  after(async () => {
    taken?.close();
    await git?.remove();
    await site?.remove();
  });

  async function push(text: string): Promise<void> {
    await git.commit({ [`staging/${NAME}.yaml`]: text }, 'A change');
    const { code, stderr } = await git.push();
    expect(code, stderr).to.equal(0);
  }
  /** By node, the version that runs there; `alive`: with an engine that lives. */
  async function versions(alive = true): Promise<Record<string, number | null>> {
    const { id } = await namedPipeline(api, site.environmentId, NAME);
    const rows = await onNodes(api, id);
    const isAlive = ({ pid }: PipelineOnNode) => pid !== null && (!alive || enginesOf(id).includes(pid));
    const running = rows.filter((row) => row.status === 'RUNNING' && isAlive(row));
    const labelOf = new Map((await site.nodes()).map((node) => [node.id, node.labels.name ?? '']));
    return Object.fromEntries(running.map(({ nodeId, version }) => [labelOf.get(nodeId) ?? '', version]));
  }
  async function untilVersions(wanted: Record<string, number>): Promise<void> {
    let seen = {};
    await until(
      async () => {
        seen = await versions();
        return JSON.stringify(Object.entries(seen).sort()) === JSON.stringify(Object.entries(wanted).sort());
      },
      {
        what: () => `${JSON.stringify(wanted)} to run, not ${JSON.stringify(seen)}`,
        timeoutMs: 30_000,
        everyMs: 50,
      },
    );
  }
  const last = async (): Promise<RolloutSummary> => {
    const [newest] = await api.query<RolloutSummary[]>('stagedRollout.list', { pipelineId });
    if (!newest) throw new Error('there is no rollout');
    return newest;
  };
  async function untilLast(status: RolloutSummary['status'], version: number): Promise<RolloutSummary> {
    let seen = await last();
    await until(
      async () => {
        seen = await last();
        return seen.status === status && seen.canaryVersion === version;
      },
      {
        what: () => `version ${version} to be ${status}: ${JSON.stringify(seen)}`,
        timeoutMs: 40_000,
        everyMs: 100,
      },
    );
    return seen;
  }
  const untilEvents = (count: number) =>
    until(async () => ((await last()).verdict?.canary.eventsIn ?? 0) >= count, {
      what: `${count} events on the canary`,
      timeoutMs: 40_000,
      everyMs: 100,
    });

  it('runs a first version on the canary node alone, and on all once the window was well', async () => {
    await untilVersions({ one: 1 });
    const { id } = await untilLast('HEALTH_CHECK', 1);
    await untilEvents(100);
    expect(Object.keys(await versions())).to.deep.equal(['one']);
    await putBackWindow(site.db, id, 10);
    expect(await untilLast('BROADENED', 1)).to.include({ endedBy: 'rollout' });
    await untilVersions({ one: 1, two: 1, three: 1 });
  });

  it('leaves the others alone while the canary runs the next version, and ends by what both have counted', async () => {
    const before = enginesOf(pipelineId);
    await push(manifest('the second', 'debug'));
    await untilVersions({ one: 2, two: 1, three: 1 });
    const { id } = await untilLast('HEALTH_CHECK', 2);
    await untilEvents(100);
    const counted = (await last()).verdict?.canary.eventsIn ?? 0;
    // The other nodes were left alone.
    expect(enginesOf(pipelineId).filter((pid) => before.includes(pid))).to.have.length(2);
    await putBackWindow(site.db, id, 10);
    const ended = await untilLast('BROADENED', 2);
    expect(ended.verdict).to.include({ verdict: 'healthy' });
    expect(ended.verdict?.canary.eventsIn).to.be.at.least(counted);
    expect(ended.verdict?.control.nodes).to.equal(2);
    await untilVersions({ one: 2, two: 2, three: 2 });
  });

  it('rolls back by itself where the engine crashes, and the others never stop', async () => {
    taken = createServer();
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
    const address = taken.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const before = enginesOf(pipelineId);
    await push(manifest('broken', 'info', `    web: { type: http_server, address: "127.0.0.1:${port}" }\n`));
    const ended = await untilLast('ROLLED_BACK', 3);
    expect(ended.endReason).to.match(
      /^Version 3 (crashed \d+ times on canary nodes$|failed on 1 canary node: )/,
    );
    await untilVersions({ one: 2, two: 2, three: 2 });
    expect(enginesOf(pipelineId).filter((pid) => before.includes(pid))).to.have.length(2);
    const holds = await api.query<{ holds: { name: string; current: boolean }[] }>('gitSync.holds', {
      environmentId: site.environmentId,
    });
    expect(holds.holds).to.have.length(1);
    expect(holds.holds[0]).to.include({ name: NAME, current: true });
  });
});
