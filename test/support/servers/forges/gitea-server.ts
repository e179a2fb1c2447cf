/** Gitea 1.23, as its own description of its API has it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Comment, PullRequest } from 'gitea-js';
import {
  ForgeServer,
  type RecordedRequest,
  type Reply,
  type StoredComment,
  type StoredPull,
  shaOf,
  textOf,
} from './forge-server.ts';

export class GiteaServer extends ForgeServer {
  readonly name = 'gitea';
  protected readonly root = '/api/v1';
  protected override readonly noCommit = 500;
  /** In the very moment in which it is told to merge one later. */
  onSchedule: (pull: StoredPull) => void = () => {};

  protected isLetIn({ authorization }: IncomingHttpHeaders): boolean {
    return authorization === `Bearer ${this.token}` || authorization === `token ${this.token}`;
  }

  protected refusal(status: number, why: string): Reply {
    return { status, body: { message: why, url: `${this.origin}/api/swagger` } };
  }

  protected answer(asked: RecordedRequest, path: string): Reply {
    const { method, body } = asked;
    if (path === '/user') return { status: 200, body: { id: 7, login: this.us } };
    // The owner is an organization.
    if (path === '/orgs/acme/labels')
      return { status: 200, body: asked.query.get('page') === '1' ? [{ id: 52, name: 'gitops' }] : [] };
    const mine = `/repos/${this.project}`;
    if (!path.startsWith(mine)) return this.refusal(404, "The target couldn't be found.");
    const rest = path.slice(mine.length);
    if (rest === '')
      return {
        status: 200,
        body: { id: 1, archived: false, permissions: { push: this.mayWrite, pull: true } },
      };
    if (rest === '/pulls' && method === 'GET') {
      const open = this.pulls.filter(({ state }) => state === 'open').reverse();
      const { values, next } = this.page(open, asked.query, 'limit', 30);
      const link: Record<string, string> =
        next === null ? {} : { link: `<${this.pageUrl(asked, next)}>; rel="next"` };
      return { status: 200, body: values.map((pull) => this.#shown(pull)), headers: link };
    }
    if (rest === '/pulls') {
      const { head, base } = body;
      if (
        this.pulls.some(
          (pull) => pull.state === 'open' && pull.branch === head && pull.base === base && !pull.isFork,
        )
      )
        return this.refusal(409, 'pull request already exists for these targets [id: 1, issue_id: 1]');
      const made = this.add({
        ...{ title: textOf(body.title), body: textOf(body.body), branch: textOf(head), base: textOf(base) },
        ...{ author: this.us, headSha: shaOf(`tip of ${head}`), isDraft: isDraft(textOf(body.title)) },
      });
      return { status: 201, body: this.#shown(made) };
    }
    const furnished = this.#furnish(asked, rest);
    if (furnished) return furnished;
    const [, number] = /^\/pulls\/(\d+)$/.exec(rest) ?? [];
    if (number) {
      const pull = this.pulls.find((one) => one.number === Number(number));
      if (!pull) return this.refusal(404, "The target couldn't be found.");
      if (method === 'PATCH')
        this.touch(pull, {
          ...(body.title === undefined
            ? {}
            : { title: textOf(body.title), isDraft: isDraft(textOf(body.title)) }),
          ...(body.body === undefined ? {} : { body: textOf(body.body) }),
          ...(body.state === 'closed' ? { state: 'closed' } : {}),
        });
      return { status: method === 'PATCH' ? 201 : 200, body: this.#shown(pull) };
    }
    const [, issue] = /^\/issues\/(\d+)\/comments$/.exec(rest) ?? [];
    if (issue && method === 'GET')
      return { status: 200, body: this.commentsOf(Number(issue)).map((one) => this.#told(one)) };
    if (issue) return { status: 201, body: this.#told(this.say(Number(issue), this.us, textOf(body.body))) };
    const [, id] = /^\/issues\/comments\/(\d+)$/.exec(rest) ?? [];
    if (id) {
      const comment = this.comments.find((one) => one.id === Number(id) && !one.deleted);
      if (!comment) return this.refusal(404, 'comment does not exist');
      comment.body = textOf(body.body);
      return { status: 200, body: this.#told(comment) };
    }
    const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? [];
    if (sha) {
      this.statuses.push({
        ...{ sha, context: textOf(body.context), state: textOf(body.state) },
        ...{ description: textOf(body.description), url: textOf(body.target_url) },
      });
      return { status: 201, body: { id: 1, status: body.state } };
    }
    return this.refusal(404, "The target couldn't be found.");
  }

  #furnish({ method, body, query }: RecordedRequest, rest: string): Reply | null {
    if (rest === '/labels')
      return { status: 200, body: query.get('page') === '1' ? [{ id: 51, name: 'Promotion' }] : [] };
    const names = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
    const [, number, what = ''] =
      /^\/(?:issues|pulls)\/(\d+)(\/labels|\/requested_reviewers|\/merge|)$/.exec(rest) ?? [];
    const pull = this.pulls.find((one) => one.number === Number(number));
    if (!pull || (what === '' && !rest.startsWith('/issues/'))) return null;
    if (what === '/labels') pull.labels.push(...names(body.labels));
    if (what === '') {
      const strangers = names(body.assignees).filter((name) => !this.people.includes(name));
      if (strangers.length > 0) return this.refusal(422, `Assignee does not exist: [name: ${strangers[0]}]`);
      pull.assignees = names(body.assignees);
    }
    if (what === '/requested_reviewers') {
      const strangers = names(body.reviewers).filter((name) => !this.people.includes(name));
      if (strangers.length > 0) return this.refusal(404, `user does not exist [name: ${strangers[0]}]`);
      pull.reviewers.push(
        ...names(body.reviewers),
        ...names(body.team_reviewers).map((team) => `team ${team}`),
      );
    }
    if (what === '/merge') return this.#merge(pull, method === 'DELETE' ? null : body);
    return { status: 201, body: what === '/labels' || what === '/requested_reviewers' ? [] : { id: 1 } };
  }

  #merge(pull: StoredPull, body: RecordedRequest['body'] | null): Reply {
    if (body === null) {
      if (pull.autoMerge === null) return this.refusal(404, "The target couldn't be found.");
      pull.autoMerge = null;
      return { status: 204 };
    }
    if (body.merge_when_checks_succeed !== true) return this.refusal(405, 'Please try again later');
    // It is only put down: nobody looks at the head.
    if (this.waits) {
      if (pull.autoMerge !== null) return this.refusal(409, 'the scheduled auto merge exists already');
      this.onSchedule(pull);
      pull.autoMerge = textOf(body.Do);
      return { status: 201 };
    }
    if (body.head_commit_id !== pull.headSha) return this.refusal(409, 'head out of date');
    this.merge(pull.number, textOf(body.Do) as 'merge');
    return { status: 200 };
  }

  #shown(pull: StoredPull): PullRequest {
    const merged = pull.state === 'merged';
    return {
      number: pull.number,
      title: pull.title,
      body: pull.body,
      state: (pull.state === 'open' ? 'open' : 'closed') as unknown as NonNullable<PullRequest['state']>,
      draft: pull.isDraft,
      merged,
      html_url: `${this.origin}/${this.project}/pulls/${pull.number}`,
      user: { login: pull.author },
      head: { ref: pull.branch, sha: pull.headSha, repo_id: pull.isFork ? 2 : 1 },
      base: { ref: pull.base, sha: shaOf('base'), repo_id: 1 },
      ...(merged ? { merge_commit_sha: pull.mergeSha ?? '', merged_by: { login: pull.mergedBy ?? '' } } : {}),
      updated_at: pull.updatedAt.toISOString(),
      ...(pull.closedAt ? { closed_at: pull.closedAt.toISOString() } : {}),
    };
  }

  #told({ id, body, author }: StoredComment): Comment {
    return { id, body, user: { login: author } };
  }
}

/** The title says it. */
const isDraft = (title: string): boolean => /^(WIP:|\[WIP\])/i.test(title);
