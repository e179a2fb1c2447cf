/** A controller that is killed or hangs: what runs runs on, and nothing that was pushed is lost. */
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import { startOf } from '../../../controller/platform/runtime/process-record.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import type { VersionSummary } from '../../../schemas/api/pipelines/versions.ts';
import { GitClient } from '../../support/clients/git-client.ts';
import { idleManifest, namedPipeline, onNodes, untilRunning } from '../../support/fixtures/pipelines.ts';
import { enginesOf } from '../../support/harness/processes.ts';
import type { Replica } from '../../support/harness/serve.ts';
import { until } from '../../support/harness/until.ts';
import { type Site, startSite } from '../../support/scenes/site.ts';

const NAMES = ['left', 'right'] as const;
const POLL_MS = 1_000;
/** Longer than three polls: without any regard for the restart, the node would count as unreachable. */
const AWAY_MS = 4_000;

describe('when the controller', function () {
  this.timeout(60_000);
  this.slow(30_000);
  let site: Site;
  let api: ApiClient;
  let git: GitClient;
  let controller: Replica;
  const ids: Record<string, string> = {};

  before(async () => {
    site = await startSite({ fleet: { pollIntervalMs: POLL_MS } });
    ({ controller } = site);
    api = await site.api();
    await site.agent();
    git = new GitClient(site.cloneUrl());
    await git.clone();
    await git.commit(Object.fromEntries(NAMES.map((name) => [fileOf(name), idleManifest(name)])));
    expect((await git.push()).code).to.equal(0);
    for (const name of NAMES) {
      const { id } = await namedPipeline(api, site.environmentId, name);
      ids[name] = id;
      await untilRunning(api, id, 1);
    }
  });
  after(async () => {
    await git?.remove();
    await site?.remove();
  });

  const engines = () =>
    NAMES.map((name) => enginesOf(ids[name] ?? '').map((pid) => `${pid} since ${startOf(pid)}`));
  const events = async (name: string) => (await onNodes(api, ids[name] ?? ''))[0]?.eventsIn ?? 0;
  const waitFor = async (ms: number) => {
    const since = performance.now();
    await until(() => performance.now() - since > ms, {
      what: 'time to pass',
      timeoutMs: ms * 2,
      everyMs: 50,
    });
  };

  it('is killed while people push, and starts again, nothing is lost and engines never notice', async () => {
    const left = ids.left ?? '';
    await until(async () => (await events('right')) > 0, { what: 'events', timeoutMs: 10_000, everyMs: 50 });
    const before = { engines: engines()[1], events: await events('right') };
    // A stream of commits: each push is tried again until it is taken, as a person would.
    const commits: string[] = [];
    let pushing = true;
    let refused = 0;
    const pushes = (async () => {
      for (let change = 1; pushing || refused === 0; change += 1) {
        await git.commit({ [fileOf('left')]: idleManifest('left', `change ${change}`) }, `Change ${change}`);
        commits.push((await git.run('rev-parse', 'HEAD')).stdout.trim());
        await until(
          async () => {
            const { code } = await git.push('--quiet');
            if (code !== 0) refused += 1;
            return code === 0;
          },
          { what: 'a push to be taken', timeoutMs: 30_000, everyMs: 100 },
        );
      }
    })();
    await until(() => commits.length > 3, { what: 'some pushes', timeoutMs: 20_000 });
    await controller.end('SIGKILL');
    await waitFor(AWAY_MS);
    expect(engines()[1]).to.deep.equal(before.engines);
    controller = await site.serve({ port: Number(new URL(site.controller.url).port) });

    const seen = new Set<string>();
    const since = performance.now();
    await until(
      async () => {
        for (const { status, statusReason } of await site.nodes())
          seen.add(`${status} ${statusReason}`.trim());
        return performance.now() - since > 5 * POLL_MS;
      },
      { what: 'five poll periods', timeoutMs: 10_000, everyMs: 20 },
    );
    expect([...seen].filter((one) => !/^(HEALTHY|DEGRADED Not yet on)/.test(one))).to.deep.equal([]);
    pushing = false;
    await pushes;
    expect(refused, 'pushes in vain').to.be.greaterThan(0);

    const last = commits.at(-1);
    const status = () => api.query<GitSyncStatus>('gitSync.status', { environmentId: site.environmentId });
    await until(async () => (await status()).appliedCommit?.sha === last, {
      what: 'the last commit to be applied',
      timeoutMs: 10_000,
      everyMs: 50,
    });
    const versions = await api.query<VersionSummary[]>('pipeline.versions', { pipelineId: left });
    expect(versions.map(({ version }) => version)).to.deep.equal(countdown(versions.length));
    expect(versions[0]).to.include({ commit: last, isDeployed: true });
    // Each commit became a version, or is told as skipped for a newer one.
    const told = new Set([...versions.map(({ commit }) => commit), ...(await skipped())]);
    expect(commits.filter((sha) => !told.has(sha))).to.deep.equal([]);
    expect(await auditedVersions(left)).to.deep.equal(countdown(versions.length));
    console.log(`      (${commits.length} commits, ${versions.length} versions, ${refused} pushes in vain)`);

    expect(engines()[1]).to.deep.equal(before.engines);
    expect(await events('right')).to.be.greaterThan(before.events);
    await untilRunning(api, left, versions.length);
    expect(enginesOf(left)).to.have.length(1);
  });

  it('hangs, engines run on, and a push works once it answers', async () => {
    const before = engines();
    process.kill(controller.pid, 'SIGSTOP');
    try {
      await waitFor(AWAY_MS);
      expect(engines()).to.deep.equal(before);
    } finally {
      process.kill(controller.pid, 'SIGCONT');
    }
    const versions = await api.query<VersionSummary[]>('pipeline.versions', { pipelineId: ids.left });
    await git.commit({ [fileOf('left')]: idleManifest('left', 'after it hung') }, 'After it hung');
    expect((await git.push()).code).to.equal(0);
    await untilRunning(api, ids.left ?? '', versions.length + 1);
    expect(engines()[1]).to.deep.equal(before[1]);
  });

  async function skipped(): Promise<string[]> {
    const jobs: { skipped: { sha: string }[] }[] = await site
      .db('git_jobs')
      .select({ skipped: 'skipped_commits' });
    return jobs.flatMap(({ skipped: commits }) => commits.map(({ sha }) => sha));
  }

  /**
   * Versions of the pipeline whose making the audit log tells of, newest first. One that a pass had written and did not live
   * to record is written again, without a new version.
   */
  async function auditedVersions(id: string): Promise<number[]> {
    const rows: { diff: { version: [number | null, number] } }[] = await site
      .db('audit_log')
      .where({ entity_id: id, actor_type: 'git' })
      .select('diff');
    return rows
      .map(({ diff }) => diff.version)
      .filter(([before, after]) => before !== after)
      .map(([, after]) => after)
      .sort((a, b) => b - a);
  }
});

const fileOf = (name: string) => `staging/${name}.yaml`;
const countdown = (from: number) => Array.from({ length: from }, (_, index) => from - index);
