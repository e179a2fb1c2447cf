/** A forge that lives in the test: what it has been told is there to be looked at, and it can be as bad as forges get. */
import type {
  Forge,
  ForgePullRequest,
  LeftOut,
  MergeGroup,
  OpenRequest,
  StatusReport,
} from '../../../reconcilers/forges/forge.ts';

export interface ReportedStatus extends StatusReport {
  sha: string;
}

export type ForgeCall =
  | 'open'
  | 'update'
  | 'close'
  | 'get'
  | 'listOpen'
  | 'usesBranch'
  | 'comment'
  | 'setStatus';

export class MemoryForge implements Forge {
  readonly name = 'github';
  readonly pulls = new Map<number, ForgePullRequest>();
  readonly comments = new Map<string, { number: number; body: string; written: number }>();
  /** In the order in which they came. */
  readonly statuses: ReportedStatus[] = [];
  readonly calls: ForgeCall[] = [];
  /** Asked before each call is carried out; what it throws is the answer. */
  before: (call: ForgeCall) => void | Promise<void> = () => {};
  /** Asked after it, when the forge has done it. */
  after: (call: ForgeCall) => void = () => {};
  #ids = 0;

  /** Of people, or what became of one meanwhile. */
  set(number: number, more: Partial<ForgePullRequest>): ForgePullRequest {
    const known = this.pulls.get(number);
    const pull: ForgePullRequest = {
      ...(known ?? {
        ...{ number, title: `change ${number}`, body: '', state: 'open', isDraft: false, isFork: false },
        ...{ branch: `topic-${number}`, base: 'main', headSha: '0'.repeat(40), author: 'grace' },
        ...{
          url: `https://forge.example.org/pulls/${number}`,
          mergeSha: null,
          mergedBy: null,
          closedAt: null,
        },
        updatedAt: new Date(0),
      }),
      ...more,
    };
    this.pulls.set(number, pull);
    return pull;
  }

  count(call: ForgeCall): number {
    return this.calls.filter((one) => one === call).length;
  }

  /** What the last status of the commit says, as `state: description`. */
  statusOf(sha: string): string | null {
    const last = this.statuses.findLast((one) => one.sha === sha);
    return last ? `${last.state}: ${last.description}` : null;
  }

  commentsOn(number: number): string[] {
    return [...this.comments.values()].filter((one) => one.number === number).map(({ body }) => body);
  }

  /** As it was asked to. */
  readonly opened: OpenRequest[] = [];
  /** Heads of its merge queue. */
  groups: MergeGroup[] = [];
  open(request: OpenRequest): Promise<ForgePullRequest> {
    const { title, body, branch, base, isDraft = false } = request;
    return this.#call('open', () => {
      this.opened.push(request);
      return this.set(this.pulls.size + 1, { title, body, branch, base, isDraft });
    });
  }
  mergeGroups(base: string): Promise<MergeGroup[]> {
    return Promise.resolve(this.groups.filter(({ branch }) => branch.includes(`/${base}/`)));
  }
  update(number: number, change: { title?: string; body?: string }): Promise<void> {
    return this.#call('update', () => void this.set(number, change));
  }
  close(number: number): Promise<void> {
    return this.#call('close', () => void this.set(number, { state: 'closed', closedAt: new Date() }));
  }
  get(number: number): Promise<ForgePullRequest | null> {
    return this.#call('get', () => this.pulls.get(number) ?? null);
  }
  listOpen(base: string, _leftOut?: LeftOut): Promise<ForgePullRequest[]> {
    return this.#call('listOpen', () =>
      [...this.pulls.values()].filter((one) => one.state === 'open' && one.base === base).slice(0, 500),
    );
  }
  usesBranch(name: string): Promise<boolean> {
    return this.#call('usesBranch', () =>
      [...this.pulls.values()].some(
        (one) => one.state === 'open' && (one.base === name || (one.branch === name && !one.isFork)),
      ),
    );
  }
  comment(
    number: number,
    { marker, body, commentId }: { marker: string; body: string; commentId: string | null },
  ): Promise<string> {
    return this.#call('comment', () => {
      const known = commentId !== null && this.comments.has(commentId) ? commentId : null;
      const found =
        known ??
        [...this.comments].find(([, one]) => one.number === number && one.body.includes(marker))?.[0] ??
        null;
      const id = found ?? String(++this.#ids);
      this.comments.set(id, { number, body, written: (this.comments.get(id)?.written ?? 0) + 1 });
      return id;
    });
  }
  setStatus(sha: string, report: StatusReport): Promise<void> {
    return this.#call('setStatus', () => void this.statuses.push({ sha, ...report }));
  }
  async check(): Promise<void> {}
  tokenEndsAt: Date | null = null;
  tokenEnd(): Promise<Date | null> {
    return Promise.resolve(this.tokenEndsAt);
  }
  headRef({ number, isFork, branch }: Pick<ForgePullRequest, 'number' | 'branch' | 'isFork'>): string {
    return isFork ? `refs/pull/${number}/head` : `refs/heads/${branch}`;
  }

  async #call<T>(call: ForgeCall, work: () => T): Promise<T> {
    this.calls.push(call);
    await this.before(call);
    const done = work();
    this.after(call);
    return done;
  }
}
