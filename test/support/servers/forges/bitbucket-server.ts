/** Bitbucket Cloud, as https://developer.atlassian.com/cloud/bitbucket/rest/ describes it. */
import type { IncomingHttpHeaders } from 'node:http';
import {
  ForgeServer,
  type RecordedRequest,
  type Reply,
  type StoredComment,
  type StoredPull,
  shaOf,
  textOf,
} from './forge-server.ts';

const SHORT = 12;
const STATES = { open: 'OPEN', merged: 'MERGED', closed: 'DECLINED' } as const;

export class BitbucketServer extends ForgeServer {
  readonly name = 'bitbucket';
  protected readonly root = '/2.0';
  scopes: string | null = null;
  /** Null for the access token of a repository, which is no user. */
  account: string | null = this.us;
  /** Of every pull request. */
  reviewers = [{ uuid: '{carl}' }];

  protected isLetIn({ authorization }: IncomingHttpHeaders): boolean {
    const basic = `Basic ${Buffer.from(this.token).toString('base64')}`;
    return authorization === (this.token.includes(':') ? basic : `Bearer ${this.token}`);
  }

  protected refusal(status: number, why: string): Reply {
    return { status, body: { type: 'error', error: { message: why } } };
  }

  protected answer(asked: RecordedRequest, path: string): Reply {
    const { method, query, body } = asked;
    if (path === '/user')
      return this.account === null
        ? this.refusal(403, 'Your credentials lack one or more required privilege scopes')
        : { status: 200, body: { uuid: `{${this.account}}` } };
    const [, owner = '', rest = ''] = /^\/repositories\/([\w.-]+\/[\w.-]+)(.*)$/.exec(path) ?? [];
    const [, short] = /^\/commit\/([0-9a-f]{12,40})$/.exec(rest) ?? [];
    if (short) {
      const known = this.pulls
        .filter((pull) => fromOf(pull, this.project) === owner || owner === this.project)
        .flatMap(({ headSha, mergeSha }) => [headSha, mergeSha ?? '']);
      const hash = known.find((sha) => sha.startsWith(short));
      return hash ? { status: 200, body: { hash } } : this.refusal(404, 'Commit not found');
    }
    if (owner !== this.project) return this.refusal(404, `Repository ${owner} not found`);
    if (rest === '')
      return {
        status: 200,
        body: { full_name: this.project },
        ...(this.scopes === null ? {} : { headers: { 'x-oauth-scopes': this.scopes } }),
      };
    if (rest === '/pullrequests' && method === 'GET') {
      const filter = query.get('q') ?? 'state = "OPEN"';
      const wanted = (field: string) =>
        new RegExp(`${field.replaceAll('.', '\\.')} = "((?:[^"\\\\]|\\\\.)*)"`)
          .exec(filter)?.[1]
          ?.replaceAll(/\\(.)/g, '$1');
      const isOr = filter.includes(' OR ');
      const fits = (pull: StoredPull) => {
        const [base, branch] = [wanted('destination.branch.name'), wanted('source.branch.name')];
        return isOr
          ? base === pull.base || branch === pull.branch
          : (base ?? pull.base) === pull.base && (branch ?? pull.branch) === pull.branch;
      };
      const open = this.pulls.filter((pull) => pull.state === 'open' && fits(pull));
      return this.#listed(
        asked,
        open.reverse().map((pull) => this.#shown(pull)),
      );
    }
    if (rest === '/pullrequests') {
      const people = (body.reviewers ?? []) as { uuid?: string; account_id?: string }[];
      const names = people.map((one) => one.uuid ?? one.account_id ?? '');
      if (names.some((name) => !this.people.includes(name.replace(/[{}]/g, ''))))
        return this.refusal(400, 'reviewers: Malformed reviewers list');
      const made = this.add({
        ...{ isDraft: body.draft === true, reviewers: names },
        ...{ title: textOf(body.title), body: textOf(body.description), author: this.us },
        ...{ branch: branchOf(body.source), base: branchOf(body.destination) },
        headSha: shaOf(`tip of ${branchOf(body.source)}`),
      });
      return { status: 201, body: this.#shown(made) };
    }
    const [, sha] = /^\/commit\/([0-9a-f]{40})\/statuses\/build$/.exec(rest) ?? [];
    if (sha) return this.#status(sha, body);
    const [, number, more = ''] = /^\/pullrequests\/(\d+)(.*)$/.exec(rest) ?? [];
    const pull = this.pulls.find((one) => one.number === Number(number));
    if (!pull) return this.refusal(404, 'Pull request not found');
    if (more.startsWith('/comments')) return this.#comments(asked, pull, more.slice('/comments'.length));
    if (method === 'GET') return { status: 200, body: this.#shown(pull) };
    if (pull.state !== 'open') return this.refusal(400, 'This pull request is already closed.');
    if (more === '/decline') this.touch(pull, { state: 'closed' });
    // What is left out is nothing.
    else {
      this.touch(pull, { title: textOf(body.title), body: textOf(body.description) });
      this.reviewers = (body.reviewers ?? []) as typeof this.reviewers;
    }
    return { status: 200, body: this.#shown(pull) };
  }

  #comments(asked: RecordedRequest, pull: StoredPull, rest: string): Reply {
    const text = textOf((asked.body.content as { raw?: unknown } | undefined)?.raw);
    const all = this.comments.filter((one) => one.number === pull.number);
    if (rest === '' && asked.method === 'GET')
      return this.#listed(
        asked,
        all.map((one) => this.#told(one)),
      );
    if (rest === '') return { status: 201, body: this.#told(this.say(pull.number, this.us, text)) };
    const comment = all.find((one) => one.id === Number(rest.slice(1)));
    if (!comment) return this.refusal(404, 'Comment not found');
    if (asked.method === 'PUT') {
      if (comment.deleted) return this.refusal(410, 'Comment was deleted');
      if (comment.author !== this.us) return this.refusal(403, 'You may not edit the comments of others');
      comment.body = text;
    }
    return { status: 200, body: this.#told(comment) };
  }

  #status(sha: string, { key, state, name, description, url }: RecordedRequest['body']): Reply {
    const fine = textOf(key) !== '' && textOf(key).length <= 40 && /^https?:/.test(textOf(url));
    if (!fine || !/^(INPROGRESS|SUCCESSFUL|FAILED|STOPPED)$/.test(textOf(state)))
      return this.refusal(400, 'Bad request');
    const told = { description: textOf(description), url: textOf(url) };
    this.statuses.push({ sha, context: textOf(name), state: textOf(state), ...told });
    return { status: 201, body: { key, state } };
  }

  #listed(asked: RecordedRequest, all: readonly unknown[]): Reply {
    const { values, next } = this.page(all, asked.query, 'pagelen', 10);
    return { status: 200, body: { values, ...(next === null ? {} : { next: this.pageUrl(asked, next) }) } };
  }

  #shown(pull: StoredPull) {
    const repository = (name: string) => ({ type: 'repository', full_name: name });
    return {
      id: pull.number,
      title: pull.title,
      description: pull.body,
      state: STATES[pull.state],
      draft: pull.isDraft,
      author: { nickname: pull.author, display_name: `${pull.author} Somebody` },
      closed_by: pull.mergedBy === null ? null : { nickname: pull.mergedBy },
      source: {
        branch: { name: pull.branch },
        // A fork that was deleted.
        commit: pull.headSha === '' ? null : { hash: pull.headSha.slice(0, SHORT) },
        repository: repository(fromOf(pull, this.project)),
      },
      destination: { branch: { name: pull.base }, repository: repository(this.project) },
      reviewers: this.reviewers,
      merge_commit: pull.mergeSha === null ? null : { hash: pull.mergeSha.slice(0, SHORT) },
      updated_on: pull.updatedAt.toISOString(),
      links: { html: { href: `${this.origin}/${this.project}/pull-requests/${pull.number}` } },
    };
  }

  #told({ id, body, author, deleted }: StoredComment) {
    return { id, deleted, content: { raw: deleted ? '' : body }, user: { uuid: `{${author}}` } };
  }
}

const fromOf = ({ isFork }: StoredPull, project: string): string => (isFork ? 'stranger/pipes' : project);
const branchOf = (side: unknown): string =>
  textOf((side as { branch?: { name?: unknown } } | undefined)?.branch?.name);
