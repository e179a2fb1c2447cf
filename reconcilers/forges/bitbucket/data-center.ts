/**
 * Bitbucket Data Center, by plain calls. https://developer.atlassian.com/server/bitbucket/rest/
 *
 * What is changed names the version that was looked at. Comments are found among the activities, and so is who has merged.
 */
import type { Static } from 'typebox';
import type { CheckState, MergeMethod } from '../../../schemas/api/delivery/pull-requests.ts';
import { type Forge, ForgeError, type ForgePullRequest, ForgeReply, type OpenRequest } from '../forge.ts';
import type { ForgeParts } from '../forge-options.ts';
import {
  assertHead,
  assertMay,
  type Comments,
  hiddenInMarkdown,
  ifThere,
  isAnyIn,
  isGone,
  isOwn,
  keepComment,
  NO_PULL,
  openOnce,
  openWithReviewers,
  orNull,
} from '../idempotent-writes.ts';
import {
  body,
  branch,
  DESCRIPTION,
  read,
  readPulls,
  shortened,
  title,
  userName,
} from '../response-schemas.ts';
import { jsonCalls } from '../transport/json-calls.ts';
import { Activity, Comment, Page, Pull, Repository, type User } from './data-center-responses.ts';

const PAGE = 50;
const MOST_PULLS = 500;
const MOST_PAGES = 20;
const LONGEST_TEXT = 32_768;
const LONGEST_KEY = 255;
const STATES: Readonly<Record<CheckState, string>> = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
};

/** https://developer.atlassian.com/server/bitbucket/rest/: names of its merge strategies. */
const STRATEGIES: Readonly<Record<MergeMethod, string>> = {
  merge: 'no-ff',
  squash: 'squash',
  rebase: 'rebase-no-ff',
};

const nameOf = (user: Static<typeof User> | null | undefined) => userName(user?.name ?? user?.displayName);

