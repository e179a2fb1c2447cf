/** GitLab, as https://docs.gitlab.com/api describes it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { MergeRequestSchema } from '@gitbeaker/rest';
import {
  ForgeServer,
  type RecordedRequest,
  type Reply,
  type StoredPull,
  shaOf,
  textOf,
} from './forge-server.ts';

type Shown = Pick<
  MergeRequestSchema,
  | 'iid'
  | 'title'
  | 'description'
  | 'state'
  | 'draft'
  | 'web_url'
  | 'source_branch'
  | 'target_branch'
  | 'source_project_id'
  | 'target_project_id'
  | 'sha'
  | 'merge_commit_sha'
  | 'squash_commit_sha'
  | 'merged_at'
  | 'closed_at'
  | 'updated_at'
>;

export class GitLabServer extends ForgeServer {
  tokenEnd: string | null = null;
  /** By commit, the pipeline that ran for it last; of a merge request it has a ref of its own. */
  readonly pipelines = new Map<string, { id: number; ref: string }>();
  /** Whether an order to merge may be taken back. */
  mayCancel = true;
  /** Whether the token may merge into the base. */
  mayMerge = true;
  /** Where statuses were put, as it was asked for. */
  readonly toldOf: { sha: string; ref: unknown; pipelineId: unknown }[] = [];
  readonly name = 'gitlab';
  protected readonly root = '/api/v4';
  override readonly project = 'acme/data/pipes';
  scopes: string[] | null = ['api'];

  protected isLetIn(headers: IncomingHttpHeaders): boolean {
    return headers['private-token'] === this.token;
  }

  protected refusal(status: number, why: string): Reply {
    return { status, body: { message: why } };
  }

  protected answer(asked: RecordedRequest, path: string): Reply {
    const { method, query, body } = asked;
    if (path === '/user') return { status: 200, body: { id: 7, username: this.us } };
    if (path === '/personal_access_tokens/self')
      return this.scopes
        ? { status: 200, body: { scopes: this.scopes, expires_at: this.tokenEnd } }
        : this.refusal(404, '404 Not Found');
    if (path === '/users') {
      // As it is written, whatever the case.
      const wanted = query.get('username')?.toLowerCase();
      const found = this.people.filter((name) => name.toLowerCase() === wanted);
      return {
        status: 200,
        body: found.map((name) => ({ id: this.people.indexOf(name) + 20, username: name })),
      };
    }
    const mine = `/projects/${encodeURIComponent(this.project)}`;
    if (!path.startsWith(mine)) return this.refusal(404, '404 Project Not Found');
    const rest = path.slice(mine.length);
    if (rest === '') {
      const permissions = { project_access: { access_level: this.mayWrite ? 30 : 20 }, group_access: null };
      return { status: 200, body: { id: 1, archived: false, permissions } };
    }
    if (rest === '/merge_requests' && method === 'GET') {
      const open = this.pulls.filter(
        (pull) =>
          pull.state === 'open' &&
          (query.get('target_branch') ?? pull.base) === pull.base &&
          (query.get('source_branch') ?? pull.branch) === pull.branch,
      );
      return this.#listed(
        asked,
        open.reverse().map((pull) => this.#shown(pull)),
      );
    }
    if (rest === '/merge_requests') {
      const { source_branch: branch, target_branch: base } = body;
      const there = this.pulls.find(
        (one) => one.state === 'open' && !one.isFork && one.branch === branch && one.base === base,
      );
      if (there)
        return {
          status: 409,
          body: {
            message: [`Another open merge request already exists for this source branch: !${there.number}`],
          },
        };
      const made = this.add({
        ...{ title: textOf(body.title), body: textOf(body.description) },
        ...{
          branch: textOf(branch),
          base: textOf(base),
          author: this.us,
          headSha: shaOf(`tip of ${branch}`),
        },
        isDraft: isDraft(textOf(body.title)),
        labels: textOf(body.labels).split(',').filter(Boolean),
        reviewers: this.#named(body.reviewer_ids),
        assignees: this.#named(body.assignee_ids),
      });
      return { status: 201, body: this.#shown(made) };
    }
    const [, commit] = /^\/repository\/commits\/([0-9a-f]{40})$/.exec(rest) ?? [];
    if (commit) {
      return { status: 200, body: { id: commit, last_pipeline: this.pipelines.get(commit) ?? null } };
    }
    const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? [];
    if (sha) return this.#status(sha, body);
    const [, merged, how] =
      /^\/merge_requests\/(\d+)\/(merge|cancel_merge_when_pipeline_succeeds)$/.exec(rest) ?? [];
    if (merged) return this.#merge(this.find(Number(merged)), how === 'merge' ? body : null);
    const [, number, more, note] = /^\/merge_requests\/(\d+)(\/notes(?:\/(\d+))?)?$/.exec(rest) ?? [];
    const pull = this.pulls.find((one) => one.number === Number(number));
    if (!pull) return this.refusal(404, '404 Not found');
    if (note) {
      const comment = this.comments.find((one) => one.id === Number(note) && !one.deleted);
      if (!comment) return this.refusal(404, '404 Not found');
      comment.body = textOf(body.body);
      return { status: 200, body: this.#told(comment) };
    }
    if (more && method === 'GET')
      return this.#listed(
        asked,
        this.commentsOf(pull.number).map((one) => this.#told(one)),
      );
    if (more) return { status: 201, body: this.#told(this.say(pull.number, this.us, textOf(body.body))) };
    if (method === 'PUT')
      this.touch(pull, {
        ...(body.title === undefined
          ? {}
          : { title: textOf(body.title), isDraft: isDraft(textOf(body.title)) }),
        ...(body.description === undefined ? {} : { body: textOf(body.description) }),
        ...(body.state_event === 'close' ? { state: 'closed' } : {}),
      });
    return { status: 200, body: this.#shown(pull) };
  }

  #named(ids: unknown): string[] {
    return Array.isArray(ids) ? ids.map((id) => this.people[Number(id) - 20] ?? '?') : [];
  }

  /** Once its pipeline has succeeded, or at once; null: no longer. */
  #merge(pull: StoredPull, body: RecordedRequest['body'] | null): Reply {
    if (!this.mayMerge) return this.refusal(401, '401 Unauthorized');
    // Told by the body alone.
    if (body === null && !this.mayCancel)
      return {
        status: 201,
        body: { message: "Can't cancel the automatic merge", status: 'error', http_status: 406 },
      };
    if (body === null) pull.autoMerge = null;
    else if (body.sha !== pull.headSha)
      return this.refusal(409, 'SHA does not match HEAD of source branch: x');
    else if (pull.isDraft) return this.refusal(405, '405 Method Not Allowed');
    else if (!this.waits) this.merge(pull.number, body.squash === true ? 'squash' : 'merge');
    else if (body.merge_when_pipeline_succeeds === true && body.auto_merge === true)
      pull.autoMerge = body.squash === true ? 'squash' : 'merge';
    return { status: body === null ? 201 : 200, body: this.#shown(pull) };
  }

  /** What is pending cannot become pending, and a commit must be on a branch of the project. */
  #status(sha: string, body: RecordedRequest['body']): Reply {
    if (this.pulls.some((pull) => pull.headSha === sha && pull.isFork))
      return this.refusal(404, '404 References for commit Not Found');
    const context = textOf(body.name);
    const state = textOf(body.state);
    if (!/^(pending|running|success|failed|canceled)$/.test(state))
      return this.refusal(400, 'state does not have a valid value');
    if (body.pipeline_id !== undefined) {
      const pipeline = this.pipelines.get(sha);
      if (pipeline?.id !== body.pipeline_id || (body.ref !== undefined && pipeline?.ref !== body.ref))
        return this.refusal(404, '404 Pipeline for pipeline_id, sha and ref Not Found');
    }
    const last = this.statuses.filter((one) => one.sha === sha && one.context === context).at(-1);
    if (last?.state === 'pending' && state === 'pending')
      return this.refusal(
        400,
        'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")',
      );
    this.toldOf.push({ sha, ref: body.ref, pipelineId: body.pipeline_id });
    const told = { description: textOf(body.description), url: textOf(body.target_url) };
    this.statuses.push({ sha, context, state, ...told });
    return { status: 201, body: { id: 1, status: state } };
  }

  #listed({ query }: RecordedRequest, all: readonly unknown[]): Reply {
    const { values, next } = this.page(all, query, 'per_page', 20);
    return { status: 200, body: values, headers: { 'x-next-page': next === null ? '' : String(next) } };
  }

  #shown(pull: StoredPull) {
    const merged = pull.state === 'merged';
    const plain: Shown = {
      iid: pull.number,
      title: pull.title,
      description: pull.body,
      state: pull.state === 'open' ? 'opened' : pull.state,
      draft: pull.isDraft,
      web_url: `${this.origin}/${this.project}/-/merge_requests/${pull.number}`,
      source_branch: pull.branch,
      target_branch: pull.base,
      source_project_id: pull.isFork ? 2 : 1,
      target_project_id: 1,
      sha: pull.headSha,
      // A squash comes in by a merge commit or by itself, a rebase by neither.
      merge_commit_sha: merged && pull.how === 'merge' ? pull.mergeSha : (null as unknown as string),
      squash_commit_sha: merged && pull.how === 'squash' ? pull.mergeSha : null,
      merged_at: merged ? (pull.closedAt?.toISOString() ?? null) : null,
      closed_at: pull.state === 'closed' ? (pull.closedAt?.toISOString() ?? null) : null,
      updated_at: pull.updatedAt.toISOString(),
    };
    const merger = pull.mergedBy === null ? null : { username: pull.mergedBy };
    const waits = { merge_when_pipeline_succeeds: pull.autoMerge !== null };
    return { ...plain, ...waits, author: { username: pull.author }, merge_user: merger };
  }

  #told({ id, body, author }: { id: number; body: string; author: string }) {
    return { id, body, author: { id: author === this.us ? 7 : 8, username: author } };
  }
}

/** The title says it. */
const isDraft = (title: string): boolean => /^draft:/i.test(title);
