/** Azure DevOps Services, as https://learn.microsoft.com/rest/api/azure/devops describes it. */
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

const STATES = { open: 'active', merged: 'completed', closed: 'abandoned' } as const;
const NOBODY = '00000000-0000-0000-0000-000000000000';
const idOf = (name: string): string => `id-of-${name}`;

export class AzureDevOpsServer extends ForgeServer {
  readonly name = 'azure-devops';
  /** Of the organization. */
  protected readonly root = '/acme';
  override readonly project = 'Data Team/pipes';
  isDisabled = false;
  /** In the very moment in which one is changed. */
  onPatch: (pull: StoredPull) => void = () => {};
  /** What policies of branches look at. */
  readonly onPulls: { number: number; context: string; state: string; iterationId: number }[] = [];
  /** Heads, in the order of their pushes. */
  readonly #iterations = new Map<number, string[]>();

  protected isLetIn({ authorization }: IncomingHttpHeaders): boolean {
    return authorization === `Basic ${Buffer.from(`:${this.token}`).toString('base64')}`;
  }

  protected refusal(status: number, why: string): Reply {
    return { status, body: { $id: '1', message: why, typeKey: 'GitException', errorCode: 0 } };
  }

  protected answer(asked: RecordedRequest, path: string): Reply {
    const { method, query, body } = asked;
    if (!/^\d\.\d(-preview)?$/.test(query.get('api-version') ?? ''))
      return this.refusal(400, 'No api-version was supplied for the request.');
    if (path === '/_apis/connectionData')
      return {
        status: 200,
        body: { authenticatedUser: { id: idOf(this.us), providerDisplayName: this.us } },
      };
    const mine = '/Data%20Team/_apis/git/repositories/pipes';
    if (!path.startsWith(mine))
      return this.refusal(404, 'TF200016: The following project does not exist: Other.');
    const rest = path.slice(mine.length);
    if (rest === '') return { status: 200, body: { id: 'r', name: 'pipes', isDisabled: this.isDisabled } };
    if (rest === '/pullrequests' && method === 'GET') return this.#list(query);
    if (rest === '/pullrequests') return this.#open(body);
    const [, sha] = /^\/commits\/([0-9a-f]{40})\/statuses$/.exec(rest) ?? [];
    if (sha) return this.#status(body, (told) => this.statuses.push({ sha, ...told }));
    const [, number, more = ''] = /^\/pullrequests\/(\d+)(.*)$/.exec(rest) ?? [];
    const pull = this.pulls.find((one) => one.number === Number(number));
    if (!pull) return this.refusal(404, 'TF401180: The requested pull request was not found.');
    const iterations = this.#iterationsOf(pull);
    if (more === '/iterations')
      return {
        status: 200,
        body: { value: iterations.map((commitId, at) => ({ id: at + 1, sourceRefCommit: { commitId } })) },
      };
    if (more === '/statuses') {
      const { iterationId } = body;
      if (typeof iterationId !== 'number' || iterationId > iterations.length)
        return this.refusal(403, 'A policy requires the status to be posted on an iteration.');
      return this.#status(body, ({ context, state }) =>
        this.onPulls.push({ number: pull.number, context, state, iterationId }),
      );
    }
    if (more.startsWith('/threads')) return this.#threads(asked, pull, more.slice('/threads'.length));
    if (method === 'PATCH') return this.#change(pull, body);
    return { status: 200, body: this.#shown(pull) };
  }

