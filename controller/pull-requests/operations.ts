/** Pull requests of the repository that an environment is bound to. */
import {
  ListPullRequests,
  PullRequestList,
  type PullRequestSummary,
} from '../../schemas/api/pull-requests.ts';
import { environmentScope } from '../access/index.ts';
import { findBinding } from '../git-sync/index.ts';
import { query } from '../platform/operation.ts';
import { pullRequestsOf } from './bound.ts';
import { listPullRequests, type PullRequestRecord } from './store.ts';

const summaryOf = (pull: PullRequestRecord): PullRequestSummary => ({
  id: pull.id,
  number: pull.number,
  title: pull.title,
  base: pull.base,
  branch: pull.branch,
  headSha: pull.headSha,
  state: pull.state,
  author: pull.author,
  createdAt: pull.createdAt,
  updatedAt: pull.updatedAt,
  forge: pull.forge,
  url: pull.url,
  isDraft: pull.isDraft,
  isFork: pull.isFork,
  mergeable: pull.mergeable,
  checks: [],
  approvals: 0,
  promotionId: typeof pull.subject.promotionId === 'string' ? pull.subject.promotionId : null,
});

export const list = query({
  name: 'pullRequest.list',
  summary: 'Pull requests against the branch that an environment is bound to, newest first',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: ListPullRequests,
  output: PullRequestList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, state, limit = 50 }) {
    const binding = await findBinding(ctx.db, environmentId);
    if (!binding) return [];
    return (await listPullRequests(ctx.db, pullRequestsOf(binding), { state, limit })).map(summaryOf);
  },
});
