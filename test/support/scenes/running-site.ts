/** A site that is at work: an agent with a few engines that were pushed, and a clone to push from. */
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import { startOf } from '../../../controller/platform/runtime/process-record.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { GitClient, type GitOutcome } from '../clients/git-client.ts';
import { send } from '../clients/http.ts';
import { idleManifest, namedPipeline, onNodes, untilRunning } from '../fixtures/pipelines.ts';
import { enginesOf } from '../harness/processes.ts';
import { until } from '../harness/until.ts';
import { type Site, type SiteOptions, startSite } from './site.ts';

const NAMES = ['left', 'right'] as const;
/** How often the agent asks, in milliseconds; a node is unreachable after three times that. */
const POLL_MS = 1_000;

export interface RunningSite extends Site {
  client: ApiClient;
  git: GitClient;
  /** Each engine with the time of its start, so that one which took over the pid of another is not taken for it. */
  engines(): string[];
  /** Those of `right`, which no test changes. */
  rightEngines(): string[];
  /** Events that `right` has taken in, as the controller has stored them. */
  events(): Promise<number>;
  health(): Promise<{ status: number; body: Record<string, unknown> }>;
  status(): Promise<GitSyncStatus>;
  /** Commits another version of `left`, and answers the commit. */
  commitChange(description: string): Promise<string>;
  push(...args: string[]): Promise<GitOutcome>;
  untilApplied(sha: string): Promise<void>;
  /** Until the version of `left` that was accepted last runs, once. */
  untilLeftRuns(): Promise<void>;
}

export async function startRunningSite(options: SiteOptions = {}): Promise<RunningSite> {
  const site = await startSite({ ...options, fleet: { pollIntervalMs: POLL_MS, ...options.fleet } });
  const git = new GitClient(site.cloneUrl());
  const remove = async () => {
    await git.remove();
    await site.remove();
  };
  try {
    const client = await site.api();
    await site.agent();
    await git.clone();
    await git.commit(Object.fromEntries(NAMES.map((name) => [fileOf(name), idleManifest(name)])));
    const pushed = await git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
    const ids = new Map<string, string>();
    for (const name of NAMES) {
      const { id } = await namedPipeline(client, site.environmentId, name);
      ids.set(name, id);
      await untilRunning(client, id, 1);
    }
    const idOf = (name: string) => ids.get(name) ?? '';
    const engines = (...names: string[]) =>
      names.map((name) =>
        enginesOf(idOf(name))
          .map((pid) => `${name} ${pid} since ${startOf(pid)}`)
          .join(),
      );
    const status = () => client.query<GitSyncStatus>('gitSync.status', { environmentId: site.environmentId });
    return {
      ...site,
      client,
      git,
      engines: () => engines(...NAMES),
      rightEngines: () => engines('right'),
      events: async () => (await onNodes(client, idOf('right')))[0]?.eventsIn ?? 0,
      async health() {
        const answer = await send(`${site.controller.url}/api/health`);
        return { status: answer.status, body: answer.json<Record<string, unknown>>() };
      },
      status,
      async commitChange(description) {
        await git.commit({ [fileOf('left')]: idleManifest('left', description) }, description);
        return (await git.run('rev-parse', 'HEAD')).stdout.trim();
      },
      push: (...args) => git.push(...args),
      untilApplied: (sha) =>
        until(async () => (await status()).appliedCommit?.sha === sha, {
          what: () => `${sha} to be applied:\n${site.controller.output()}`,
          timeoutMs: 30_000,
          everyMs: 50,
        }),
      async untilLeftRuns() {
        const { deployedVersionNumber } = await namedPipeline(client, site.environmentId, 'left');
        const { pid } = await untilRunning(client, idOf('left'), deployedVersionNumber ?? 0);
        expect(enginesOf(idOf('left'))).to.deep.equal([pid]);
      },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

const fileOf = (name: string) => `staging/${name}.yaml`;
