/**
 * GitLab, gitlab.com and one's own, by the client that its users keep. https://docs.gitlab.com/api/merge_requests/
 *
 * A merge request comes in by a merge commit, a squash, both, or by neither (fast-forward): then its head is the commit.
 */
import {
  Commits,
  MergeRequestNotes,
  MergeRequests,
  PersonalAccessTokens,
  Projects,
  Users,
} from '@gitbeaker/rest';
import type { Static } from 'typebox';
import type { CheckState } from '../../../schemas/api/delivery/pull-requests.ts';
import { validator } from '../../../schemas/validate.ts';
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
  isOwn,
  keepComment,
  NO_COMMIT,
  NO_PULL,
  openOnce,
  orNull,
  remembered,
  unlessRefused,
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
import { endOf } from '../token-expiry.ts';
import { unwrapped } from '../transport/faults.ts';
import { gitLabRequester } from './requester.ts';
import {
  Commit,
  Entries,
  Made,
  MergeRequest,
  NoteList,
  OwnToken,
  Page,
  Project,
  UserList,
  WithoutHead,
} from './responses.ts';

const withoutHead = validator(WithoutHead);
const PAGE = 100;
const MOST_PULLS = 500;
const NOTE_PAGES = 10;
/** https://docs.gitlab.com/administration/instance_limits/ */
const LONGEST_TEXT = 1_000_000;
const DEVELOPER = 30;
const STATES: Readonly<Record<CheckState, 'pending' | 'success' | 'failed'>> = {
  pending: 'pending',
  success: 'success',
  failure: 'failed',
  error: 'failed',
};

