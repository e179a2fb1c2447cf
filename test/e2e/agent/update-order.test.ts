/** An update from its order in the web UI to its end: the real controller, the compiled agent, a release that was built. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Static } from 'typebox';
import { buildRelease } from '../../../agent/release.ts';
import type { FleetNode } from '../../../schemas/api/fleet/fleet.ts';
import type { ReleaseFile, Versions } from '../../../schemas/api/fleet/releases.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import type { TestUser } from '../../support/users/person.ts';
import { AGENT, type AgentProcess, ensureAgent, makeWorkplace, type Workplace } from './agent-process.ts';
import { deployed } from './deployment.ts';

const HOST = { arch: process.arch === 'arm64' ? 'arm64' : 'x64', libc: 'glibc' } as const;
type Node = Static<typeof FleetNode>;

describe('an update that the controller orders', function () {
  this.timeout(60_000);
  let dir: string;
  let test: TestController;
  let place: Workplace;
  let root: TestUser;
  let agent: AgentProcess;
  let nodeId: string;
  let file: ReleaseFile;

  before(async function () {
    await ensureAgent();
    dir = mkdtempSync(join(tmpdir(), 'headgate-order-'));
    const out = join(dir, 'releases');
    await buildRelease({ version: 'v0.2.0', out, targets: [HOST], releasedAt: new Date(0).toISOString() });
    test = await startTestController({ agentReleases: out });
    root = await test.root();
    place = await makeWorkplace();
    const under = deployed('STANDALONE', place.dir);
    if (under === undefined) this.skip();
    mkdirSync(join(place.dir, 'bin'));
    copyFileSync(AGENT, join(place.dir, 'bin/headgate-agent'));
    const { id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'Team' });
    const environment = await root.mutate<{ id: string }>('environment.create', { teamId, name: 'prod' });
    const { token } = await root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId: environment.id,
    });
    const env = { SVC_URL: test.url, SVC_TOKEN: token, SVC_SUPERVISED: '1' };
    agent = place.runCompiled(env, [], `${under} '${place.dir}/bin/headgate-agent' "$@"`);
    const list = () =>
      root.query<{ id: string; status: string }[]>('fleet.list', { environmentId: environment.id });
    await until(async () => (await list())[0]?.status === 'HEALTHY', {
      what: () => agent.output(),
      timeoutMs: 10_000,
      everyMs: 50,
    });
    nodeId = (await list())[0]?.id ?? '';
    const versions = await root.query<Versions>('settings.checkVersion', { force: true });
    const [first] = versions.agent?.files ?? [];
    if (!first) throw new Error('no release is served');
    file = first;
  });
  after(async () => {
    await place?.clean();
    await test?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const node = () => root.query<Node>('fleet.get', { id: nodeId });
  const order = (fields: object) => root.mutate('fleet.triggerAgentUpdate', { nodeId, ...fields });

  it('ends with its error where the file is another one, and is not offered again', async () => {
    const wrong = { targetVersion: 'v0.2.0', downloadUrl: file.downloadUrl, checksum: 'ab'.repeat(32) };
    await order(wrong);
    await until(async () => (await node()).pendingUpdate === null, {
      what: () => agent.output(),
      timeoutMs: 15_000,
      everyMs: 100,
    });
    const { failedUpdates, agentVersion } = await node();
    expect(agentVersion).to.equal('v0.1.0');
    expect(failedUpdates).to.have.length(1);
    expect(failedUpdates[0]?.reason).to.match(/its SHA-256 differs/);
    expect(await order(wrong).catch(String)).to.match(/failed on the node/);
  });

  it('ends with the version that is served, under the same pid and node', async () => {
    await order({ targetVersion: 'v0.2.0', downloadUrl: file.downloadUrl, checksum: file.checksum });
    await until(async () => (await node()).agentVersion === 'v0.2.0', {
      what: () => agent.output(),
      timeoutMs: 20_000,
      everyMs: 100,
    });
    await until(async () => (await node()).pendingUpdate === null, { what: 'it is over', everyMs: 100 });
    await until(async () => (await node()).updateError === null, {
      what: 'the earlier error is gone',
      everyMs: 100,
    });
    expect((await node()).status).to.equal('HEALTHY');
    expect(await agent.terminate()).to.equal(0);
  });
});
