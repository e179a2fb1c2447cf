/**
 * GitHub, github.com and Enterprise, by its own client. https://docs.github.com/rest
 *
 * A pull request is also an issue: its comments are the issue's. `merge_commit_sha` is that of a merge, a squash, or the
 * last of a rebase once it is merged, and of a trial before.
 */
import { Octokit } from '@octokit/rest';
import Type, { type Static } from 'typebox';
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
  ifThere,
  isAnyIn,
  isGone,
  keepComment,
  missingIn,
  NO_COMMIT,
  NO_PULL,
  openOnce,
  orNull,
  remembered,
  unlessRefused,
  usersAndTeams,
} from '../idempotent-writes.ts';
import {
  body,
  branch,
  DESCRIPTION,
  Maybe,
  read,
  readPulls,
  Sha,
  shortened,
  Time,
  time,
  title,
  userName,
  WebAddress,
} from '../response-schemas.ts';
import { endOf } from '../token-expiry.ts';
import { unwrapped } from '../transport/faults.ts';
import type { Transport } from '../transport/transport.ts';
import type { AppAccess } from './app-tokens.ts';
import { gitHubAutoMerge } from './auto-merge.ts';
import { GITHUB_HEADERS } from './headers.ts';

const PAGE = 100;
const MOST_PULLS = 500;
const COMMENT_PAGES = 10;
const LONGEST_TEXT = 65_536;

const Login = Maybe(Type.Object({ login: Type.String() }));
const Repository = Type.Object({ id: Type.Integer() });
const Pull = Type.Object({
  number: Type.Integer(),
  title: Type.String(),
  body: Maybe(Type.String()),
  state: Type.Enum(['open', 'closed']),
  draft: Maybe(Type.Boolean()),
  html_url: WebAddress,
  user: Login,
  head: Type.Object({ ref: Type.String(), sha: Sha, repo: Maybe(Repository) }),
  base: Type.Object({ ref: Type.String(), repo: Repository }),
  merged_at: Maybe(Time),
  merged_by: Login,
  merge_commit_sha: Maybe(Sha),
  auto_merge: Maybe(Type.Object({})),
  updated_at: Time,
  closed_at: Maybe(Time),
});
const CommentList = Type.Array(
  Type.Object({
    id: Type.Integer(),
    body: Maybe(Type.String()),
    user: Login,
    performed_via_github_app: Maybe(Type.Object({})),
  }),
);
const Made = Type.Object({ id: Type.Integer() });
const Assigned = Type.Object({ assignees: Maybe(Type.Array(Type.Object({ login: Type.String() }))) });
const Refs = Type.Array(Type.Object({ ref: Type.String(), object: Type.Object({ sha: Sha }) }));
const Project = Type.Object({
  archived: Maybe(Type.Boolean()),
  permissions: Maybe(Type.Object({ push: Maybe(Type.Boolean()) })),
});

const silently = () => {};
/** It would write to the console. */
const QUIET = { debug: silently, info: silently, warn: silently, error: silently };

