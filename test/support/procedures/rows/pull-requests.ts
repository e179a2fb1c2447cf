/** Pull requests that are kept here, each in an environment and against a branch of its own. */
import { commit } from '../../clients/fast-import.ts';
import { environment, freshEnvironment, type Row, type Rows } from './row.ts';

type Given = Parameters<Row['input']>;

/** An environment whose binding no pass looks at, and a branch that one could merge. */
async function withBranch(...[side, n, root]: Given) {
  const { db, gitdir, isOurs } = side;
  // Whoever merges has to be an EDITOR wherever the repository is used: here that is in one team.
  if (isOurs)
    await db('git_bindings')
      .where({ repository_url: 'embedded' })
      .whereNotIn('environment_id', db('environments').where({ team_id: side.teamId }).select('id'))
      .update({ repository_url: 'https://git.invalid/elsewhere.git' });
  const environmentId = await freshEnvironment(side, n, root);
  const [base, branch] = [`base-${n}`, `topic-${n}`];
  const files = { 'notes/topic.md': `${n}\n` };
  const baseSha = commit(gitdir, { branch: base, from: 'refs/heads/main', message: 'base', files: {} });
  const headSha = commit(gitdir, { branch, from: baseSha, message: 'topic', files });
  const bindingId = `binding of ${environmentId}`;
  await db('git_bindings').insert({
    ...{ id: bindingId, environment_id: environmentId, mode: 'sync', ref: base, path: 'nowhere' },
    ...{ suspended_at: new Date(), suspended_by: 'the tests', suspend_reason: '' },
  });
  return { environmentId, bindingId, base, baseSha, branch, headSha };
}

async function opened(state: 'open' | 'closed', ...given: Given) {
  const [{ db }, n] = given;
  const { environmentId, bindingId, base, baseSha, branch, headSha } = await withBranch(...given);
  const number = 1_000 + n;
  await db('pull_requests').insert({
    ...{ id: `pull ${n}`, binding_id: bindingId, repository: 'embedded', number, title: 'Topic', body: '' },
    ...{ base, branch, head_sha: headSha, base_sha: baseSha, state },
    ...{ subject: '{}', author: 'Somebody', mergeable: 'clean' },
  });
  await db('pull_request_comments').insert({
    ...{ id: `comment ${n}`, pull_request_id: `pull ${n}`, author: 'Somebody', body: 'Well' },
  });
  await db('pull_request_reviews').insert({
    ...{ id: `review ${n}`, pull_request_id: `pull ${n}`, reviewer: 'Another', verdict: 'approve' },
    ...{ head_sha: headSha },
  });
  await db('pull_request_checks').insert({
    ...{ pull_request_id: `pull ${n}`, environment_id: environmentId, head_sha: headSha, base_sha: headSha },
    ...{ state: 'error', summary: 'no plan', reason: 'nothing was looked at' },
  });
  return { environmentId, number, headSha };
}

const which = async (...given: Given) => {
  const { environmentId, number } = await opened('open', ...given);
  return { environmentId, number };
};

export const PULL_REQUESTS: Rows = {
  'pullRequest.list': {
    names: 'scope',
    input: (side) => ({ ...environment(side), state: 'open', limit: 10 }),
  },
  'pullRequest.get': { names: 'scope', input: which },
  'pullRequest.diff': { names: 'scope', input: which },
  'pullRequest.plan': { names: 'scope', input: which },
  'pullRequest.open': {
    names: 'scope',
    async input(...given) {
      const { environmentId, branch } = await withBranch(...given);
      return { environmentId, branch, title: 'Topic', body: 'Why' };
    },
  },
  'pullRequest.edit': {
    names: 'scope',
    input: async (...given) => ({ ...(await which(...given)), title: 'Another', body: 'Why' }),
  },
  'pullRequest.comment': {
    names: 'scope',
    input: async (...given) => ({ ...(await which(...given)), body: 'Well done' }),
  },
  'pullRequest.review': {
    names: 'scope',
    input: async (...given) => ({ ...(await opened('open', ...given)), verdict: 'approve', body: 'Good' }),
  },
  'pullRequest.merge': {
    names: 'scope',
    input: async (...given) => ({
      ...(await opened('open', ...given)),
      ...{ method: 'squash', deleteBranch: true },
    }),
  },
  'pullRequest.autoMerge': {
    names: 'scope',
    // One that is kept here is merged by nobody but people.
    input: async (...given) => ({ ...(await opened('open', ...given)), enabled: false, method: 'squash' }),
  },
  'pullRequest.close': { names: 'scope', input: which },
  'pullRequest.reopen': {
    names: 'scope',
    async input(...given) {
      const { environmentId, number } = await opened('closed', ...given);
      return { environmentId, number };
    },
  },
  'pullRequest.refresh': { names: 'scope', input: which },
};
