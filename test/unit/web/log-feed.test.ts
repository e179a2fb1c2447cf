/** The log feed against a store of lines that grows, pages and fails as the server's does. */
import { expect } from 'chai';
import type { LogLine, LogPage } from '../../../schemas/api/fleet/logs.ts';
import { isAfter, MAX_LINES } from '../../../web/src/ui/log/log-buffer.ts';
import { LogFeed } from '../../../web/src/ui/log/log-feed.ts';
import { until } from '../../support/harness/until.ts';

const REST_MS = 40;

const lineOf = (seq: number): LogLine => ({
  seq: String(seq),
  receivedAt: new Date(1_700_000_000_000 + seq),
  nodeId: 'n',
  nodeName: 'edge-1',
  pipelineId: 'p',
  pipelineName: 'orders',
  level: 'INFO',
  line: `line ${seq}`,
});

class Store {
  seqs: number[] = [];
  asked = 0;
  failing = false;
  /** Only every so many meet the filter, and a page looks at so many lines, as the server's do. */
  everyNth = 1;
  looksAt = 50_000;

  grow(count: number): void {
    const last = this.seqs.at(-1) ?? 0;
    for (let step = 1; step <= count; step += 1) this.seqs.push(last + step);
  }

  readonly fetch = async (cursor: string | undefined, limit: number): Promise<LogPage> => {
    this.asked += 1;
    if (this.failing) throw new Error('away');
    const before = this.seqs.filter((seq) => cursor === undefined || seq < Number(cursor));
    const looked = before.slice(-this.looksAt);
    const hits = looked.filter((seq) => seq % this.everyNth === 0);
    const lines = hits.slice(-limit).reverse().map(lineOf);
    if (hits.length > limit) return { lines, nextCursor: lines.at(-1)?.seq ?? null };
    return { lines, nextCursor: looked.length < before.length ? String(looked[0]) : null };
  };
}