export function createBitbucketDataCenter({ transport, url, project, token }: ForgeParts): Forge {
  const { label } = transport;
  const call = jsonCalls(transport, url, {
    authorization: `Bearer ${token}`,
    // https://confluence.atlassian.com/cloudkb/xsrf-check-failed-when-calling-cloud-apis-826874382.html
    'x-atlassian-token': 'no-check',
  });
  const [key = '', slug = ''] = project.split('/').map(encodeURIComponent);
  const repository = `/projects/${key}/repos/${slug}`;
  const pulls = `${repository}/pull-requests`;
  const where = { slug: project.split('/')[1] ?? '', project: { key: project.split('/')[0] ?? '' } };

  async function* pages(path: string): AsyncGenerator<readonly unknown[]> {
    let start: number | null = 0;
    for (let page = 0; start !== null && page < MOST_PAGES; page += 1) {
      const join: string = path.includes('?') ? '&' : '?';
      const { body: answer } = await call('GET', `${path}${join}limit=${PAGE}&start=${start}`);
      const { values, isLastPage, nextPageStart }: Static<typeof Page> = read(label, Page, answer);
      yield values;
      start = isLastPage ? null : (nextPageStart ?? null);
    }
  }

  async function* activities(number: number): AsyncGenerator<Static<typeof Activity>> {
    for await (const values of pages(`${pulls}/${number}/activities`))
      for (const value of values) yield read(label, Activity, value);
  }

  const readPull = (value: unknown): Pull => read(label, Pull, value);
  const raw = async (number: number) => readPull((await call('GET', `${pulls}/${number}`)).body);

  function toPull(pull: Pull): ForgePullRequest {
    const merged = pull.state === 'MERGED';
    return {
      number: pull.id,
      title: title(pull.title),
      body: body(pull.description),
      state: pull.state === 'OPEN' ? 'open' : merged ? 'merged' : 'closed',
      isDraft: pull.draft === true,
      branch: branch(pull.fromRef.id),
      base: branch(pull.toRef.id),
      headSha: pull.fromRef.latestCommit,
      isFork: pull.fromRef.repository.id !== pull.toRef.repository.id,
      author: nameOf(pull.author.user),
      url: pull.links.self[0]?.href ?? '',
      mergeSha: merged ? (pull.properties?.mergeCommit?.id ?? null) : null,
      mergedBy: null,
      updatedAt: new Date(pull.updatedDate),
      closedAt: pull.state === 'OPEN' ? null : new Date(pull.closedDate ?? pull.updatedDate),
    };
  }

  async function get(number: number): Promise<ForgePullRequest> {
    const pull = toPull(await raw(number));
    if (pull.state !== 'merged') return pull;
    for await (const { action, user, commit } of activities(number))
      if (action === 'MERGED')
        return { ...pull, mergedBy: nameOf(user), mergeSha: commit?.id ?? pull.mergeSha };
    return pull;
  }

  async function listed(
    name: string,
    leftOut?: (sentence: string) => void,
    direction: 'INCOMING' | 'OUTGOING' = 'INCOMING',
  ): Promise<ForgePullRequest[]> {
    const query = new URLSearchParams({ state: 'OPEN', at: `refs/heads/${name}`, direction });
    const found: ForgePullRequest[] = [];
    for await (const values of pages(`${pulls}?${query}`)) {
      found.push(...(await readPulls(label, values, (value) => toPull(readPull(value)), leftOut)));
      if (found.length >= MOST_PULLS) break;
    }
    return found.slice(0, MOST_PULLS);
  }

  const findOpen = async ({ branch: source, base }: OpenRequest) =>
    (await listed(base)).find((pull) => !pull.isFork && pull.branch === source) ?? null;

  /** Once more where somebody else was quicker. */
  async function change(
    number: number,
    fields: { title?: string; body?: string },
    again = true,
  ): Promise<ForgePullRequest> {
    const now = await raw(number);
    try {
      const { body: answer } = await call('PUT', `${pulls}/${number}`, {
        version: now.version,
        title: fields.title ?? now.title,
        description: shortened(fields.body ?? now.description ?? '', LONGEST_TEXT),
        // What is left out is taken away.
        reviewers: (now.reviewers ?? []).map(({ user }) => ({ user: { name: user.name } })),
        ...(now.draft === true ? { draft: true } : {}),
      });
      return toPull(readPull(answer));
    } catch (error) {
      if (again && error instanceof ForgeReply && error.status === 409) return change(number, fields, false);
      throw error;
    }
  }

  async function create(request: OpenRequest, reviewers: readonly string[]): Promise<ForgePullRequest> {
    const { body: answer } = await call('POST', pulls, {
      title: request.title,
      description: shortened(request.body, LONGEST_TEXT),
      fromRef: { id: `refs/heads/${request.branch}`, repository: where },
      toRef: { id: `refs/heads/${request.base}`, repository: where },
      ...(request.isDraft ? { draft: true } : {}),
      ...(reviewers.length > 0 ? { reviewers: reviewers.map((name) => ({ user: { name } })) } : {}),
    });
    return toPull(readPull(answer));
  }

  /** Of every answer to somebody who is let in. */
  const ownName = async () => (await call('GET', repository)).headers.get('x-ausername');

  const comments: Comments = {
    async find(number, text) {
      const own = await ownName();
      let found: string | null = null;
      // The newest come first.
      for await (const { action, comment } of activities(number))
        if (action === 'COMMENTED' && comment?.text.includes(text) && comment.author?.name === own)
          found = String(comment.id);
      return found;
    },
    async create(number, text) {
      const { body: answer } = await call('POST', `${pulls}/${number}/comments`, { text });
      return String(read(label, Comment, answer).id);
    },
    async update(number, id, text) {
      const path = `${pulls}/${number}/comments/${encodeURIComponent(id)}`;
      try {
        const { version } = read(label, Comment, (await call('GET', path)).body);
        await call('PUT', path, { text, version });
        return true;
      } catch (error) {
        if (isGone(error)) return false;
        throw error;
      }
    },
  };

  return {
    name: 'bitbucket-data-center',
    open: (request, leftOut) =>
      openOnce({
        find: () => findOpen(request),
        create: () => openWithReviewers(request, (reviewers) => create(request, reviewers), leftOut),
        bringUpToDate: ({ number }) => change(number, { title: request.title, body: request.body }),
      }),
    async update(number, fields) {
      await change(number, fields);
    },
    async close(number) {
      const { state, version } = await raw(number);
      if (state === 'OPEN') await call('POST', `${pulls}/${number}/decline?version=${version}`, {});
    },
    get: (number) =>
      orNull(
        () => get(number),
        () => call('GET', repository),
      ),
    listOpen: (base, leftOut) => listed(base, leftOut),
    usesBranch: async (name) =>
      (await isAnyIn((leftOut) => listed(name, leftOut, 'OUTGOING'), isOwn)) ||
      (await isAnyIn((leftOut) => listed(name, leftOut))),
    comment: (number, sticky) =>
      keepComment(comments, number, sticky, { longest: LONGEST_TEXT, hidden: hiddenInMarkdown }),
    async setStatus(sha, { context, state, description, url: target, ref }) {
      const key = context.slice(0, LONGEST_KEY).toWellFormed();
      await call('POST', `${repository}/commits/${sha}/builds`, {
        // Required builds are known by the parent.
        ...{ key, parent: key, name: key },
        state: STATES[state],
        description: shortened(description, DESCRIPTION),
        url: target,
        ...(ref === undefined ? {} : { ref: `refs/heads/${ref}` }),
      });
    },
    // It does not say.
    tokenEnd: () => Promise.resolve(null),
    async check() {
      const { archived } = read(label, Repository, (await call('GET', repository)).body);
      if (archived)
        throw new ForgeError('refused', `${project} is archived on ${label}; nothing can be written there`);
      await call('GET', `${pulls}?state=OPEN&limit=1`);
      // It keeps statuses of commits that it does not know: that is not tried.
      await assertMay(() => comments.create(NO_PULL, 'headgate'));
    },
    headRef: ({ number }) => `refs/pull-requests/${number}/from`,
    // It does not say of a pull request whether it is asked for. Since 8.15.
    async autoMerge(number, wanted) {
      if (wanted === null) {
        await ifThere(() => call('DELETE', `${pulls}/${number}/auto-merge`));
        return;
      }
      const now = await raw(number);
      assertHead(label, toPull(now), wanted.headSha);
      // A push in between makes another version of it, and cancels a merge that waits.
      await call('POST', `${pulls}/${number}/merge?version=${now.version}`, {
        ...{ autoMerge: true, version: now.version, strategyId: STRATEGIES[wanted.method] },
      });
    },
  };
}
