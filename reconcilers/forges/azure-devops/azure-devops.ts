/**
 * Azure DevOps, Services and Server, by plain calls. https://learn.microsoft.com/rest/api/azure/devops/git
 *
 * A comment is the first of a thread of its own. Policies of a branch look at the statuses of a pull request, pages at those
 * of a commit: both are set. Lists cut descriptions.
 */

import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { CheckState, MergeMethod } from '../../../schemas/api/delivery/pull-requests.ts';
import {
  type Forge,
  ForgeError,
  type ForgePullRequest,
  type LeftOut,
  type OpenRequest,
  UnreadableAnswer,
} from '../forge.ts';
import type { ForgeParts } from '../forge-options.ts';
import {
  assertHead,
  assertMay,
  type Comments,
  isAnyIn,
  isGone,
  isOwn,
  keepComment,
  NO_COMMIT,
  NO_PULL,
  openOnce,
  openWithReviewers,
  orNull,
  PROBE,
  remembered,
} from '../idempotent-writes.ts';
import {
  body,
  branch,
  DESCRIPTION,
  read,
  readPulls,
  shortened,
  time,
  title,
  userName,
} from '../response-schemas.ts';
import { jsonCalls } from '../transport/json-calls.ts';
import {
  Connection,
  IterationList,
  Numbered,
  Pull,
  PullList,
  Repository,
  Thread,
  ThreadList,
} from './responses.ts';

const VERSION = 'api-version=7.1';
const PAGE = 100;
const MOST_PULLS = 500;
const LONGEST_DESCRIPTION = 4_000;
const LONGEST_COMMENT = 150_000;
const CUT_IN_LISTS = 400;
const TEXTS_KEPT = 1_000;
const NOBODY = '00000000-0000-0000-0000-000000000000';
const STATES: Readonly<Record<CheckState, string>> = {
  pending: 'pending',
  success: 'succeeded',
  failure: 'failed',
  error: 'error',
};
const STRATEGIES: Readonly<Record<MergeMethod, string>> = {
  merge: 'noFastForward',
  squash: 'squash',
  rebase: 'rebase',
};

