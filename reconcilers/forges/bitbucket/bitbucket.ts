/**
 * Bitbucket Cloud, by plain calls. https://developer.atlassian.com/cloud/bitbucket/rest/
 *
 * It names commits by twelve characters in pull requests, shows HTML comments to people, keeps deleted comments as such, and
 * hands the head of a fork out from nowhere.
 */
import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';
import type { CheckState } from '../../../schemas/api/delivery/pull-requests.ts';
import {
  type Forge,
  ForgeError,
  type ForgePullRequest,
  ForgeReply,
  type LeftOut,
  type OpenRequest,
} from '../forge.ts';
import type { ForgeParts } from '../forge-options.ts';
import {
  assertMay,
  type Comments,
  hiddenInMarkdown,
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
import { bitbucketCalls } from './calls.ts';
import { type Account, Comment, Commit, Own, Pull } from './responses.ts';

const PAGE = 50;
const COMMENT_PAGE = 100;
const MOST_PULLS = 500;
const COMMENT_PAGES = 10;
const LONGEST_TEXT = 32_768;
const LONGEST_KEY = 40;
const COMMITS_KEPT = 5_000;
const STATES: Readonly<Record<CheckState, string>> = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
};

const nameOf = (account: Static<typeof Account> | undefined) =>
  userName(account?.nickname ?? account?.display_name);