describe('the log feed', function () {
  this.timeout(10_000);
  let store: Store;
  let feed: LogFeed;

  beforeEach(() => {
    store = new Store();
    feed = new LogFeed(store.fetch, { restMs: REST_MS, retryMs: 20, maxRetryMs: 100 });
  });
  afterEach(() => feed.stop());

  const seqs = (): number[] => feed.getState().lines.map(({ seq }) => Number(seq));
  async function begin(count: number): Promise<void> {
    store.grow(count);
    feed.start();
    await until(() => feed.getState().loaded, { what: 'the first page' });
  }
  async function look(): Promise<void> {
    const { freshAt } = feed.getState();
    feed.nudge();
    await until(() => feed.getState().freshAt > freshAt, { what: 'another look' });
  }
  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, step) => from + step);

  it('begins with the newest page, oldest line first', async () => {
    await begin(500);
    expect(seqs()).to.deep.equal(range(301, 500));
    expect(feed.getState().older).to.equal('301');
  });

  it('takes in what is newer, once each, however far the pages overlap', async () => {
    await begin(50);
    store.grow(450);
    await look();
    expect(seqs()).to.deep.equal(range(1, 500));
    expect(feed.getState().unseen).to.equal(0);
  });

  it('sorts in a line that was stored by another controller a moment later', async () => {
    await begin(10);
    store.seqs = [...range(1, 10), 14];
    await look();
    store.seqs = [...range(1, 10), 12, 14, 15];
    await look();
    expect(seqs().slice(-4)).to.deep.equal([10, 12, 14, 15]);
  });

  it('begins anew when it is too far behind, and pages back from there', async () => {
    await begin(300);
    store.grow(20_000);
    await look();
    expect(seqs().at(-1)).to.equal(20_300);
    const first = seqs()[0] ?? 0;
    expect(seqs()).to.deep.equal(range(first, 20_300));
    await feed.loadOlder();
    expect(seqs()).to.deep.equal(range(first - 1_000, 20_300));
  });

  it('rests between two looks however often it is told, and looks no more after its stop', async () => {
    await begin(1);
    const asked = store.asked;
    const started = Date.now();
    await until(
      () => {
        feed.nudge();
        return store.asked - asked >= 4;
      },
      { what: 'four looks' },
    );
    // A timer may fire within the last millisecond of its time.
    expect(Date.now() - started).to.be.at.least(3 * (REST_MS - 1));
    feed.stop();
    feed.nudge();
    const before = store.asked;
    // Two rests are the wait itself: nothing may happen in them.
    await new Promise((resolve) => setTimeout(resolve, 2 * REST_MS));
    expect(store.asked).to.equal(before);
  });

  it('counts what a reader who scrolled up has not seen, and forgets it at the end', async () => {
    await begin(100);
    feed.follow(false);
    store.grow(7);
    await look();
    expect(feed.getState().unseen).to.equal(7);
    expect(seqs().at(-1)).to.equal(107);
    feed.follow(true);
    expect(feed.getState().unseen).to.equal(0);
  });

  it('keeps at most 10,000 lines, and drops the oldest while it follows', async () => {
    await begin(MAX_LINES);
    while (feed.getState().older !== null) await feed.loadOlder();
    expect(feed.getState().lines).to.have.length(MAX_LINES);
    store.grow(100);
    await look();
    expect(seqs()).to.deep.equal(range(101, MAX_LINES + 100));
    expect(feed.getState().older).to.equal('101');
  });

  it('does not move a reader for new lines when it is full, and shows them when he goes to the newest', async () => {
    await begin(MAX_LINES + 500);
    feed.follow(false);
    for (let pages = 0; pages < 10; pages += 1) await feed.loadOlder();
    const kept = seqs();
    expect(kept).to.have.length(MAX_LINES);
    store.grow(30);
    await look();
    expect(seqs()).to.deep.equal(kept);
    expect(feed.getState().behind).to.equal(true);
    feed.follow(true);
    await until(() => seqs().at(-1) === MAX_LINES + 530, { what: 'the newest line' });
    expect(feed.getState().behind).to.equal(false);
  });

  it('keeps its lines while the controller is away, says why, and goes on by itself', async () => {
    await begin(20);
    store.failing = true;
    feed.nudge();
    await until(() => feed.getState().failure !== null, { what: 'a failed look' });
    expect(seqs()).to.have.length(20);
    store.failing = false;
    store.grow(1);
    await until(() => seqs().length === 21, { what: 'the line after the outage' });
    expect(feed.getState().failure).to.equal(null);
  });

  it('says why older lines could not be read, and reads them when asked again', async () => {
    await begin(300);
    store.failing = true;
    await feed.loadOlder();
    expect(feed.getState().olderFailure).to.be.instanceOf(Error);
    store.failing = false;
    await feed.loadOlder();
    expect(seqs()).to.deep.equal(range(1, 300));
    expect(feed.getState().older).to.equal(null);
  });

  it('looks back through pages without a line that matches, and stops to be told to go on', async () => {
    store.everyNth = 30_000;
    store.looksAt = 1_000;
    await begin(45_500);
    await until(() => !feed.getState().loadingOlder, { what: 'the first look back' });
    expect(seqs()).to.deep.equal([]);
    const { older } = feed.getState();
    expect(Number(older)).to.equal(34_501);
    store.grow(10);
    await look();
    expect(feed.getState().older, 'a look at the newest forgets nothing').to.equal(older);
    await feed.loadOlder();
    expect(seqs()).to.deep.equal([30_000]);
    store.grow(20_000);
    store.looksAt = 50_000;
    await look();
    expect(seqs()).to.deep.equal([30_000, 60_000]);
  });

  it('compares numbers of any length', () => {
    expect(isAfter('10', '9')).to.equal(true);
    expect(isAfter('9007199254740993', '9007199254740992')).to.equal(true);
    expect(isAfter('5', '5')).to.equal(false);
  });
});