export function createAzureDevOps({ transport, url, project, token }: ForgeParts): Forge {
  const { label } = transport;
  const call = jsonCalls(transport, url, {
    authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}`,
    // A rejected token answers with a status instead of a redirect to the sign-in page.
    'x-tfs-fedauthredirect': 'Suppress',
  });
  const [team = '', name = ''] = project.split('/').map(encodeURIComponent);
  const repository = `/${team}/_apis/git/repositories/${name}`;
  const pulls = `${repository}/pullrequests`;
  /** Whole descriptions, by what a list shows of them. */
  const texts = new BoundedMap<string>(TEXTS_KEPT);

  function toPull(value: unknown): ForgePullRequest {
    const pull = read(label, Pull, value);
    const merged = pull.status === 'completed';
    const headSha = pull.lastMergeSourceCommit?.commitId;
    // It is looked at in the background.
    if (!headSha)
      throw new UnreadableAnswer(
        'unavailable',
        `${label} does not know the head of !${pull.pullRequestId} yet`,
      );
    const closed = pull.status === 'active' ? null : time(label, pull.closedDate ?? pull.creationDate);
    return {
      number: pull.pullRequestId,
      title: title(pull.title),
      body: body(pull.description),
      state: pull.status === 'active' ? 'open' : merged ? 'merged' : 'closed',
      isDraft: pull.isDraft === true,
      branch: branch(pull.sourceRefName),
      base: branch(pull.targetRefName),
      headSha,
      isFork: Boolean(pull.forkSource),
      author: userName(pull.createdBy?.uniqueName ?? pull.createdBy?.displayName),
      url: `${url}/${team}/_git/${name}/pullrequest/${pull.pullRequestId}`,
      mergeSha: merged ? (pull.lastMergeCommit?.commitId ?? null) : null,
      mergedBy: merged ? userName(pull.closedBy?.uniqueName ?? pull.closedBy?.displayName) : null,
      autoMerge: pull.status === 'active' && (pull.autoCompleteSetBy?.id ?? NOBODY) !== NOBODY,
      // It does not say when it was changed last.
      updatedAt: closed ?? time(label, pull.creationDate),
      closedAt: closed,
    };
  }

  const get = async (number: number) => toPull((await call('GET', `${pulls}/${number}?${VERSION}`)).body);

  async function whole(pull: ForgePullRequest): Promise<ForgePullRequest> {
    if (pull.body.length < CUT_IN_LISTS) return pull;
    const key = `${pull.number} ${pull.body}`;
    const known = texts.get(key) ?? (await get(pull.number)).body;
    texts.set(key, known);
    return { ...pull, body: known };
  }

  async function listed(
    filter: { targetRefName?: string; sourceRefName?: string },
    leftOut?: LeftOut,
  ): Promise<ForgePullRequest[]> {
    const found: ForgePullRequest[] = [];
    for (let skip = 0; skip < MOST_PULLS; skip += PAGE) {
      const query = new URLSearchParams({
        ...Object.fromEntries(
          Object.entries({ status: 'active', ...filter }).map(([field, value]) => [
            `searchCriteria.${field}`,
            value,
          ]),
        ),
        ...{ $top: String(PAGE), $skip: String(skip) },
      });
      const { body: answer } = await call('GET', `${pulls}?${query}&${VERSION}`);
      const { value } = read(label, PullList, answer);
      found.push(...(await readPulls(label, value, async (one) => whole(toPull(one)), leftOut)));
      if (value.length < PAGE) break;
    }
    return found.slice(0, MOST_PULLS);
  }

  const findOpen = async ({ base, branch: source }: OpenRequest) =>
    (await listed({ targetRefName: `refs/heads/${base}`, sourceRefName: `refs/heads/${source}` })).find(
      (pull) => !pull.isFork,
    ) ?? null;

  async function create(request: OpenRequest, reviewers: readonly string[]): Promise<ForgePullRequest> {
    const { labels = [] } = request;
    const { body: answer } = await call('POST', `${pulls}?${VERSION}`, {
      sourceRefName: `refs/heads/${request.branch}`,
      targetRefName: `refs/heads/${request.base}`,
      title: request.title,
      description: shortened(request.body, LONGEST_DESCRIPTION),
      ...(request.isDraft ? { isDraft: true } : {}),
      ...(labels.length > 0 ? { labels: labels.map((one) => ({ name: one })) } : {}),
      ...(reviewers.length > 0 ? { reviewers: reviewers.map((id) => ({ id })) } : {}),
    });
    // Its head may not be in the answer yet.
    return get(read(label, Numbered, answer).pullRequestId);
  }

  async function change(number: number, fields: object): Promise<ForgePullRequest> {
    return toPull((await call('PATCH', `${pulls}/${number}?${VERSION}`, fields)).body);
  }
  const bodyOf = (fields: { title?: string; body?: string }) => ({
    ...(fields.title === undefined ? {} : { title: fields.title }),
    ...(fields.body === undefined ? {} : { description: shortened(fields.body, LONGEST_DESCRIPTION) }),
  });

  const ownId = remembered(async () => {
    const { body: answer } = await call('GET', '/_apis/connectionData?api-version=7.1-preview');
    return read(label, Connection, answer).authenticatedUser.id;
  });

  const threads = (number: number, more = '') => `${pulls}/${number}/threads${more}?${VERSION}`;
  const comments: Comments = {
    async find(number, text) {
      const id = await ownId();
      const { value } = read(label, ThreadList, (await call('GET', threads(number))).body);
      const found = value.find(({ isDeleted, comments: said }) => {
        const first = said?.[0];
        const isThere = isDeleted !== true && first?.isDeleted !== true;
        return isThere && first?.content?.includes(text) && first.author?.id === id;
      });
      return found ? String(found.id) : null;
    },
    async create(number, text) {
      const { body: answer } = await call('POST', threads(number), {
        comments: [{ parentCommentId: 0, content: text, commentType: 'text' }],
        // An active one may keep it from being completed.
        status: 'closed',
      });
      return String(read(label, Thread, answer).id);
    },
    async update(number, id, text) {
      const thread = `/${encodeURIComponent(id)}`;
      try {
        const { isDeleted, comments: said } = read(
          label,
          Thread,
          (await call('GET', threads(number, thread))).body,
        );
        const first = said?.[0];
        if (isDeleted === true || !first || first.isDeleted === true) return false;
        await call('PATCH', threads(number, `${thread}/comments/${first.id}`), { content: text });
        return true;
      } catch (error) {
        if (isGone(error)) return false;
        throw error;
      }
    },
  };

  const setStatus: Forge['setStatus'] = async (
    sha,
    { context, state, description, url: targetUrl, number },
  ) => {
    const [genre = '', ...rest] = context.split('/');
    const status = {
      state: STATES[state],
      description: shortened(description, DESCRIPTION),
      targetUrl,
      context: { genre, name: rest.join('/') },
    };
    await call('POST', `${repository}/commits/${sha}/statuses?${VERSION}`, status);
    if (number === undefined) return;
    // Of this very iteration: without one it would go on to count for what is pushed later.
    const iterationId = await iterationOf(number, sha);
    if (iterationId !== null)
      await call('POST', `${pulls}/${number}/statuses?${VERSION}`, { ...status, iterationId });
  };

  /** The newest with this head; null where somebody has pushed meanwhile. */
  async function iterationOf(number: number, sha: string): Promise<number | null> {
    const { body: answer } = await call('GET', `${pulls}/${number}/iterations?${VERSION}`);
    const { value } = read(label, IterationList, answer);
    return value.findLast(({ sourceRefCommit }) => sourceRefCommit?.commitId === sha)?.id ?? null;
  }

  return {
    name: 'azure-devops',
    open: (request, leftOut) =>
      openOnce({
        find: () => findOpen(request),
        create: () => openWithReviewers(request, (reviewers) => create(request, reviewers), leftOut),
        bringUpToDate: ({ number }) => change(number, bodyOf(request)),
      }),
    async update(number, fields) {
      await change(number, bodyOf(fields));
    },
    async close(number) {
      if ((await get(number)).state === 'open') await change(number, { status: 'abandoned' });
    },
    get: (number) =>
      orNull(
        () => get(number),
        () => call('GET', `${repository}?${VERSION}`),
      ),
    listOpen: (base, leftOut) => listed({ targetRefName: `refs/heads/${base}` }, leftOut),
    async usesBranch(one) {
      const ref = `refs/heads/${one}`;
      return (
        (await isAnyIn((leftOut) => listed({ sourceRefName: ref }, leftOut), isOwn)) ||
        (await isAnyIn((leftOut) => listed({ targetRefName: ref }, leftOut)))
      );
    },
    comment: (number, sticky) => keepComment(comments, number, sticky, { longest: LONGEST_COMMENT }),
    setStatus,
    // It does not say.
    tokenEnd: () => Promise.resolve(null),
    async check() {
      const { body: answer } = await call('GET', `${repository}?${VERSION}`);
      if (read(label, Repository, answer).isDisabled)
        throw new ForgeError('refused', `${project} is disabled on ${label}; nothing can be written there`);
      await ownId();
      await call('GET', `${pulls}?$top=1&${VERSION}`);
      await assertMay(() => setStatus(NO_COMMIT, PROBE));
      await assertMay(() => comments.create(NO_PULL, 'headgate'));
    },
    headRef: ({ branch: source, isFork }) => (isFork ? null : `refs/heads/${source}`),
    async autoMerge(number, wanted) {
      if (wanted === null) {
        await change(number, { autoCompleteSetBy: { id: NOBODY } });
        return;
      }
      assertHead(label, await get(number), wanted.headSha);
      const { state, headSha } = await change(number, {
        autoCompleteSetBy: { id: await ownId() },
        completionOptions: { mergeStrategy: STRATEGIES[wanted.method], deleteSourceBranch: false },
      });
      if (state !== 'open' || headSha === wanted.headSha) return;
      // Somebody has pushed in between.
      await change(number, { autoCompleteSetBy: { id: NOBODY } });
      assertHead(label, { headSha }, wanted.headSha);
    },
  };
}
