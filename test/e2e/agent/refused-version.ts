/** A version that does not run on a node, with everything real: the agent's check, the controller's revert, git and the engine. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import type { ConfigResponse, PipelineEntry } from '../../../schemas/agent/protocol.ts';
import type { GitPlan } from '../../../schemas/api/delivery/git-plan.ts';
import type { PipelineOnNode } from '../../../schemas/api/pipelines/on-nodes.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import type { NodeAgent } from '../../support/agents/node-agent.ts';
import { GitClient } from '../../support/clients/git-client.ts';
import { send } from '../../support/clients/http.ts';
import { namedPipeline, untilRunning } from '../../support/fixtures/pipelines.ts';
import { enginesOf } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';
import { type Site, startSite } from '../../support/scenes/site.ts';

const NAME = 'stream';
const FILE = `staging/${NAME}.yaml`;

/** The short way: a refusal, and its end. The long way goes through crashes and the settings that turn reverts off. */
export function testRefusedVersions(way: 'short' | 'long'): void {
  describe('a version that the engine of a node does not run', function () {
    registerCases.call(this, way);
  });
}

function registerCases(this: Mocha.Suite, way: 'short' | 'long'): void {
  const itLong = way === 'long' ? it : () => {};
  this.timeout(120_000);
  this.slow(60_000);
  let site: Site;
  let agent: NodeAgent;
  let api: ApiClient;
  let git: GitClient;
  let folder: string;
  let pipelineId: string;
  let taken: Server | undefined;
  let lastPort = 0;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-refused-'));
    site = await startSite({ fleet: { pollIntervalMs: 1_000 } });
    api = await site.api();
    agent = await site.agent();
    git = new GitClient(site.cloneUrl());
    await git.clone();
    await push(manifest('first'));
    pipelineId = (await namedPipeline(api, site.environmentId, NAME)).id;
    await untilRunning(api, pipelineId, 1);
  });
  after(async () => {
    await freePort();
    await git?.remove();
    await site?.remove();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Twenty events a second go to a file, each with the word. `more` is another source, `spec` more of the spec. */
  const manifest = (word: string, more = '', spec = '') => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${NAME} }
spec:
${spec}  sources:
    ticks: { type: demo_logs, format: json, interval: 0.05 }
${more}  transforms:
    mark: { type: remap, inputs: [ticks${more ? ', more' : ''}], source: '. = {"message": "${word}"}' }
  sinks:
    out: { type: file, inputs: [mark], path: ${folder}/out.log, encoding: { codec: text } }
`;
  /** Keeps its checkpoints in a folder that only the node can tell about. */
  const missing = (name: string) =>
    `    more: { type: file, include: ["${folder}/none"], data_dir: "${folder}/${name}" }\n`;
  /** Builds, and ends as soon as it is started. */
  const unbound = (port: number) => `    more: { type: http_server, address: "127.0.0.1:${port}" }\n`;

  async function push(text: string, more: Record<string, string | null> = {}): Promise<void> {
    await git.commit({ [FILE]: text, ...more }, 'A change');
    const { code, stderr } = await git.push();
    expect(code, stderr).to.equal(0);
  }
  async function plan(files: Record<string, string>): Promise<GitPlan> {
    await git.commit(files, 'Only planned');
    const { code, stderr } = await git.run('push', '--force', 'origin', 'HEAD:refs/heads/planned');
    expect(code, stderr).to.equal(0);
    const { stdout } = await git.run('reset', '--hard', 'origin/main');
    expect(stdout).to.contain('A change');
    return api.query<GitPlan>('gitSync.plan', { environmentId: site.environmentId, ref: 'planned' });
  }
  const get = () => api.query<Pipeline>('pipeline.get', { id: pipelineId });
  const running = async () => (await get()).gate.find(({ point }) => point === 'running');
  async function onNode(): Promise<PipelineOnNode> {
    const [found] = (await get()).statuses;
    if (!found) throw new Error('the pipeline is on no node');
    return found;
  }
  /** What the node is served, asked with its own token. */
  async function served(): Promise<PipelineEntry & { revision: number }> {
    const token = readFileSync(join(agent.dataDir, 'node-token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await send(`${site.controller.url}/api/agent/config`, { headers });
    expect(answer.status, answer.text).to.equal(200);
    const { pipelines, configRevision } = answer.json<ConfigResponse>();
    const found = pipelines.find((one) => one.pipelineId === pipelineId);
    if (!found) throw new Error('the pipeline is not served');
    return { ...found, revision: configRevision ?? 0 };
  }
  const reverts = () =>
    site
      .db('node_reverts AS v')
      .join('pipeline_versions AS bad', 'bad.id', 'v.refused_version_id')
      .join('pipeline_versions AS good', 'good.id', 'v.served_version_id')
      .select('v.refused_by', 'v.reason', 'v.since', 'v.fault', {
        refused: 'bad.version',
        served: 'good.version',
      });
  const retry = () => api.mutate('deploy.retryVersion', { pipelineId });
  const lines = () =>
    existsSync(join(folder, 'out.log')) ? readFileSync(join(folder, 'out.log'), 'utf8').split('\n') : [];
  /** Events with the word that are delivered from now on. */
  async function untilDelivers(word: string): Promise<void> {
    const count = () => lines().filter((line) => line === word).length;
    const before = count();
    await until(() => count() > before + 20, { what: `${word} to be delivered` });
  }
  /** Another one each time; the one before is free again. */
  async function takePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    await freePort();
    taken = server;
    const address = server.address();
    lastPort = typeof address === 'object' && address ? address.port : 0;
    return lastPort;
  }
  async function freePort(): Promise<void> {
    const server = taken;
    taken = undefined;
    if (server) await new Promise((done) => server.close(done));
  }
  /** Often enough to be taken back. */
  async function untilCrashes(version: number): Promise<void> {
    let seen: { version?: number; crashes?: number; status?: string } = {};
    await until(
      async () => {
        seen = await site.db('node_pipelines').first('version', 'crashes', 'status');
        return seen.version === version && (seen.crashes ?? 0) >= 3 && seen.status === 'CRASHED';
      },
      { what: () => `version ${version} to crash: ${JSON.stringify(seen)}`, timeoutMs: 40_000, everyMs: 50 },
    );
    await heartbeats(2);
  }
  async function heartbeats(count: number): Promise<void> {
    const seen = new Set<number>();
    await until(
      async () => {
        seen.add((await site.db('node_reports').first('reported_at')).reported_at.getTime());
        return seen.size > count;
      },
      { what: `${count} heartbeats`, timeoutMs: 30_000, everyMs: 50 },
    );
  }
  async function untilReverted(refused: number, by: 'NODE_CHECK' | 'CRASH', after = 0) {
    let seen: Awaited<ReturnType<typeof reverts>> = [];
    await until(
      async () => {
        seen = await reverts();
        return seen[0]?.refused === refused && seen[0].since.getTime() > after;
      },
      {
        what: () => `version ${refused} to be taken back: ${JSON.stringify(seen)}`,
        timeoutMs: 30_000,
        everyMs: 20,
      },
    );
    expect(seen).to.have.length(1);
    expect(seen[0]).to.include({ refused_by: by, fault: null });
    return seen[0];
  }
  /** The node reports to run it, with nothing to refuse, and is served it. */
  async function untilSettled(version: number): Promise<void> {
    let seen: unknown;
    await until(
      async () => {
        const row = await site.db('node_pipelines').first('version', 'status', 'refused');
        seen = row;
        return row?.version === version && row.status === 'RUNNING' && !row.refused;
      },
      {
        what: () => `version ${version} to run alone: ${JSON.stringify(seen)}`,
        timeoutMs: 30_000,
        everyMs: 50,
      },
    );
    expect(await served()).to.include({ version });
  }
  const pidOf = async () => {
    const [pid, ...others] = enginesOf(pipelineId);
    expect(others).to.deep.equal([]);
    return pid ?? 0;
  };
  const logged = async (message: string) =>
    (await agent.log()).filter((record) => record.message === message).length;

  it('is refused there and taken back, while the old engine goes on and the pages say why', async () => {
    const pid = await pidOf();
    await push(manifest('second', missing('late')));
    const row = await untilReverted(2, 'NODE_CHECK');
    expect(row).to.include({ served: 1 });
    expect(row?.reason).to.contain(`data_dir "${folder}/late" does not exist`);
    expect(await served()).to.include({ version: 1 });
    await untilSettled(1);
    expect(await pidOf()).to.equal(pid);
    await untilDelivers('first');
    const on = await onNode();
    expect(on).to.include({ version: 1, desiredVersion: 1, status: 'RUNNING', pid, restarts: 0 });
    expect(on.refused).to.include({
      version: 2,
      servedVersion: 1,
      by: 'NODE_CHECK',
      component: 'source more',
    });
    expect(on.refused?.place).to.include({ path: FILE });
    const gate = await running();
    expect(gate).to.include({ state: 'failed' });
    expect(gate?.reason).to.match(
      /^Version 2 was refused on 1 of 1 node by their engine \(.*\): source more.*; version 1 keeps running there \(staging\/stream\.yaml:\d+\)$/,
    );
    expect(lines()).not.to.include('second');
  });

  itLong('is not what an agent starts that is started anew', async () => {
    const before = await pidOf();
    await agent.stop();
    await until(() => enginesOf(pipelineId).length === 0, { what: 'the engine to end' });
    await agent.start();
    await until(async () => ![0, before].includes(enginesOf(pipelineId)[0] ?? 0), {
      what: 'an engine to be started',
    });
    await untilSettled(1);
    await untilDelivers('first');
    expect(await onNode()).to.include({ version: 1, restarts: 0 });
    expect(lines()).not.to.include('second');
    expect(await reverts()).to.have.length(1);
  });

  itLong(
    'is checked anew by the node when it is tried again, taken back anew, and not tried without a word',
    async () => {
      const pid = await pidOf();
      const [first] = await reverts();
      const { revision } = await served();
      const refusals = await logged('the engine refuses the new version, the old one goes on running');
      expect(await retry()).to.deep.equal({ success: true, nodes: 1 });
      await untilReverted(2, 'NODE_CHECK', first?.since.getTime());
      await untilSettled(1);
      expect(await logged('the engine refuses the new version, the old one goes on running')).to.equal(
        refusals + 1,
      );
      const [again] = await reverts();
      expect((await served()).revision).to.equal(revision + 2);
      await heartbeats(5);
      expect(await reverts()).to.deep.equal([again]);
      expect((await served()).revision).to.equal(revision + 2);
      expect(await pidOf()).to.equal(pid);
    },
  );

  it('runs once the cause is mended on the node and it is tried again', async () => {
    mkdirSync(join(folder, 'late'));
    await retry();
    await untilSettled(2);
    await untilDelivers('second');
    expect(await reverts()).to.deep.equal([]);
    expect((await onNode()).refused).to.equal(null);
    expect(await running()).to.include({ state: 'done' });
  });

  itLong('gives way to a right commit, which runs at once', async () => {
    await push(manifest('third', missing('never')));
    await untilReverted(3, 'NODE_CHECK');
    await untilSettled(2);
    await push(manifest('fourth'));
    await untilSettled(4);
    await untilDelivers('fourth');
    await until(async () => (await reverts()).length === 0, { what: 'the record to go' });
    expect(lines()).not.to.include('third');
  });

  itLong(
    'that is built and then crashes is taken back after its second start, and the old one runs again',
    async () => {
      const port = await takePort();
      await push(manifest('fifth', unbound(port)));
      const row = await untilReverted(5, 'CRASH');
      expect(row).to.include({ served: 4 });
      expect(row?.reason).to.match(/address already in use/i);
      await untilSettled(4);
      await untilDelivers('fourth');
      const on = await onNode();
      expect(on).to.include({ version: 4, desiredVersion: 4, restarts: 2 });
      expect(on.refused).to.include({ version: 5, servedVersion: 4, by: 'CRASH', component: 'source more' });
      const { revision } = await served();
      await heartbeats(5);
      expect((await served()).revision).to.equal(revision);
      await retry();
      await untilReverted(5, 'CRASH', row?.since.getTime());
      await untilSettled(4);
      await freePort();
      await retry();
      await untilSettled(5);
      await untilDelivers('fifth');
      expect(await reverts()).to.deep.equal([]);
    },
  );

  itLong(
    'stays where its manifest says so: refused, the old one runs on; crashed, it is started again',
    async () => {
      const off = '  autoRevert: false\n';
      const onlyOff = manifest('fifth', unbound(lastPort), off);
      const { changes, nodes } = await plan({ [FILE]: onlyOff });
      expect(changes.map(({ action, fields }) => ({ action, fields }))).to.deep.equal([
        { action: 'update', fields: [{ pointer: '/autoRevert', before: null, after: 'false' }] },
      ]);
      expect(nodes).to.include({ count: 0 });
      const pid = await pidOf();
      await push(manifest('sixth', missing('never'), off));
      await until(async () => (await onNode()).refused?.version === 6, {
        what: 'the refusal to be told',
        everyMs: 100,
      });
      await heartbeats(4);
      expect(await reverts()).to.deep.equal([]);
      expect(await served()).to.include({ version: 6 });
      expect(await onNode()).to.include({ version: 5, desiredVersion: 6, status: 'RUNNING', pid });
      expect((await onNode()).refused).to.include({ servedVersion: null, component: 'source more' });
      expect((await running())?.reason).to.contain('version 5 keeps running there until its agent');
      await untilDelivers('fifth');
      await push(manifest('seventh', unbound(await takePort()), off));
      await untilCrashes(7);
      expect(await reverts()).to.deep.equal([]);
      expect(await served()).to.include({ version: 7 });
    },
  );

  itLong('stays where an Environment manifest says so, until that is taken away', async () => {
    const path = 'staging/environment.yaml';
    const text =
      'apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: staging }\nspec: { autoRevert: false }\n';
    const planned = await plan({ [path]: text });
    expect(planned.nodes).to.include({ count: 0 });
    const [change] = planned.changes;
    expect(change?.fields).to.deep.equal([{ pointer: '/autoRevert', before: null, after: 'false' }]);
    expect(change?.notes).to.deep.equal([
      'it holds from the next commit on',
      'A version that does not run on a node stays there, unless its manifest says otherwise',
    ]);
    const bad = manifest('eighth', unbound(await takePort()));
    await push(bad, { [path]: text });
    await untilCrashes(8);
    expect(await reverts()).to.deep.equal([]);
    expect(await served()).to.include({ version: 8 });
    await push(bad, { [path]: null });
    const row = await untilReverted(8, 'CRASH');
    expect(row).to.include({ served: 5 });
    await untilSettled(5);
    await untilDelivers('fifth');
  });
}
