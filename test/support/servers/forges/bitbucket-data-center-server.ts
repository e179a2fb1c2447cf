/** Bitbucket Data Center 8, as https://developer.atlassian.com/server/bitbucket/rest/ describes it. */
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

const STATES = { open: 'OPEN', merged: 'MERGED', closed: 'DECLINED' } as const;

export class BitbucketDataCenterServer extends ForgeServer {
  readonly name = 'bitbucket-data-center';
  /** Below a context path. */
  protected readonly root = '/stash/rest/api/1.0';
  override readonly project = 'ACME/pipes';
  isArchived = false;
  /** Of pull requests and comments, one more with each change. */
  readonly #versions = new Map<string, number>();

  protected isLetIn({ authorization }: IncomingHttpHeaders): boolean {
    return authorization === `Bearer ${this.token}`;
  }

  protected refusal(status: number, why: string): Reply {
    return { status, body: { errors: [{ context: null, message: why, exceptionName: null }] } };
  }

  protected answer(asked: RecordedRequest, path: string): Reply {
    const reply = this.#answer(asked, path);
    return { ...reply, headers: { ...reply.headers, 'x-ausername': this.us } };
  }

  #answer(asked: RecordedRequest, path: string): Reply {
    const { method, query, body } = asked;
    const mine = '/projects/ACME/repos/pipes';
    if (!path.startsWith(mine)) return this.refusal(404, `Repository ${path} does not exist.`);
    const rest = path.slice(mine.length);
    if (rest === '') return { status: 200, body: { slug: 'pipes', archived: this.isArchived } };
    // Without this header it takes the call for one that another site made a browser send.
    if (method !== 'GET' && asked.headers['x-atlassian-token'] !== 'no-check')
      return this.refusal(403, 'XSRF check failed');
    if (rest === '/pull-requests' && method === 'GET') {
      const at = query.get('at');
      const side = (pull: StoredPull) => (query.get('direction') === 'OUTGOING' ? pull.branch : pull.base);
      const open = this.pulls.filter(
        (pull) => pull.state === 'open' && (at === null || at === `refs/heads/${side(pull)}`),
      );
      return this.#listed(
        asked,
        open.reverse().map((pull) => this.#shown(pull)),
      );
    }
    if (rest === '/pull-requests') return this.#open(body);
    const [, sha] = /^\/commits\/([0-9a-f]{40})\/builds$/.exec(rest) ?? [];
    if (sha) return this.#status(sha, body);
    const [, number, more = ''] = /^\/pull-requests\/(\d+)(.*)$/.exec(rest) ?? [];
    const pull = this.pulls.find((one) => one.number === Number(number));
    if (!pull) return this.refusal(404, `Pull request ${number} does not exist in ACME/pipes.`);
    if (more === '/activities') return this.#listed(asked, this.#activities(pull));
    if (more.startsWith('/comments')) return this.#comments(asked, pull, more.slice('/comments'.length));
    if (more === '/auto-merge') {
      pull.autoMerge = null;
      return { status: 204 };
    }
    const key = `pull ${pull.number}`;
    if (method === 'GET') return { status: 200, body: this.#shown(pull) };
    const version = more === '/decline' ? Number(query.get('version')) : body.version;
    if (version !== this.#version(key))
      return this.refusal(
        409,
        'You are attempting to modify a pull request based on out-of-date information.',
      );
    if (pull.state !== 'open') return this.refusal(409, 'This pull request is not open.');
    if (more === '/merge') return this.#merge(pull, body);
    this.#versions.set(key, this.#version(key) + 1);
    if (more === '/decline') this.touch(pull, { state: 'closed' });
    else
      this.touch(pull, {
        ...{ title: textOf(body.title), body: textOf(body.description), reviewers: namesOf(body.reviewers) },
        isDraft: body.draft === true,
      });
    return { status: 200, body: this.#shown(pull) };
  }

  #merge(pull: StoredPull, { autoMerge, strategyId }: RecordedRequest['body']): Reply {
    if (this.waits && autoMerge !== true) return this.refusal(409, 'There are vetoes.');
    if (this.waits) pull.autoMerge = textOf(strategyId);
    else this.merge(pull.number, strategyId === 'squash' ? 'squash' : 'merge');
    return { status: this.waits ? 202 : 200, body: this.#shown(pull) };
  }

  #version(key: string): number {
    return this.#versions.get(key) ?? 0;
  }

  #open(body: RecordedRequest['body']): Reply {
    const [branch, base] = [branchOf(body.fromRef), branchOf(body.toRef)];
    const there = this.pulls.some(
      (pull) => pull.state === 'open' && !pull.isFork && pull.branch === branch && pull.base === base,
    );
    if (there)
      return this.refusal(409, 'Only one pull request may be open for a given source and target branch');
    const reviewers = namesOf(body.reviewers);
    if (reviewers.some((name) => !this.people.includes(name)))
      return this.refusal(409, 'Errors encountered while adding some reviewers to this pull request.');
    const made = this.add({
      ...{ title: textOf(body.title), body: textOf(body.description), author: this.us, branch, base },
      ...{ headSha: shaOf(`tip of ${branch}`), isDraft: body.draft === true, reviewers },
    });
    return { status: 201, body: this.#shown(made) };
  }

  /** The newest first. */
  #activities(pull: StoredPull): unknown[] {
    const merged = {
      ...{ action: 'MERGED', user: { name: pull.mergedBy }, commit: { id: pull.mergeSha } },
    };
    const said = this.commentsOf(pull.number).map((one) => ({
      ...{ action: 'COMMENTED', commentAction: 'ADDED', user: { name: one.author } },
      comment: this.#told(one),
    }));
    return [
      ...(pull.state === 'merged' ? [merged] : []),
      ...said.reverse(),
      { action: 'OPENED', user: { name: pull.author } },
    ];
  }

