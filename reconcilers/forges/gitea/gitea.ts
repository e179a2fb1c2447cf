/**
 * Gitea and Forgejo, by the client that is made of Gitea's own description. https://docs.gitea.com/api
 *
 * It lists the pull requests of all branches, newest first; a page may be shorter than what was asked for, so that the
 * Link header alone tells whether there is another.
 */
import { giteaApi } from 'gitea-js';
import Type from 'typebox';
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
  assertHead,
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
import { unwrapped } from '../transport/faults.ts';

const PAGE = 50;
const MOST_PULLS = 500;
/** Of all branches together. */
const MOST_PAGES = 60;
const LONGEST_TEXT = 65_536;
const LABEL_PAGES = 10;

const Login = Maybe(Type.Object({ login: Type.String() }));
const Pull = Type.Object({
  number: Type.Integer(),
  title: Type.String(),
  body: Maybe(Type.String()),
  state: Type.Enum(['open', 'closed']),
  draft: Maybe(Type.Boolean()),
  merged: Maybe(Type.Boolean()),
  html_url: WebAddress,
  user: Login,
  head: Type.Object({ ref: Type.String(), sha: Sha, repo_id: Type.Integer() }),
  base: Type.Object({ ref: Type.String(), repo_id: Type.Integer() }),
  merge_commit_sha: Maybe(Sha),
  merged_by: Login,
  updated_at: Time,
  closed_at: Maybe(Time),
});
const CommentList = Type.Array(Type.Object({ id: Type.Integer(), body: Maybe(Type.String()), user: Login }));
const Made = Type.Object({ id: Type.Integer() });
const Labels = Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() }));
const Own = Type.Object({ login: Type.String() });
const Project = Type.Object({
  archived: Maybe(Type.Boolean()),
  permissions: Maybe(Type.Object({ push: Maybe(Type.Boolean()) })),
});

