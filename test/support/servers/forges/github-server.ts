/** GitHub Enterprise Server, as https://docs.github.com/rest describes it. */
import { type KeyObject, verify } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { RestEndpointMethodTypes } from '@octokit/rest';
import {
  ForgeServer,
  type RecordedRequest,
  type Reply,
  type StoredComment,
  type StoredPull,
  shaOf,
  textOf,
} from './forge-server.ts';

type Methods = RestEndpointMethodTypes;
type Pull = Pick<
  Methods['pulls']['get']['response']['data'],
  | 'number'
  | 'title'
  | 'body'
  | 'state'
  | 'draft'
  | 'merged'
  | 'merge_commit_sha'
  | 'html_url'
  | 'updated_at'
  | 'merged_at'
  | 'closed_at'
>;
type Comment = Pick<Methods['issues']['createComment']['response']['data'], 'id' | 'body'>;

export class GitHubServer extends ForgeServer {
  /** As GitHub writes it: `2026-12-24 08:00:00 UTC`. */
  tokenEnd: string | null = null;
  protected override readonly noCommit = null;
  maySetStatus = true;
  /** Private repositories of some plans have none. */
  hasDrafts = true;
  mayAutoMerge = true;
  /** Whether the token may take an order to merge back. */
  mayDisable = true;
  /** Numbers of pull requests that are in the merge queue. */
  readonly queued = new Set<number>();
  /** Branches of its merge queue, by their head. */
  readonly queue = new Map<string, string>();
  readonly name = 'github';
  protected readonly root = '/api';
  /** Of a classic token; null for a fine-grained one, which tells none. */
  scopes: string | null = 'repo, read:user';
  /** An app may not ask who it is. */
  isApp = false;
  /** One that is installed on the project, with its public key; tokens are made for it. */
  app: { id: number; slug: string; publicKey: KeyObject; permissions: Record<string, string> } | null = null;
  isInstalled = true;
  isSuspended = false;
  /** Of the tokens that were made for the app; those that are good. */
  readonly made: { token: string; repositories: unknown }[] = [];
  /** As the server has it. */
  now = () => Date.now();

  protected isLetIn({ authorization = '' }: IncomingHttpHeaders): boolean {
    const secret = /^(?:token|Bearer) (.+)$/.exec(authorization)?.[1];
    if (this.app === null) return secret === this.token;
    return this.made.some(({ token }) => token === secret) || this.#isSignedByApp(secret ?? '');
  }

  #isSignedByApp(jwt: string): boolean {
    const [header = '', payload = '', signature = ''] = jwt.split('.');
    if (this.app === null || signature === '') return false;
    const { iss, iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<
      string,
      unknown
    >;
    const seconds = this.now() / 1_000;
    const inTime = Number(iat) <= seconds && Number(exp) > seconds && Number(exp) <= seconds + 600;
    const signed = verify(
      'RSA-SHA256',
      Buffer.from(`${header}.${payload}`),
      this.app.publicKey,
      Buffer.from(signature, 'base64url'),
    );
    return inTime && signed && String(iss) === String(this.app.id);
  }

  #answerApp({ method, body }: RecordedRequest, path: string): Reply | null {
    const { app } = this;
    if (app === null) return null;
    if (path === `/repos/${this.project}/installation` && method === 'GET')
      return this.isInstalled
        ? {
            status: 200,
            body: {
              ...{ id: 77, app_id: app.id, app_slug: app.slug, permissions: app.permissions },
              suspended_at: this.isSuspended ? '2026-11-01T12:00:00Z' : null,
            },
          }
        : this.refusal(404, 'Not Found');
    if (path !== '/app/installations/77/access_tokens' || method !== 'POST') return null;
    const token = `ghs_canary-installation/${this.made.length + 1}+token`;
    this.made.push({ token, repositories: body.repositories });
    const ends = new Date(this.now() + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z');
    return { status: 201, body: { token, expires_at: ends, permissions: app.permissions } };
  }

  protected refusal(status: number, why: string): Reply {
    return { status, body: { message: why, documentation_url: 'https://docs.github.com/rest' } };
  }

  override get url(): string {
    return `${super.url}/v3`;
  }

  /** Of what is asked below `/v3`, and of GraphQL beside it. */
  protected answer(asked: RecordedRequest, path: string): Reply {
    if (path === '/graphql' && asked.method === 'POST') return this.#graphql(asked.body);
    return path.startsWith('/v3')
      ? this.#rest(asked, path.slice('/v3'.length))
      : this.refusal(404, 'Not Found');
  }