export function createGitHub({ transport, url, project, token, app }: ForgeParts): Forge {
  const { label } = transport;
  const [owner = '', repo = ''] = project.split('/');
  const of = { owner, repo };
  const { rest, paginate, graphql } = new Octokit({
    baseUrl: url,
    log: QUIET,
    request: { fetch: gitHubFetch(transport, app ?? token) },
  });

  async function asked<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw unwrapped(error, transport);
    }
  }

  function toPull(value: unknown): ForgePullRequest {
    const pull = read(label, Pull, value);
    const merged = Boolean(pull.merged_at);
    return {
      number: pull.number,
      title: title(pull.title),
      body: body(pull.body),
      state: merged ? 'merged' : pull.state,
      isDraft: pull.draft === true,
      branch: branch(pull.head.ref),
      base: branch(pull.base.ref),
      headSha: pull.head.sha,
      // A fork that was deleted has no repository.
      isFork: pull.head.repo?.id !== pull.base.repo.id,
      author: userName(pull.user?.login),
      url: pull.html_url,
      mergeSha: merged ? (pull.merge_commit_sha ?? null) : null,
      mergedBy: merged && pull.merged_by ? userName(pull.merged_by.login) : null,
      autoMerge: Boolean(pull.auto_merge),
      updatedAt: time(label, pull.updated_at),
      closedAt: pull.closed_at ? time(label, pull.closed_at) : null,
    };
  }

  const get = async (number: number) =>
    toPull((await asked(() => rest.pulls.get({ ...of, pull_number: number }))).data);

  async function findOpen(request: OpenRequest): Promise<ForgePullRequest | null> {
    const { data } = await asked(() =>
      rest.pulls.list({
        ...of,
        state: 'open',
        base: request.base,
        head: `${owner}:${request.branch}`,
        per_page: PAGE,
      }),
    );
    return (
      (await readPulls(label, data, toPull)).find((pull) => !pull.isFork && pull.branch === request.branch) ??
      null
    );
  }

  async function change(number: number, fields: { title?: string; body?: string; state?: 'closed' }) {
    const cut = fields.body === undefined ? {} : { body: shortened(fields.body, LONGEST_TEXT) };
    return toPull(
      (await asked(() => rest.pulls.update({ ...of, pull_number: number, ...fields, ...cut }))).data,
    );
  }

  async function create(request: OpenRequest, leftOut?: LeftOut): Promise<ForgePullRequest> {
    const { branch: head, base, title: name, isDraft = false } = request;
    const text = shortened(request.body, LONGEST_TEXT);
    const make = (draft: boolean) =>
      asked(() =>
        rest.pulls.create({ ...of, head, base, title: name, body: text, ...(draft ? { draft } : {}) }),
      );
    try {
      return toPull((await make(isDraft)).data);
    } catch (error) {
      // Private repositories of some plans have none.
      if (!isDraft || !(error instanceof ForgeReply) || !/draft/i.test(error.said)) throw error;
      leftOut?.(`It is no draft: ${error.message}`);
      return toPull((await make(false)).data);
    }
  }

  /** https://docs.github.com/rest/pulls/review-requests and https://docs.github.com/rest/issues/assignees */
  async function furnish(
    number: number,
    { labels = [], reviewers = [], assignees = [] }: OpenRequest,
    leftOut?: LeftOut,
  ): Promise<void> {
    const issue = { ...of, issue_number: number };
    if (labels.length > 0)
      await unlessRefused(
        'Labels',
        () => asked(() => rest.issues.addLabels({ ...issue, labels: [...labels] })),
        leftOut,
      );
    if (reviewers.length > 0) {
      const { people, teams } = usersAndTeams(reviewers);
      await unlessRefused(
        'Reviewers',
        () =>
          asked(() =>
            rest.pulls.requestReviewers({
              ...of,
              pull_number: number,
              reviewers: people,
              team_reviewers: teams,
            }),
          ),
        leftOut,
      );
    }
    if (assignees.length > 0)
      await unlessRefused(
        'Assignees',
        async () => {
          const { data } = await asked(() =>
            rest.issues.addAssignees({ ...issue, assignees: [...assignees] }),
          );
          // It leaves out users that it cannot assign, silently.
          const now = read(label, Assigned, data).assignees ?? [];
          const missing = missingIn(
            assignees,
            now.map(({ login }) => login),
          );
          if (missing.length > 0)
            leftOut?.(`Assignees left out: ${label} does not assign ${missing.join(', ')} there`);
        },
        leftOut,
      );
  }

  // https://docs.github.com/apps/creating-github-apps/about-creating-github-apps: an app comments as `slug[bot]`.
  const login = remembered(async () =>
    app
      ? `${(await app.installation()).app_slug}[bot]`
      : (await asked(() => rest.users.getAuthenticated())).data.login,
  );
  /** Null for the token of an app's installation, which may not ask who it is. */
  const ownLogin = () =>
    login().catch((error: unknown) => {
      if (app === null && error instanceof ForgeError && error.fault === 'credentials') return null;
      throw error;
    });

  const comments: Comments = {
    async find(number, text) {
      const own = await ownLogin();
      const isOurs = (one: Static<typeof CommentList>[number]) =>
        own === null ? Boolean(one.performed_via_github_app) : one.user?.login === own;
      let pages = 0;
      const all = paginate.iterator(rest.issues.listComments, {
        ...of,
        issue_number: number,
        per_page: PAGE,
      });
      return asked(async () => {
        for await (const { data } of all) {
          const found = read(label, CommentList, data).find((one) => one.body?.includes(text) && isOurs(one));
          if (found) return String(found.id);
          pages += 1;
          if (pages === COMMENT_PAGES) break;
        }
        return null;
      });
    },
    async create(number, text) {
      const { data } = await asked(() =>
        rest.issues.createComment({ ...of, issue_number: number, body: text }),
      );
      return String(read(label, Made, data).id);
    },
    update: (_number, id, text) =>
      ifThere(() => asked(() => rest.issues.updateComment({ ...of, comment_id: Number(id), body: text }))),
  };

  return {
    name: 'github',
    open: (request, leftOut) =>
      openOnce({
        find: () => findOpen(request),
        create: async () => {
          const made = await create(request, leftOut);
          await furnish(made.number, request, leftOut);
          return made;
        },
        bringUpToDate: ({ number }) => change(number, { title: request.title, body: request.body }),
      }),
    async update(number, fields) {
      await change(number, fields);
    },
    async close(number) {
      if ((await get(number)).state === 'open') await change(number, { state: 'closed' });
    },
    get: (number) =>
      orNull(
        () => get(number),
        () => asked(() => rest.repos.get(of)),
      ),
    async listOpen(base, leftOut) {
      const found: ForgePullRequest[] = [];
      const pages = paginate.iterator(rest.pulls.list, { ...of, state: 'open', base, per_page: PAGE });
      await asked(async () => {
        for await (const { data } of pages) {
          found.push(...(await readPulls(label, data, toPull, leftOut)));
          if (found.length >= MOST_PULLS) break;
        }
      });
      return found.slice(0, MOST_PULLS);
    },
    async usesBranch(name) {
      for (const filter of [{ head: `${owner}:${name}` }, { base: name }]) {
        const { data } = await asked(() =>
          rest.pulls.list({ ...of, state: 'open', per_page: PAGE, ...filter }),
        );
        if (await isAnyIn((leftOut) => readPulls(label, data, toPull, leftOut))) return true;
      }
      return false;
    },
    comment: (number, sticky) => keepComment(comments, number, sticky, { longest: LONGEST_TEXT }),
    async setStatus(sha, { context, state, description, url: target }) {
      const text = shortened(description, DESCRIPTION);
      await asked(() =>
        rest.repos.createCommitStatus({ ...of, sha, state, context, description: text, target_url: target }),
      );
    },
    async check() {
      if (app) await assertPermissions(label, app);
      const { data, headers } = await asked(() => rest.repos.get(of));
      const { archived, permissions } = read(label, Project, data);
      if (archived)
        throw new ForgeError('refused', `${project} is archived on ${label}; nothing can be written there`);
      if (app === null && permissions?.push === false)
        throw new ForgeError(
          'credentials',
          `${label} lets the token only read ${project}; give one of somebody who may write to it`,
        );
      // Of a classic token; a fine-grained one has none, and what it may do shows when it does it.
      const scopes = headers['x-oauth-scopes']?.split(/,\s*/).filter(Boolean) ?? [];
      if (scopes.length > 0 && !scopes.includes('repo') && !scopes.includes('public_repo'))
        throw new ForgeError('credentials', `${label}: the token has no scope "repo"; make one that has it`);
      await asked(() => rest.pulls.list({ ...of, state: 'open', per_page: 1 }));
      const text = 'headgate';
      await assertMay(() =>
        asked(() =>
          rest.repos.createCommitStatus({ ...of, sha: NO_COMMIT, state: 'success', context: text }),
        ),
      );
      await assertMay(() =>
        asked(() => rest.issues.createComment({ ...of, issue_number: NO_PULL, body: text })),
      );
    },
    async tokenEnd() {
      if (app) return null;
      const { headers } = await asked(() => rest.repos.get(of));
      // https://docs.github.com/rest/authentication/token-expiration-and-revocation
      return endOf(String(headers['github-authentication-token-expiration'] ?? ''));
    },
    headRef: ({ number }) => `refs/pull/${number}/head`,
    autoMerge: gitHubAutoMerge({ rest, graphql, of, label, asked }),
    async mergeGroups(base) {
      const ref = `heads/${QUEUE}${base}/`;
      const { data } = await asked(() => rest.git.listMatchingRefs({ ...of, ref, per_page: PAGE })).catch(
        (error: unknown) => {
          if (isGone(error)) return { data: [] };
          throw error;
        },
      );
      return read(label, Refs, data).map(({ ref: name, object }) => {
        const number = Number(/\/pr-(\d{1,9})-[0-9a-f]+$/.exec(name)?.[1] ?? Number.NaN);
        return {
          branch: branch(name.replace(/^refs\/heads\//, '')),
          headSha: object.sha,
          number: Number.isNaN(number) ? null : number,
        };
      });
    },
  };
}

/** https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue */
const QUEUE = 'gh-readonly-queue/';

/** Signs each request, as an app with a token that is renewed once where it is rejected. */
function gitHubFetch(transport: Transport, token: string | AppAccess): Transport['fetch'] {
  return async (url, init = {}) => {
    const signed = async (secret: string) => {
      const headers = new Headers(init.headers as ConstructorParameters<typeof Headers>[0]);
      for (const [name, value] of Object.entries(GITHUB_HEADERS)) headers.set(name, value);
      headers.set('authorization', `token ${secret}`);
      return transport.fetch(url, { ...init, headers });
    };
    if (typeof token === 'string') return signed(token);
    const first = await token.token();
    transport.alsoRedact(first);
    try {
      return await signed(first);
    } catch (error) {
      const isRefused = error instanceof ForgeError && error.fault === 'credentials';
      if (!isRefused || error instanceof ForgeReply) throw error;
      token.refused(first);
      const second = await token.token();
      transport.alsoRedact(second);
      return signed(second);
    }
  };
}

/** Those that everything here needs, as the page of an app names them. */
const PERMISSIONS = { contents: 'Contents', pull_requests: 'Pull requests', statuses: 'Commit statuses' };

async function assertPermissions(label: string, app: AppAccess): Promise<void> {
  const { permissions, app_slug: slug } = await app.installation();
  const missing = Object.entries(PERMISSIONS).flatMap(([name, word]) =>
    permissions[name] === 'write' ? [] : [word],
  );
  if (missing.length > 0)
    throw new ForgeError(
      'credentials',
      `${label}: the app ${slug} may not write ${missing.join(', ')}; give it "Read and write" there, and let the owner of the repository accept that`,
    );
}