  #comments({ method, body }: RecordedRequest, pull: StoredPull, rest: string): Reply {
    if (rest === '')
      return { status: 201, body: this.#told(this.say(pull.number, this.us, textOf(body.text))) };
    const comment = this.commentsOf(pull.number).find((one) => one.id === Number(rest.slice(1)));
    if (!comment) return this.refusal(404, 'The comment does not exist.');
    if (method === 'PUT') {
      const key = `comment ${comment.id}`;
      if (body.version !== this.#version(key)) return this.refusal(409, 'The comment is out of date.');
      this.#versions.set(key, this.#version(key) + 1);
      comment.body = textOf(body.text);
    }
    return { status: 200, body: this.#told(comment) };
  }

  #status(sha: string, { key, parent, state, name, description, url }: RecordedRequest['body']): Reply {
    const fine =
      textOf(key) !== '' && parent === key && textOf(key).length <= 255 && /^https?:/.test(textOf(url));
    if (!fine || !/^(INPROGRESS|SUCCESSFUL|FAILED|CANCELLED|UNKNOWN)$/.test(textOf(state)))
      return this.refusal(400, 'state: please supply a valid state');
    const told = { description: textOf(description), url: textOf(url) };
    this.statuses.push({ sha, context: textOf(name), state: textOf(state), ...told });
    return { status: 204 };
  }

  #listed({ query }: RecordedRequest, all: readonly unknown[]): Reply {
    const start = Number(query.get('start') ?? 0);
    const size = Math.min(Number(query.get('limit') ?? 25), this.mostPerPage);
    const next = start + size;
    const last = next >= all.length;
    const values = all.slice(start, next);
    return {
      status: 200,
      body: {
        size: values.length,
        limit: size,
        start,
        values,
        isLastPage: last,
        nextPageStart: last ? null : next,
      },
    };
  }

  #shown(pull: StoredPull) {
    const repository = (id: number) => ({ id, slug: 'pipes', project: { key: 'ACME' } });
    return {
      id: pull.number,
      version: this.#version(`pull ${pull.number}`),
      title: pull.title,
      ...(pull.body === '' ? {} : { description: pull.body }),
      state: STATES[pull.state],
      open: pull.state === 'open',
      closed: pull.state !== 'open',
      draft: pull.isDraft,
      updatedDate: pull.updatedAt.getTime(),
      ...(pull.closedAt ? { closedDate: pull.closedAt.getTime() } : {}),
      fromRef: {
        id: `refs/heads/${pull.branch}`,
        latestCommit: pull.headSha,
        repository: repository(pull.isFork ? 2 : 1),
      },
      toRef: { id: `refs/heads/${pull.base}`, latestCommit: shaOf('base'), repository: repository(1) },
      author: { user: { name: pull.author, displayName: `${pull.author} Somebody` }, role: 'AUTHOR' },
      reviewers: pull.reviewers.map((name) => ({ user: { name }, role: 'REVIEWER' })),
      ...(pull.mergeSha ? { properties: { mergeCommit: { id: pull.mergeSha } } } : {}),
      links: {
        self: [{ href: `${this.origin}/stash/projects/ACME/repos/pipes/pull-requests/${pull.number}` }],
      },
    };
  }

  #told({ id, body, author }: StoredComment) {
    return { id, version: this.#version(`comment ${id}`), text: body, author: { name: author } };
  }
}

const branchOf = (side: unknown): string =>
  textOf((side as { id?: unknown } | undefined)?.id).replace(/^refs\/heads\//, '');
const namesOf = (reviewers: unknown): string[] =>
  ((reviewers ?? []) as { user?: { name?: string } }[]).map(({ user }) => user?.name ?? '');