export function createGitLab({ transport, url, project, token }: ForgeParts): Forge {
  const { label } = transport;
  const options = {
    host: url.replace(/\/api\/v4$/, ''),
    token,
    queryTimeout: null,
    requesterFn: gitLabRequester(transport),
  };
  const requests = new MergeRequests(options);
  const notes = new MergeRequestNotes(options);
  const projects = new Projects(options);

  async function asked<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw unwrapped(error, transport);
    }
  }

  function toPull(value: unknown): ForgePullRequest {
    const request = read(label, MergeRequest, value);
    const merged = request.state === 'merged';
    // While its first push is looked at there is none yet.
    if (!request.sha)
      throw new ForgeError('unavailable', `${label} does not know the head of !${request.iid} yet`);
    const over = merged ? (request.merged_at ?? request.updated_at) : request.closed_at;
    return {
      number: request.iid,
      title: title(request.title),
      body: body(request.description),
      state: merged ? 'merged' : request.state === 'closed' ? 'closed' : 'open',
      isDraft: request.draft === true,
      branch: branch(request.source_branch),
      base: branch(request.target_branch),
      headSha: request.sha,
      isFork: request.source_project_id !== request.target_project_id,
      author: userName(request.author?.username),
      url: request.web_url,
      mergeSha: merged ? (request.merge_commit_sha ?? request.squash_commit_sha ?? request.sha) : null,
      mergedBy: merged ? userName((request.merge_user ?? request.merged_by)?.username) : null,
      autoMerge: request.merge_when_pipeline_succeeds === true,
      updatedAt: time(label, request.updated_at),
      closedAt: over ? time(label, over) : null,
    };
  }

  const get = async (number: number) => toPull(await asked(() => requests.show(project, number)));

  async function listed(
    filter: { targetBranch?: string; sourceBranch?: string },
    leftOut?: LeftOut,
  ): Promise<ForgePullRequest[]> {
    const found: ForgePullRequest[] = [];
    for (let page: number | null | undefined = 1; page && found.length < MOST_PULLS; ) {
      const { data, paginationInfo } = await asked(() =>
        requests.all({
          ...{ projectId: project, state: 'opened', ...filter },
          ...{ pagination: 'offset', page: page as number, perPage: PAGE, showExpanded: true },
        }),
      );
      const { next } = read(label, Page, paginationInfo);
      const some = read(label, Entries, data);
      const known = some.filter((one) => withoutHead.issues(one).length > 0);
      found.push(...(await readPulls(label, known, toPull, leftOut)));
      page = some.length > 0 && next && next > page ? next : null;
    }
    return found.slice(0, MOST_PULLS);
  }

  const findOpen = async ({ base, branch: source }: OpenRequest) =>
    (await listed({ targetBranch: base, sourceBranch: source })).find((pull) => !pull.isFork) ?? null;

  async function change(number: number, fields: { title?: string; body?: string; stateEvent?: 'close' }) {
    const { body: text, ...rest } = fields;
    const description = text === undefined ? {} : { description: shortened(text, LONGEST_TEXT) };
    return toPull(await asked(() => requests.edit(project, number, { ...rest, ...description })));
  }

  /** Those of these names. */
  async function idsOf(what: string, names: readonly string[], leftOut?: LeftOut): Promise<number[]> {
    const ids: number[] = [];
    for (const name of names)
      await unlessRefused(
        what,
        async () => {
          const found = read(label, UserList, await asked(() => new Users(options).all({ username: name })));
          const one = found.find(({ username }) => username.toLowerCase() === name.toLowerCase());
          if (one) ids.push(one.id);
          else leftOut?.(`${what} left out: ${label} knows no user ${name}`);
        },
        leftOut,
      );
    return ids;
  }

  async function create(request: OpenRequest, leftOut?: LeftOut): Promise<ForgePullRequest> {
    const { branch: source, base, title: name, isDraft, labels = [] } = request;
    const reviewerIds = await idsOf('Reviewers', request.reviewers ?? [], leftOut);
    const assigneeIds = await idsOf('Assignees', request.assignees ?? [], leftOut);
    const more = {
      description: shortened(request.body, LONGEST_TEXT),
      ...(labels.length > 0 ? { labels: labels.join(',') } : {}),
      ...(reviewerIds.length > 0 ? { reviewerIds } : {}),
      ...(assigneeIds.length > 0 ? { assigneeIds } : {}),
    };
    return toPull(
      await asked(() => requests.create(project, source, base, isDraft ? asDraft(name) : name, more)),
    );
  }

  const ownId = remembered(
    async () => read(label, Made, await asked(() => new Users(options).showCurrentUser())).id,
  );

  const comments: Comments = {
    async find(number, text) {
      const id = await ownId();
      for (let page = 1; page <= NOTE_PAGES; page += 1) {
        const all = await asked(() =>
          notes.all(project, number, { sort: 'asc', orderBy: 'created_at', page, perPage: PAGE }),
        );
        const list = read(label, NoteList, all);
        const found = list.find((note) => note.body.includes(text) && note.author?.id === id);
        if (found) return String(found.id);
        if (list.length === 0) break;
      }
      return null;
    },
    async create(number, text) {
      return String(read(label, Made, await asked(() => notes.create(project, number, text))).id);
    },
    update: (number, id, text) =>
      ifThere(() => asked(() => notes.edit(project, number, Number(id), { body: text }))),
  };

  return {
    name: 'gitlab',
    open: (request, leftOut) =>
      openOnce({
        find: () => findOpen(request),
        create: () => create(request, leftOut),
        bringUpToDate: ({ number, isDraft }) =>
          change(number, {
            title: isDraft ? asDraft(request.title) : request.title,
            body: request.body,
          }),
      }),
    async update(number, fields) {
      const { title: name } = fields;
      // The title says that it is a draft.
      const isDraft = name !== undefined && (await get(number)).isDraft;
      await change(number, isDraft ? { ...fields, title: asDraft(name) } : fields);
    },
    async close(number) {
      if ((await get(number)).state === 'open') await change(number, { stateEvent: 'close' });
    },
    get: (number) =>
      orNull(
        () => get(number),
        () => asked(() => projects.show(project)),
      ),
    listOpen: (base, leftOut) => listed({ targetBranch: base }, leftOut),
    usesBranch: async (name) =>
      (await isAnyIn((leftOut) => listed({ sourceBranch: name }, leftOut), isOwn)) ||
      (await isAnyIn((leftOut) => listed({ targetBranch: name }, leftOut))),
    comment: (number, sticky) => keepComment(comments, number, sticky, { longest: LONGEST_TEXT }),
    async setStatus(sha, { context, state, description, url: targetUrl, ref }) {
      const fields = { name: context, targetUrl, description: shortened(description, DESCRIPTION) };
      const set = (where: { ref?: string; pipelineId?: number }) =>
        asked(() => new Commits(options).editStatus(project, sha, STATES[state], { ...fields, ...where }));
      const ofBranch = ref === undefined ? {} : { ref };
      const pipeline = await pipelineOf(sha);
      try {
        if (pipeline === null) await set(ofBranch);
        // Both have to name the same pipeline: that of a merge request goes by a ref of its own.
        else
          await set({
            ...ofBranch,
            ...(pipeline.ref && { ref: pipeline.ref }),
            pipelineId: pipeline.id,
          }).catch((error: unknown) => {
            if (!isNoPipeline(error)) throw error;
            return set(ofBranch);
          });
      } catch (error) {
        if (!isOfNoUse(error, state)) throw error;
      }
    },
    async check() {
      const { archived, permissions } = read(label, Project, await asked(() => projects.show(project)));
      if (archived)
        throw new ForgeError('refused', `${project} is archived on ${label}; nothing can be written there`);
      const levels = [permissions?.project_access?.access_level, permissions?.group_access?.access_level];
      const known = levels.filter((level) => typeof level === 'number');
      if (known.length > 0 && Math.max(...known) < DEVELOPER)
        throw new ForgeError(
          'credentials',
          `${label} lets the token only look at ${project}; give one with the role Developer at least`,
        );
      const scopes = (await ownToken())?.scopes ?? null;
      if (scopes && !scopes.includes('api'))
        throw new ForgeError('credentials', `${label}: the token has no scope "api"; make one that has it`);
      await ownId();
      await asked(() => requests.all({ projectId: project, state: 'opened', page: 1, perPage: 1 }));
      await assertMay(() =>
        asked(() => new Commits(options).editStatus(project, NO_COMMIT, 'success', { name: 'headgate' })),
      );
      await assertMay(() => asked(() => notes.create(project, NO_PULL, 'headgate')));
    },
    tokenEnd: async () => endOf((await ownToken())?.expires_at),
    headRef: ({ number }) => `refs/merge-requests/${number}/head`,
    // https://docs.gitlab.com/api/merge_requests/#merge-a-merge-request: by the method of the project.
    async autoMerge(number, wanted) {
      if (wanted === null) {
        await asked(() => requests.cancelOnPipelineSuccess(project, number));
        // A refusal has status 201 here: what became of it stands in the merge request.
        if ((await get(number)).autoMerge)
          throw new ForgeError('refused', `${label} did not take the order to merge !${number} back`);
        return;
      }
      try {
        await asked(() =>
          requests.merge(project, number, {
            ...{ sha: wanted.headSha, autoMerge: true, mergeWhenPipelineSucceeds: true },
            ...(wanted.method === 'squash' ? { squash: true } : {}),
          }),
        );
      } catch (error) {
        const isDenied = error instanceof ForgeError && error.fault === 'credentials';
        if (!isDenied || error instanceof ForgeReply) throw error;
        // https://docs.gitlab.com/api/merge_requests/#merge-a-merge-request: 401 is also of a token that is good.
        throw new ForgeError(
          'refused',
          `${label} does not let the token merge into the base; give one of a role that may, or add it to "Allowed to merge" of the branch`,
        );
      }
    },
  };

  /** Null where no pipeline has run for it: without its id a status may make one of its own, beside that of the merge request. */
  async function pipelineOf(sha: string): Promise<{ id: number; ref?: string | null } | null> {
    try {
      const commit = await asked(() => new Commits(options).show(project, sha));
      return read(label, Commit, commit).last_pipeline ?? null;
    } catch (error) {
      // A commit of a fork is not known here.
      if (error instanceof ForgeReply && error.fault === 'not-found') return null;
      throw error;
    }
  }

  /** Null where GitLab is too old to tell. */
  async function ownToken(): Promise<Static<typeof OwnToken> | null> {
    try {
      const own = await asked(() => new PersonalAccessTokens(options).show({ tokenId: 'self' }));
      return read(label, OwnToken, own);
    } catch (error) {
      if (error instanceof ForgeReply) return null;
      throw error;
    }
  }
}

const isNoPipeline = (error: unknown): boolean =>
  error instanceof ForgeReply && error.status === 404 && /pipeline/i.test(error.said);

/** https://docs.gitlab.com/user/project/merge_requests/drafts/ */
const asDraft = (name: string): string =>
  /^\s*(draft:|\[draft\]|\(draft\))/i.test(name) ? name : `Draft: ${name}`;

/**
 * A status that is `pending` already cannot be set to that again, and a commit that is on no branch of the project, as the
 * head of a fork, takes none: the comment says it all.
 */
const isOfNoUse = (error: unknown, state: CheckState): boolean =>
  error instanceof ForgeReply &&
  ((state === 'pending' && error.status === 400 && /cannot transition status/i.test(error.said)) ||
    (error.status === 404 && /references for commit/i.test(error.said)));
