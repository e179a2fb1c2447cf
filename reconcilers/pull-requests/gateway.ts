/** Pull requests wherever they live: kept here, or on a forge. */

import type { Binding } from '../../controller/git-sync/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import { preconditionFailed, unavailable } from '../../controller/platform/errors.ts';
import {
  findPullRequest,
  insertPullRequest,
  listPullRequests,
  mirrorPullRequest,
  type NewPullRequest,
  type PullRequestGateway,
  type PullRequestRecord,
  pullRequestsOf,
  updatePullRequest,
} from '../../controller/pull-requests/index.ts';
import { type Forge, ForgeError } from '../forges/forge.ts';
import type { Forges } from '../forges/index.ts';
import { mirrored } from './mirrored.ts';

const notYet = (): never => {
  throw unavailable('Not there yet');
};

type Request = Omit<NewPullRequest, 'bindingId' | 'repository'>;

export function createPullRequestGateway({ forges }: { forges: Forges }): PullRequestGateway {
  return {
    async open(ctx, binding, request) {
      const forge = forges.of(binding);
      return forge ? openThere(ctx, binding, forge, request) : openHere(ctx, binding, request);
    },
    async edit(ctx, binding, pull, change) {
      const forge = forges.of(binding);
      if (forge && pull.forge !== 'headgate') await asked(() => forge.update(pull.number, change));
      await updatePullRequest(ctx.db, pull.id, change);
    },
    async close(ctx, binding, pull) {
      const forge = forges.of(binding);
      if (forge && pull.forge !== 'headgate') await asked(() => forge.close(pull.number));
      const now = await findPullRequest(ctx.db, pull.id);
      if (now?.state === 'open') await updatePullRequest(ctx.db, pull.id, { state: 'closed' });
    },
    look: notYet,
    diff: notYet,
    commits: notYet,
    merge: notYet,
    refresh: notYet,
  };
}

async function openHere(ctx: Context, binding: Binding, request: Request): Promise<PullRequestRecord> {
  const open = await listPullRequests(ctx.db, pullRequestsOf(binding), { state: 'open' });
  const same = open.find(({ branch }) => branch === request.branch);
  const { title, body, headSha, pushedSha } = request;
  if (!same)
    return insertPullRequest(ctx.db, {
      ...request,
      bindingId: binding.id,
      repository: binding.repositoryUrl,
    });
  await updatePullRequest(ctx.db, same.id, {
    ...{ title, body, headSha },
    ...(pushedSha === undefined ? {} : { pushedSha }),
  });
  return { ...same, title, body, headSha, pushedSha: pushedSha ?? same.pushedSha };
}

async function openThere(
  ctx: Context,
  binding: Binding,
  forge: Forge,
  { title, body, branch, base, ...ours }: Request,
): Promise<PullRequestRecord> {
  const made = await asked(() => forge.open({ title, body, branch, base }));
  const { author, authorId, subject, pushedSha = null } = ours;
  const { record } = await mirrorPullRequest(ctx.db, {
    ...mirrored(binding, made),
    ...{ bindingId: binding.id, author, authorId, subject, pushedSha },
  });
  return record;
}

/** @throws PRECONDITION_FAILED, UNAVAILABLE */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw error.fault === 'unavailable' || error.fault === 'rate-limited'
      ? unavailable(error.message)
      : preconditionFailed(error.message);
  }
}