  /** What went wrong is told with status 200. */
  #graphql({ query, variables }: RecordedRequest['body']): Reply {
    const { id, sha, how } = variables as Record<string, string>;
    const wrong = (message: string) => ({
      status: 200,
      body: { data: null, errors: [{ type: 'UNPROCESSABLE', path: [], message }] },
    });
    const pull = this.pulls.find((one) => nodeOf(one) === id);
    if (!pull) return wrong(`Could not resolve to a node with the global id of '${id}'`);
    const enables = textOf(query).includes('enablePullRequestAutoMerge');
    if (textOf(query).includes('dequeuePullRequest'))
      return this.queued.delete(pull.number)
        ? { status: 200, body: { data: {} } }
        : wrong('Pull request is not in the merge queue.');
    if (!enables && (pull.autoMerge === null || !this.mayDisable || this.queued.has(pull.number)))
      return wrong("Can't disable auto-merge for this pull request.");
    if (enables && !this.mayAutoMerge) return wrong('Auto merge is not allowed for this repository');
    if (enables && pull.headSha !== sha) return wrong('Head sha was modified. Review and try again.');
    if (enables && !this.waits) return wrong('Pull request Pull request is in clean status');
    pull.autoMerge = enables ? textOf(how) : null;
    return { status: 200, body: { data: {} } };
  }

  #rest(asked: RecordedRequest, path: string): Reply {
    const { method, query, body } = asked;
    const forApp = this.#answerApp(asked, path);
    if (forApp) return forApp;
    if (path === '/user')
      return this.isApp
        ? this.refusal(403, 'Resource not accessible by integration')
        : { status: 200, body: { login: this.us } };
    const rest = path.startsWith(`/repos/${this.project}`)
      ? path.slice(`/repos/${this.project}`.length)
      : null;
    if (rest === null) return this.refusal(404, 'Not Found');
    const headers: Record<string, string> = {
      ...(this.scopes === null ? {} : { 'x-oauth-scopes': this.scopes }),
      ...(this.tokenEnd === null ? {} : { 'github-authentication-token-expiration': this.tokenEnd }),
    };
    if (rest === '')
      return { status: 200, headers, body: { id: 1, archived: false, permissions: { push: this.mayWrite } } };
    if (rest === '/pulls' && method === 'GET') {
      const open = this.pulls.filter(
        (pull) =>
          (query.get('state') === 'all' || pull.state === 'open') &&
          (query.get('base') === null || pull.base === query.get('base')) &&
          (query.get('head') === null || ownerOf(pull).concat(':', pull.branch) === query.get('head')),
      );
      return this.#listed(
        asked,
        open.reverse().map((pull) => this.#shown(pull)),
      );
    }
    if (rest === '/pulls' && method === 'POST') {
      const { title, head, base, body: text } = body;
      if (
        this.pulls.some(
          (pull) => pull.state === 'open' && !pull.isFork && pull.branch === head && pull.base === base,
        )
      )
        return {
          status: 422,
          body: {
            message: 'Validation Failed',
            errors: [
              {
                resource: 'PullRequest',
                code: 'custom',
                message: `A pull request already exists for acme:${head}.`,
              },
            ],
          },
        };
      if (body.draft === true && !this.hasDrafts)
        return this.refusal(422, 'Draft pull requests are not supported in this repository.');
      const made = this.add({
        ...{ title: textOf(title), body: textOf(text), branch: textOf(head), base: textOf(base) },
        ...{ author: this.us, headSha: shaOf(`tip of ${head}`), isDraft: body.draft === true },
      });
      return { status: 201, body: this.#shown(made) };
    }
    const furnished = this.#furnish(asked, rest);
    if (furnished) return furnished;
    const [, pullNumber] = /^\/pulls\/(\d+)$/.exec(rest) ?? [];
    if (pullNumber) {
      const pull = this.pulls.find((one) => one.number === Number(pullNumber));
      if (!pull) return this.refusal(404, 'Not Found');
      if (method === 'PATCH') {
        const { title, body: text, state } = body;
        this.touch(pull, {
          ...(title === undefined ? {} : { title: textOf(title) }),
          ...(text === undefined ? {} : { body: textOf(text) }),
          ...(state === 'closed' ? { state: 'closed' } : {}),
        });
      }
      return { status: 200, body: this.#shown(pull) };
    }
    const [, issue] = /^\/issues\/(\d+)\/comments$/.exec(rest) ?? [];
    if (issue && method === 'GET')
      return this.#listed(
        asked,
        this.commentsOf(Number(issue)).map((one) => this.#told(one)),
      );
    if (issue && !this.pulls.some((one) => one.number === Number(issue)))
      return this.refusal(404, 'Not Found');
    const us = this.app ? `${this.app.slug}[bot]` : this.us;
    if (issue) return { status: 201, body: this.#told(this.say(Number(issue), us, textOf(body.body))) };
    const [, id] = /^\/issues\/comments\/(\d+)$/.exec(rest) ?? [];
    if (id) {
      const comment = this.comments.find((one) => one.id === Number(id) && !one.deleted);
      if (!comment) return this.refusal(404, 'Not Found');
      comment.body = textOf(body.body);
      return { status: 200, body: this.#told(comment) };
    }
    const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? [];
    if (sha && method === 'POST') {
      if (!this.maySetStatus)
        return {
          status: 403,
          headers: { 'x-accepted-github-permissions': 'statuses=write' },
          body: { message: 'Resource not accessible by personal access token' },
        };
      if (/^0+$/.test(sha)) return this.refusal(422, `No commit found for SHA: ${sha}`);
      if (
        !/^(error|failure|pending|success)$/.test(textOf(body.state)) ||
        textOf(body.description).length > 140
      )
        return this.refusal(422, 'Validation Failed');
      this.statuses.push({
        ...{ sha, context: textOf(body.context), state: textOf(body.state) },
        ...{ description: textOf(body.description), url: textOf(body.target_url) },
      });
      return { status: 201, body: { id: 1, state: body.state } };
    }
    return this.refusal(404, 'Not Found');
  }

  #furnish({ method, body }: RecordedRequest, rest: string): Reply | null {
    const [, base] =
      /^\/git\/matching-refs\/heads%?(?:%2F|\/)gh-readonly-queue(?:%2F|\/)(.+?)(?:%2F|\/)$/.exec(rest) ?? [];
    if (base)
      return {
        status: 200,
        body: [...this.queue]
          .filter(([branch]) => branch.startsWith(`gh-readonly-queue/${base}/`))
          .map(([branch, sha]) => ({ ref: `refs/heads/${branch}`, object: { type: 'commit', sha } })),
      };
    const [, kind, number, what] =
      /^\/(issues|pulls)\/(\d+)\/(labels|assignees|requested_reviewers|merge)$/.exec(rest) ?? [];
    const pull = this.pulls.find((one) => one.number === Number(number));
    if (!kind || !pull) return null;
    const names = (value: unknown) => (Array.isArray(value) ? value.map(textOf) : []);
    if (what === 'merge' && method === 'PUT') {
      if (body.sha !== pull.headSha)
        return this.refusal(409, 'Head branch was modified. Review and try the merge again.');
      const { mergeSha } = this.merge(pull.number, textOf(body.merge_method) as 'merge');
      return { status: 200, body: { sha: mergeSha, merged: true } };
    }
    if (what === 'labels') pull.labels.push(...names(body.labels));
    // Those that cannot be assigned are left out without a word.
    if (what === 'assignees')
      pull.assignees.push(...names(body.assignees).filter((name) => this.people.includes(name)));
    if (what === 'requested_reviewers') {
      const strangers = names(body.reviewers).filter((name) => !this.people.includes(name));
      if (strangers.length > 0)
        return this.refusal(
          422,
          'Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the acme/pipes repository.',
        );
      pull.reviewers.push(
        ...names(body.reviewers),
        ...names(body.team_reviewers).map((team) => `team ${team}`),
      );
    }
    const logins = pull.assignees.map((login) => ({ login }));
    return { status: 201, body: what === 'labels' ? [] : { ...this.#shown(pull), assignees: logins } };
  }

  #listed(asked: RecordedRequest, all: readonly unknown[]): Reply {
    const { values, next } = this.page(all, asked.query, 'per_page', 30);
    return {
      status: 200,
      body: values,
      ...(next === null ? {} : { headers: { link: `<${this.pageUrl(asked, next)}>; rel="next"` } }),
    };
  }

  #shown(pull: StoredPull) {
    const plain: Pull = {
      number: pull.number,
      title: pull.title,
      body: pull.body === '' ? null : pull.body,
      state: pull.state === 'open' ? 'open' : 'closed',
      draft: pull.isDraft,
      merged: pull.state === 'merged',
      // While it is open, of a merge that GitHub tries.
      merge_commit_sha: pull.mergeSha ?? shaOf(`trial of ${pull.number}`),
      html_url: `${this.origin}/${this.project}/pull/${pull.number}`,
      updated_at: pull.updatedAt.toISOString(),
      merged_at: pull.state === 'merged' ? (pull.closedAt?.toISOString() ?? null) : null,
      closed_at: pull.closedAt?.toISOString() ?? null,
    };
    return {
      ...plain,
      node_id: nodeOf(pull),
      auto_merge: pull.autoMerge === null ? null : { merge_method: pull.autoMerge.toLowerCase() },
      user: { login: pull.author },
      merged_by: pull.mergedBy === null ? null : { login: pull.mergedBy },
      head: { ref: pull.branch, sha: pull.headSha, repo: { id: pull.isFork ? 2 : 1 } },
      base: { ref: pull.base, sha: shaOf('base'), repo: { id: 1 } },
    };
  }

  #told({ id, body, author }: StoredComment) {
    const plain: Comment = { id, body };
    const app = this.isApp && author === this.us ? { id: 1 } : null;
    return { ...plain, user: { login: author }, performed_via_github_app: app };
  }
}

const nodeOf = ({ number }: StoredPull): string => `PR_kwDOB${number}`;
const ownerOf = ({ isFork }: StoredPull): string => (isFork ? 'stranger' : 'acme');