export function createGitea({ transport, url, project, token }: ForgeParts): Forge {
  const { label } = transport;
  const [owner = '', repo = ''] = project.split('/');
  const { repos, user, orgs } = giteaApi(url.replace(/\/api\/v1$/, ''), {
    token,
    customFetch: transport.fetch as typeof fetch,
  });

  async function asked<T>(call: () => Promise<{ data: T; headers: Headers }>) {
    try {
      return await call();
    } catch (error) {
      throw unwrapped(error, transport);
    }
  }

  function toPull(value: unknown): ForgePullRequest {
    const pull = read(label, Pull, value);
    const merged = pull.merged === true;
    return {
      number: pull.number,
      title: title(pull.title),
      body: body(pull.body),
      state: merged ? 'merged' : pull.state,
      isDraft: pull.draft === true,
      branch: branch(pull.head.ref),
      base: branch(pull.base.ref),
      headSha: pull.head.sha,
      isFork: pull.head.repo_id !== pull.base.repo_id,
      author: userName(pull.user?.login),
      url: pull.html_url,
      mergeSha: merged ? (pull.merge_commit_sha ?? null) : null,
      mergedBy: merged && pull.merged_by ? userName(pull.merged_by.login) : null,
      updatedAt: time(label, pull.updated_at),
      closedAt: pull.closed_at ? time(label, pull.closed_at) : null,
    };
  }

  const get = async (number: number) =>
    toPull((await asked(() => repos.repoGetPullRequest(owner, repo, number))).data);

  async function listWhere(
    isWanted: (pull: ForgePullRequest) => boolean,
    leftOut?: LeftOut,
  ): Promise<ForgePullRequest[]> {
    const found: ForgePullRequest[] = [];
    for (let page = 1; page <= MOST_PAGES && found.length < MOST_PULLS; page += 1) {
      const { data, headers } = await asked(() =>
        repos.repoListPullRequests(owner, repo, { state: 'open', page, limit: PAGE }),
      );
      const pulls = await readPulls(label, data, toPull, leftOut);
      found.push(...pulls.filter(isWanted));
      if (pulls.length === 0 || !/rel="?next"?/.test(headers.get('link') ?? '')) break;
    }
    return found.slice(0, MOST_PULLS);
  }
  const listOpen: Forge['listOpen'] = (base, leftOut) => listWhere((pull) => pull.base === base, leftOut);

  const findOpen = async (request: OpenRequest) =>
    (await listOpen(request.base)).find((pull) => !pull.isFork && pull.branch === request.branch) ?? null;

  async function change(number: number, fields: { title?: string; body?: string; state?: 'closed' }) {
    const cut = fields.body === undefined ? {} : { body: shortened(fields.body, LONGEST_TEXT) };
    return toPull(
      (await asked(() => repos.repoEditPullRequest(owner, repo, number, { ...fields, ...cut }))).data,
    );
  }

  /** Of the repository and of its organization, where it has one. */
  async function labelsOf(): Promise<{ id: number; name: string }[]> {
    const found: { id: number; name: string }[] = [];
    const lists = [
      (page: number) => repos.issueListLabels(owner, repo, { page, limit: PAGE }),
      (page: number) => orgs.orgListLabels(owner, { page, limit: PAGE }),
    ];
    for (const list of lists)
      for (let page = 1; page <= LABEL_PAGES; page += 1) {
        const data = await asked(() => list(page)).then(
          (answer) => read(label, Labels, answer.data),
          (error: unknown) => {
            // A user has none, and those of an organization need a scope that nothing else here does.
            const isHidden = error instanceof ForgeReply && error.status === 403 && list !== lists[0];
            if (isGone(error) || isHidden) return [];
            throw error;
          },
        );
        found.push(...data);
        if (data.length === 0) break;
      }
    return found;
  }

  async function create(request: OpenRequest, leftOut?: LeftOut): Promise<ForgePullRequest> {
    const { branch: head, base, title: name, isDraft } = request;
    const { data } = await asked(() =>
      repos.repoCreatePullRequest(owner, repo, {
        ...{ head, base, title: isDraft ? asDraft(name) : name },
        body: shortened(request.body, LONGEST_TEXT),
      }),
    );
    const made = toPull(data);
    await furnish(made.number, request, leftOut);
    return made;
  }

  async function furnish(
    number: number,
    { labels = [], reviewers = [], assignees = [] }: OpenRequest,
    leftOut?: LeftOut,
  ): Promise<void> {
    if (labels.length > 0)
      await unlessRefused(
        'Labels',
        async () => {
          const known = await labelsOf();
          const names = new Set(labels.map((one) => one.toLowerCase()));
          const ids = known.filter((one) => names.has(one.name.toLowerCase())).map(({ id }) => id);
          if (ids.length > 0) await asked(() => repos.issueAddLabel(owner, repo, number, { labels: ids }));
          const missing = missingIn(
            labels,
            known.map((one) => one.name),
          );
          if (missing.length > 0)
            leftOut?.(`Labels left out: ${label} has none of the name ${missing.join(', ')}`);
        },
        leftOut,
      );
    if (reviewers.length > 0) {
      const { people, teams } = usersAndTeams(reviewers);
      await unlessRefused(
        'Reviewers',
        () =>
          asked(() =>
            repos.repoCreatePullReviewRequests(owner, repo, number, {
              reviewers: people,
              ...(teams.length > 0 ? { team_reviewers: teams } : {}),
            }),
          ),
        leftOut,
      );
    }
    if (assignees.length > 0)
      await unlessRefused(
        'Assignees',
        () => asked(() => repos.issueEditIssue(owner, repo, number, { assignees: [...assignees] })),
        leftOut,
      );
  }

  const ownLogin = remembered(
    async () => read(label, Own, (await asked(() => user.userGetCurrent())).data).login,
  );

  const comments: Comments = {
    async find(number, text) {
      const login = await ownLogin();
      const { data } = await asked(() => repos.issueGetComments(owner, repo, number));
      const found = read(label, CommentList, data).find(
        (one) => one.body?.includes(text) && one.user?.login === login,
      );
      return found ? String(found.id) : null;
    },
    async create(number, text) {
      const { data } = await asked(() => repos.issueCreateComment(owner, repo, number, { body: text }));
      return String(read(label, Made, data).id);
    },
    update: (_number, id, text) =>
      ifThere(() => asked(() => repos.issueEditComment(owner, repo, Number(id), { body: text }))),
  };

  return {
    name: 'gitea',
    open: (request, leftOut) =>
      openOnce(
        {
          find: () => findOpen(request),
          create: () => create(request, leftOut),
          bringUpToDate: ({ number, isDraft }) =>
            change(number, {
              title: isDraft ? asDraft(request.title) : request.title,
              body: request.body,
            }),
        },
        // It cannot be asked for those of one branch.
        { lookFirst: false },
      ),
    async update(number, fields) {
      const { title: name } = fields;
      // The title says that it is a draft.
      const isDraft = name !== undefined && (await get(number)).isDraft;
      await change(number, isDraft ? { ...fields, title: asDraft(name) } : fields);
    },
    async close(number) {
      if ((await get(number)).state === 'open') await change(number, { state: 'closed' });
    },
    get: (number) =>
      orNull(
        () => get(number),
        () => asked(() => repos.repoGet(owner, repo)),
      ),
    listOpen,
    usesBranch: (name) =>
      isAnyIn((leftOut) =>
        listWhere((pull) => pull.base === name || (pull.branch === name && !pull.isFork), leftOut),
      ),
    comment: (number, sticky) => keepComment(comments, number, sticky, { longest: LONGEST_TEXT }),
    async setStatus(sha, { context, state, description, url: target }) {
      const text = shortened(description, DESCRIPTION);
      await asked(() =>
        repos.repoCreateStatus(owner, repo, sha, { state, context, description: text, target_url: target }),
      );
    },
    // It does not say.
    tokenEnd: () => Promise.resolve(null),
    async check() {
      const { data } = await asked(() => repos.repoGet(owner, repo));
      const { archived, permissions } = read(label, Project, data);
      if (archived)
        throw new ForgeError('refused', `${project} is archived on ${label}; nothing can be written there`);
      if (permissions?.push === false)
        throw new ForgeError(
          'credentials',
          `${label} lets the token only read ${project}; give one of somebody who may write to it`,
        );
      await ownLogin();
      await asked(() => repos.repoListPullRequests(owner, repo, { state: 'open', page: 1, limit: 1 }));
      await assertMay(() =>
        asked(() => repos.issueCreateComment(owner, repo, NO_PULL, { body: 'headgate' })),
      );
      await assertMay(() =>
        asked(() =>
          repos.repoCreateStatus(owner, repo, NO_COMMIT, { state: 'success', context: 'headgate' }),
        ).catch((error: unknown) => {
          // Of a commit that is not there it answers 500, once the token has been found good.
          if (!(error instanceof ForgeError && error.fault === 'unavailable')) throw error;
        }),
      );
    },
    headRef: ({ number }) => `refs/pull/${number}/head`,
    // It does not say of a pull request whether it is asked for.
    async autoMerge(number, wanted) {
      const cancel = () =>
        ifThere(() => asked(() => repos.repoCancelScheduledAutoMerge(owner, repo, number)));
      if (wanted === null) {
        await cancel();
        return;
      }
      // It looks at the head only where it merges at once, and takes no second order.
      assertHead(label, await get(number), wanted.headSha);
      await cancel();
      await asked(() =>
        repos.repoMergePullRequest(owner, repo, number, {
          Do: wanted.method,
          head_commit_id: wanted.headSha,
          merge_when_checks_succeed: true,
        }),
      );
      const { state, headSha } = await get(number);
      if (state !== 'open' || headSha === wanted.headSha) return;
      // Somebody has pushed in between.
      await cancel();
      assertHead(label, { headSha }, wanted.headSha);
    },
  };
}

/** As its settings have it from the start (`WORK_IN_PROGRESS_PREFIXES`). */
const asDraft = (name: string): string => (/^\s*(WIP:|\[WIP\])/i.test(name) ? name : `WIP: ${name}`);