  #iterationsOf({ number, headSha }: StoredPull): string[] {
    const known = this.#iterations.get(number) ?? [];
    if (known.at(-1) !== headSha) known.push(headSha);
    this.#iterations.set(number, known);
    return known;
  }

  #list(query: URLSearchParams): Reply {
    const of = (field: string) => query.get(`searchCriteria.${field}`);
    const open = this.pulls.filter(
      (pull) =>
        pull.state === 'open' &&
        (of('targetRefName') ?? `refs/heads/${pull.base}`) === `refs/heads/${pull.base}` &&
        (of('sourceRefName') ?? `refs/heads/${pull.branch}`) === `refs/heads/${pull.branch}`,
    );
    const [skip, top] = [Number(query.get('$skip') ?? 0), Number(query.get('$top') ?? 101)];
    const value = open
      .reverse()
      .slice(skip, skip + top)
      .map((pull) => ({ ...this.#shown(pull), description: pull.body.slice(0, 400) }));
    return { status: 200, body: { value, count: value.length } };
  }

  #open(body: RecordedRequest['body']): Reply {
    const [branch, base] = [plain(body.sourceRefName), plain(body.targetRefName)];
    const there = this.pulls.some(
      (pull) => pull.state === 'open' && !pull.isFork && pull.branch === branch && pull.base === base,
    );
    if (there)
      return this.refusal(
        409,
        'TF401179: An active pull request for the source and target branch already exists.',
      );
    const reviewers = ((body.reviewers ?? []) as { id: string }[]).map(({ id }) => id);
    if (reviewers.some((id) => !this.people.map(idOf).includes(id)))
      return this.refusal(400, 'Invalid argument value. Parameter name: reviewers');
    const labels = ((body.labels ?? []) as { name: string }[]).map(({ name }) => name);
    if (textOf(body.description).length > 4_000)
      return this.refusal(400, 'A maximum of 4000 characters is allowed for description.');
    const made = this.add({
      ...{ title: textOf(body.title), body: textOf(body.description), author: this.us, branch, base },
      ...{ headSha: shaOf(`tip of ${branch}`), isDraft: body.isDraft === true, reviewers, labels },
    });
    return { status: 201, body: this.#shown(made) };
  }

  #change(pull: StoredPull, body: RecordedRequest['body']): Reply {
    if (pull.state !== 'open' && body.status !== 'active')
      return this.refusal(400, 'TF401181: The pull request cannot be edited due to its state.');
    const setBy = (body.autoCompleteSetBy as { id?: string } | undefined)?.id;
    const strategy = textOf((body.completionOptions as { mergeStrategy?: unknown })?.mergeStrategy);
    this.onPatch(pull);
    if (setBy !== undefined) pull.autoMerge = setBy === NOBODY ? null : strategy;
    if (pull.autoMerge !== null && !this.waits)
      this.merge(pull.number, pull.autoMerge === 'noFastForward' ? 'merge' : (pull.autoMerge as 'squash'));
    this.touch(pull, {
      ...(body.title === undefined ? {} : { title: textOf(body.title) }),
      ...(body.description === undefined ? {} : { body: textOf(body.description) }),
      ...(body.status === 'abandoned' ? { state: 'closed' } : {}),
    });
    return { status: 200, body: this.#shown(pull) };
  }

  #threads({ method, body }: RecordedRequest, pull: StoredPull, rest: string): Reply {
    const all = this.comments.filter((one) => one.number === pull.number);
    if (rest === '' && method === 'GET')
      return { status: 200, body: { value: all.map((one) => this.#told(one)), count: all.length } };
    if (rest === '') {
      const [first] = body.comments as { content?: unknown }[];
      return { status: 200, body: this.#told(this.say(pull.number, this.us, textOf(first?.content))) };
    }
    const [, id, which] = /^\/(\d+)(?:\/comments\/(\d+))?$/.exec(rest) ?? [];
    const comment = all.find((one) => one.id === Number(id));
    if (!comment) return this.refusal(404, 'The thread was not found.');
    if (which && comment.deleted) return this.refusal(400, 'The comment is deleted.');
    if (which) comment.body = textOf(body.content);
    return { status: 200, body: this.#told(comment) };
  }

  #status(
    { state, description, targetUrl, context }: RecordedRequest['body'],
    keep: (told: { context: string; state: string; description: string; url: string }) => void,
  ): Reply {
    const { name, genre } = context as { name?: string; genre?: string };
    if (!name || !/^(pending|succeeded|failed|error)$/.test(textOf(state)))
      return this.refusal(400, 'The status is not valid.');
    keep({
      ...{ context: `${genre}/${name}`, state: textOf(state).replace('succeeded', 'success') },
      ...{ description: textOf(description), url: textOf(targetUrl) },
    });
    return { status: 201, body: { id: 1, state } };
  }

  #shown(pull: StoredPull) {
    return {
      pullRequestId: pull.number,
      title: pull.title,
      ...(pull.body === '' ? {} : { description: pull.body }),
      status: STATES[pull.state],
      isDraft: pull.isDraft,
      sourceRefName: `refs/heads/${pull.branch}`,
      targetRefName: `refs/heads/${pull.base}`,
      lastMergeSourceCommit: { commitId: pull.headSha },
      ...(pull.mergeSha ? { lastMergeCommit: { commitId: pull.mergeSha } } : {}),
      createdBy: { id: idOf(pull.author), uniqueName: pull.author, displayName: `${pull.author} Somebody` },
      ...(pull.mergedBy ? { closedBy: { id: idOf(pull.mergedBy), uniqueName: pull.mergedBy } } : {}),
      creationDate: pull.updatedAt.toISOString(),
      ...(pull.closedAt ? { closedDate: pull.closedAt.toISOString() } : {}),
      ...(pull.isFork ? { forkSource: { name: `refs/heads/${pull.branch}` } } : {}),
      ...(pull.autoMerge ? { autoCompleteSetBy: { id: idOf(this.us) } } : {}),
    };
  }

  #told({ id, body, author, deleted }: StoredComment) {
    return {
      ...{ id, status: 'closed', isDeleted: false },
      comments: [{ id: 1, content: deleted ? null : body, isDeleted: deleted, author: { id: idOf(author) } }],
    };
  }
}

const plain = (ref: unknown): string => textOf(ref).replace(/^refs\/heads\//, '');