export function createBitbucket({ transport, url, project, token }: ForgeParts): Forge {
  const { label } = transport;
  const { call, pages } = bitbucketCalls(transport, url, token);
  const repository = `/repositories/${project.split('/').map(encodeURIComponent).join('/')}`;
  const pulls = `${repository}/pullrequests`;
  const commits = new BoundedMap<string>(COMMITS_KEPT);

  /** The whole id. A fork that is hidden from us keeps the short one. */
  async function whole(short: string, owner: string): Promise<string> {
    if (short.length >= 40) return short;
    const known = commits.get(`${owner} ${short}`);
    if (known) return known;
    const path = `/repositories/${owner}/commit/${short}?fields=hash`;
    const { hash } = read(label, Commit, (await call('GET', path)).body);
    if (!hash.startsWith(short))
      throw new ForgeError('unavailable', `${label} answers with another commit than asked`);
    commits.set(`${owner} ${short}`, hash);
    return hash;
  }

  async function toPull(pull: Pull): Promise<ForgePullRequest> {
    const here = pull.destination.repository.full_name;
    const from = pull.source.repository?.full_name ?? null;
    const merged = pull.state === 'MERGED';
    const short = pull.source.commit.hash;
    const headSha = await whole(short, from ?? here).catch((error: unknown) => {
      // Its branch, or the whole fork, may be gone.
      if (error instanceof ForgeReply) return short;
      throw error;
    });
    return {
      number: pull.id,
      title: title(pull.title),
      body: body(pull.description),
      state: pull.state === 'OPEN' ? 'open' : merged ? 'merged' : 'closed',
      isDraft: pull.draft === true,
      branch: branch(pull.source.branch.name),
      base: branch(pull.destination.branch.name),
      headSha,
      isFork: from !== here,
      author: nameOf(pull.author),
      url: pull.links.html.href,
      mergeSha: merged && pull.merge_commit ? await whole(pull.merge_commit.hash, here) : null,
      mergedBy: merged ? nameOf(pull.closed_by) : null,
      updatedAt: time(label, pull.updated_on),
      // It does not say when; nothing but comments comes after it.
      closedAt: pull.state === 'OPEN' ? null : time(label, pull.updated_on),
    };
  }

  const readPull = (value: unknown): Pull => read(label, Pull, value);
  const raw = async (number: number): Promise<Pull> =>
    readPull((await call('GET', `${pulls}/${number}`)).body);

  async function listed(filter: string, enough: number, leftOut?: LeftOut): Promise<ForgePullRequest[]> {
    const query = new URLSearchParams({ q: `state = "OPEN" AND ${filter}`, pagelen: String(PAGE) });
    const found: ForgePullRequest[] = [];
    for await (const values of pages(`${pulls}?${query}`)) {
      // The source of a fork that was deleted has no commit any more.
      found.push(...(await readPulls(label, values, (value) => toPull(readPull(value)), leftOut)));
      if (found.length >= enough) break;
    }
    return found.slice(0, enough);
  }

  const findOpen = async ({ branch: source, base }: OpenRequest) => {
    const filter = `source.branch.name = ${quoted(source)} AND destination.branch.name = ${quoted(base)}`;
    return (await listed(filter, PAGE)).find((pull) => !pull.isFork) ?? null;
  };

  async function change(
    number: number,
    fields: { title?: string; body?: string },
  ): Promise<ForgePullRequest> {
    // What is left out might be taken for nothing.
    const now = await raw(number);
    const description = shortened(fields.body ?? now.description ?? '', LONGEST_TEXT);
    const { body: answer } = await call('PUT', `${pulls}/${number}`, {
      title: fields.title ?? now.title,
      description,
      ...(now.reviewers ? { reviewers: now.reviewers.map(({ uuid }) => ({ uuid })) } : {}),
    });
    return toPull(readPull(answer));
  }

  async function create(request: OpenRequest, reviewers: readonly string[]): Promise<ForgePullRequest> {
    const { body: answer } = await call('POST', pulls, {
      title: request.title,
      description: shortened(request.body, LONGEST_TEXT),
      source: { branch: { name: request.branch } },
      destination: { branch: { name: request.base } },
      ...(request.isDraft ? { draft: true } : {}),
      ...(reviewers.length > 0
        ? { reviewers: reviewers.map((id) => (id.startsWith('{') ? { uuid: id } : { account_id: id })) }
        : {}),
    });
    return toPull(readPull(answer));
  }

  const uuid = remembered(async () => read(label, Own, (await call('GET', '/user')).body).uuid);
  /** Null for the token of a repository, which is nobody. */
  const ownId = () =>
    uuid().catch((error: unknown) => {
      if (error instanceof ForgeReply) return null;
      throw error;
    });

  const commentPath = (number: number, id = '') =>
    `${pulls}/${number}/comments${id && `/${encodeURIComponent(id)}`}`;
  const comments: Comments = {
    async find(number, text) {
      const id = await ownId();
      let page = 0;
      for await (const values of pages(`${commentPath(number)}?pagelen=${COMMENT_PAGE}`)) {
        for (const value of values) {
          const one = read(label, Comment, value);
          // Nobody may edit what others wrote, so that one of somebody else is refused then.
          const ours = id === null || one.user?.uuid === id;
          if (ours && one.deleted !== true && one.content?.raw?.includes(text)) return String(one.id);
        }
        page += 1;
        if (page === COMMENT_PAGES) break;
      }
      return null;
    },
    async create(number, text) {
      const { body: answer } = await call('POST', commentPath(number), { content: { raw: text } });
      return String(read(label, Comment, answer).id);
    },
    async update(number, id, text) {
      try {
        await call('PUT', commentPath(number, id), { content: { raw: text } });
        return true;
      } catch (error) {
        if (error instanceof ForgeReply && (await isUnusable(number, id))) return false;
        throw error;
      }
    },
  };

  /** Deleted, or of somebody else. */
  async function isUnusable(number: number, id: string): Promise<boolean> {
    try {
      const one = read(label, Comment, (await call('GET', commentPath(number, id))).body);
      const own = await ownId();
      return one.deleted === true || own === null || one.user?.uuid !== own;
    } catch (error) {
      if (isGone(error)) return true;
      throw error;
    }
  }

  const setStatus: Forge['setStatus'] = async (sha, { context, state, description, url: target }) => {
    await call('POST', `${repository}/commit/${sha}/statuses/build`, {
      key: keyOf(context),
      name: context,
      state: STATES[state],
      description: shortened(description, DESCRIPTION),
      url: target,
    });
  };

  return {
    name: 'bitbucket',
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
      if ((await raw(number)).state === 'OPEN') await call('POST', `${pulls}/${number}/decline`);
    },
    get: (number) =>
      orNull(
        async () => toPull(await raw(number)),
        () => call('GET', repository),
      ),
    listOpen: (base, leftOut) => listed(`destination.branch.name = ${quoted(base)}`, MOST_PULLS, leftOut),
    async usesBranch(name) {
      const filter = `(source.branch.name = ${quoted(name)} OR destination.branch.name = ${quoted(name)})`;
      const isMeant = (pull: ForgePullRequest) => isOwn(pull) || pull.base === name;
      return isAnyIn((leftOut) => listed(filter, PAGE, leftOut), isMeant);
    },
    comment: (number, sticky) =>
      keepComment(comments, number, sticky, { longest: LONGEST_TEXT, hidden: hiddenInMarkdown }),
    setStatus,
    // It does not say.
    tokenEnd: () => Promise.resolve(null),
    async check() {
      const { headers } = await call('GET', repository);
      const scopes =
        headers
          .get('x-oauth-scopes')
          ?.split(/[\s,]+/)
          .filter(Boolean) ?? [];
      const mayWrite = scopes.some((scope) =>
        /^pullrequest:write$|^write:pullrequest:bitbucket$/.test(scope),
      );
      if (scopes.length > 0 && !mayWrite)
        throw new ForgeError(
          'credentials',
          `${label}: the token may not write pull requests; make one with the scopes pullrequest:write and repository:write`,
        );
      await call('GET', `${pulls}?pagelen=1`);
      await assertMay(() => setStatus(NO_COMMIT, PROBE));
      await assertMay(() => comments.create(NO_PULL, 'headgate'));
    },
    headRef: ({ branch: name, isFork }) => (isFork ? null : `refs/heads/${name}`),
  };
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

/** Statuses of one key take each other's place. */
function keyOf(context: string): string {
  if (context.length <= LONGEST_KEY) return context;
  const digest = createHash('sha256').update(context).digest('hex').slice(0, 8);
  return `${context.slice(0, LONGEST_KEY - 9).toWellFormed()}-${digest}`;
}
