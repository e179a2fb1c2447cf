/** Gitea 1.23, as its own description of its API has it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Comment, PullRequest } from 'gitea-js';
import {
  type Asked,
  ForgeServer,
  type Reply,
  type StoredComment,
  type StoredPull,
  shaOf,
  textOf,
} from './forge-server.ts';

export class GiteaServer extends ForgeServer {
  readonly name = 'gitea';
  protected readonly root = '/api/v1';

  protected isLetIn({ authorization }: IncomingHttpHeaders): boolean {
    return authorization === `Bearer ${this.token}` || authorization === `token ${this.token}`;
  }

  protected refusal(status: number, why: string): Reply {
    return { status, body: { message: why, url: `${this.origin}/api/swagger` } };
  }

  protected answer(asked: Asked, path: string): Reply {
    const { method, body } = asked;
    if (path === '/user') return { status: 200, body: { id: 7, login: this.us } };
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
        ...{ author: this.us, headSha: shaOf(`tip of ${head}`) },
      });
      return { status: 201, body: this.#shown(made) };
    }
    const [, number] = /^\/pulls\/(\d+)$/.exec(rest) ?? [];
    if (number) {
      const pull = this.pulls.find((one) => one.number === Number(number));
      if (!pull) return this.refusal(404, "The target couldn't be found.");
      if (method === 'PATCH')
        this.touch(pull, {
          ...(body.title === undefined ? {} : { title: textOf(body.title) }),
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
