/** A site whose staging and production follow the folders `staging` and `production` of one branch, with nodes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { Promotion } from '../../../../schemas/api/delivery/promotions.ts';
import type { PullRequest, PullRequestSummary } from '../../../../schemas/api/delivery/pull-requests.ts';
import { type NodeAgent, startNodeAgent } from '../../../support/agents/node-agent.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { idleManifest, namedPipeline, untilRunning } from '../../../support/fixtures/pipelines.ts';
import { until } from '../../../support/harness/until.ts';
import { openSite, type SiteSession } from '../site-session.ts';

/** Git, a plan and an engine one after the other, on a machine that does other things too. */
export const PLANNED_MS = 30_000;

export interface PromotionScene {
  session: SiteSession;
  api: ApiClient;
  git: GitClient;
  staging: string;
  production: string;
  /** Of `orders` in staging. */
  ordersId: string;
  /** The address of a page of production. */
  at(path: string): string;
  /** Commits to main and pushes it. */
  push(files: Record<string, string | null>, message: string): Promise<void>;
  /** The same on a branch, which is made of main unless `from` is itself; the clone stands on main afterwards. */
  pushBranch(branch: string, files: Record<string, string>, message: string, from?: string): Promise<void>;
  /** Opens one against production for a branch that is pushed; answers its number. */
  openPull(branch: string, title: string): Promise<number>;
  pull(number: number): Promise<PullRequest>;
  promotion(requestId: string): Promise<Promotion>;
  /** Until the check of production has another state than pending at the head that the branch has. */
  untilChecked(number: number): Promise<PullRequestSummary['checks'][number]>;
  close(): Promise<void>;
}

/** `name`, with a test that passes. */
export const testedManifest = (name: string, description: string): string => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name} }
spec:
  description: "${description}"
  sources:
    ticks: { type: demo_logs, format: json, interval: 1 }
  transforms:
    mark: { type: remap, inputs: [ticks], source: '.marked = "${description}"' }
  sinks:
    discard: { type: blackhole, inputs: [mark] }
  tests:
    - { name: marks every event, component: mark, input: { message: hello }, expect: '.marked == "${description}"' }
`;

/** `runsInStaging`: whether a node runs what staging has. */
export async function openPromotionScene({ runsInStaging = true } = {}): Promise<PromotionScene> {
  const session = await openSite();
  const { site } = session;
  const git = new GitClient(site.cloneUrl());
  let agent: NodeAgent | undefined;
  const close = async (): Promise<void> => {
    await agent?.remove();
    await git.remove();
    await session.close();
  };
  try {
    const api = await site.api();
    const staging = site.environmentId;
    if (runsInStaging) await site.agent();
    await git.clone();
    const push: PromotionScene['push'] = async (files, message) => {
      await git.commit(files, message);
      const pushed = await git.push();
      expect(pushed.code, pushed.stderr).to.equal(0);
    };
    await push(
      {
        'staging/orders.yaml': testedManifest('orders', 'one'),
        'production/checkout.yaml': idleManifest('checkout'),
      },
      'Add orders and checkout',
    );
    const { id: production } = await api.mutate<{ id: string }>('environment.create', {
      name: 'production',
      teamId: site.teamId,
    });
    const { token } = await api.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId: production,
    });
    agent = await startNodeAgent({ url: site.controller.url, name: 'production-node', token });
    await api.mutate('gitSync.configure', {
      environmentId: production,
      mode: 'sync',
      path: 'production',
      review: { requiredApprovals: 1 },
    });
    const ordersId = await untilThere(api, staging, 'orders');
    if (runsInStaging) await untilRunning(api, ordersId, 1);
    await untilRunning(api, await untilThere(api, production, 'checkout'), 1);
    const pull = (number: number) =>
      api.query<PullRequest>('pullRequest.get', { environmentId: production, number });
    return {
      session,
      api,
      git,
      staging,
      production,
      ordersId,
      at: (path) => session.at(path, production),
      push,
      async pushBranch(branch, files, message, from = 'main') {
        await git.run('checkout', '--quiet', '-B', branch, from);
        for (const [path, content] of Object.entries(files)) {
          const full = join(git.folder, path);
          await mkdir(dirname(full), { recursive: true });
          await writeFile(full, content);
        }
        await git.run('add', '--all');
        await git.run('commit', '--quiet', '--message', message);
        const pushed = await git.run('push', 'origin', branch);
        expect(pushed.code, pushed.stderr).to.equal(0);
        await git.run('checkout', '--quiet', 'main');
      },
      openPull: async (branch, title) =>
        (
          await api.mutate<{ number: number }>('pullRequest.open', {
            environmentId: production,
            branch,
            title,
          })
        ).number,
      pull,
      promotion: (requestId) => api.query<Promotion>('promotion.get', { requestId }),
      async untilChecked(number) {
        let seen: PullRequestSummary['checks'][number] | undefined;
        await until(
          async () => {
            const { checks, headSha } = await pull(number);
            seen = checks.find(({ environmentId }) => environmentId === production);
            return seen !== undefined && seen.state !== 'pending' && seen.headSha === headSha;
          },
          {
            what: () => `#${number} to be checked: ${JSON.stringify(seen)}`,
            timeoutMs: PLANNED_MS,
            everyMs: 50,
          },
        );
        if (!seen) throw new Error('unreachable');
        return seen;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function untilThere(api: ApiClient, environmentId: string, name: string): Promise<string> {
  await until(() => namedPipeline(api, environmentId, name).then(Boolean, () => false), {
    what: `${name} to be there`,
    timeoutMs: PLANNED_MS,
    everyMs: 50,
  });
  return (await namedPipeline(api, environmentId, name)).id;
}
