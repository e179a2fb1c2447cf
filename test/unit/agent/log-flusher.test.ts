/** The delivery of log lines, with a sender that says what the test wants and a clock moved by hand. */
import { expect } from 'chai';
import { LogFlusher, type LogSource, type LogsOutcome } from '../../../agent/link/log-flusher.ts';
import { createLogger } from '../../../agent/log.ts';
import { LogRing } from '../../../agent/report/log-ring.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { LogsRequest } from '../../../schemas/agent/protocol.ts';
import { until } from '../../support/harness/until.ts';

const STORED: LogsOutcome = { type: 'stored', rejected: 0 };
const failed = (status?: number, retryAfterMs?: number): LogsOutcome => ({
  type: 'failed',
  reason: `status ${status}`,
  status,
  retryAfterMs,
});
const INTERVAL_MS = 2_000;

describe('the delivery of log lines', () => {
  let clock: ReturnType<typeof manualClock>;
  let sent: LogsRequest[];
  /** What the controller answers; the last for all further requests. */
  let answers: (LogsOutcome | Promise<LogsOutcome>)[];
  let flusher: LogFlusher;

  beforeEach(() => {
    clock = manualClock();
    sent = [];
    answers = [STORED];
    flusher = new LogFlusher({
      intervalMs: INTERVAL_MS,
      clock,
      log: createLogger('error', () => {}),
      random: () => 0.5,
      async send(entries) {
        sent.push(structuredClone(entries));
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        return answer ?? STORED;
      },
    });
  });

  const source = (id: string): LogSource & { ended: boolean; write(...lines: string[]): void } => {
    const logs = new LogRing();
    const made = {
      id,
      logs,
      ended: false,
      write(...lines: string[]) {
        for (const line of lines) {
          logs.push(line);
          flusher.note(made);
        }
      },
    };
    return made;
  };
  /** Lets promises that are settled run on. */
  const settle = () => new Promise<void>((done) => setImmediate(done));
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  const linesOf = (id: string) =>
    sent.flatMap((entries) => entries.filter((one) => one.pipelineId === id).flatMap(({ lines }) => lines));
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `line ${from + n}`);

  it('sends after the interval what came in it, only of pipelines with lines', async () => {
    const [a, b] = [source('a'), source('b')];
    source('silent');
    a.write('1', '2');
    b.write('x');
    await pass(INTERVAL_MS - 1);
    expect(sent).to.deep.equal([]);
    await pass(1);
    expect(sent).to.deep.equal([
      [
        { pipelineId: 'a', lines: ['1', '2'] },
        { pipelineId: 'b', lines: ['x'] },
      ],
    ]);
    a.write('3');
    await pass(INTERVAL_MS);
    expect(sent[1]).to.deep.equal([{ pipelineId: 'a', lines: ['3'] }]);
  });

  it('has no timer and sends nothing while nobody writes', async () => {
    let timers = 0;
    const counting = new LogFlusher({
      intervalMs: INTERVAL_MS,
      clock: {
        ...clock,
        after(ms, task) {
          timers += 1;
          return clock.after(ms, task);
        },
      },
      log: createLogger('error', () => {}),
      send: async () => STORED,
    });
    await pass(3_600_000);
    expect(timers).to.equal(0);
    const one = source('a');
    one.logs.push('1');
    counting.note(one);
    await pass(3_600_000);
    expect(timers).to.equal(1);
  });

  it('has one request in flight, and moves on only when it is answered', async () => {
    let answer = (_: LogsOutcome) => {};
    answers = [new Promise<LogsOutcome>((done) => (answer = done)), STORED];
    const a = source('a');
    a.write('1');
    await pass(INTERVAL_MS);
    a.write('2');
    await pass(60_000);
    expect(sent).to.have.length(1);
    answer(STORED);
    await settle();
    await pass(INTERVAL_MS);
    expect(linesOf('a')).to.deep.equal(['1', '2']);
  });

  it('keeps what was not stored and sends it again, with what came since, in order', async () => {
    answers = [failed(503), failed(undefined), STORED];
    const a = source('a');
    a.write('1');
    await pass(INTERVAL_MS);
    a.write('2');
    await pass(60_000);
    await pass(60_000);
    expect(sent.at(-1)).to.deep.equal([{ pipelineId: 'a', lines: ['1', '2'] }]);
    expect(sent).to.have.length(3);
  });

  it('sends no more lines in one request than the controller takes, and the others with the next', async () => {
    const sources = Array.from({ length: 60 }, (_, n) => source(`p${n}`));
    for (const one of sources) one.write(...Array(AGENT_LIMITS.logRingLines).fill(''));
    await pass(INTERVAL_MS);
    await pass(INTERVAL_MS);
    const counts = sent.map((entries) => entries.flatMap(({ lines }) => lines).length);
    expect(counts).to.deep.equal([AGENT_LIMITS.logRequestLines, 60 * 500 - AGENT_LIMITS.logRequestLines]);
    for (const { id } of sources) expect(linesOf(id)).to.have.length(500);
  });

  it('tells once how many lines were lost while the controller was away', async () => {
    answers = [failed(undefined), failed(undefined), STORED];
    const a = source('a');
    a.write(...numbered(0, 10));
    await pass(INTERVAL_MS);
    a.write(...numbered(10, 1_734));
    await pass(60_000);
    await pass(60_000);
    await pass(INTERVAL_MS);
    const delivered = sent.slice(2).flatMap((entries) => entries.flatMap(({ lines }) => lines));
    expect(delivered[0]).to.equal('… 1,234 lines were lost while the controller was away');
    expect(delivered.slice(1)).to.deep.equal(numbered(1_234, 1_734));
    for (const entries of sent)
      for (const { lines } of entries) expect(lines.length).to.be.at.most(AGENT_LIMITS.logRingLines);
  });

  it('tells of lines that came faster than they are sent', async () => {
    const a = source('a');
    a.write(...numbered(0, 600));
    await pass(INTERVAL_MS);
    expect(sent[0]?.[0]?.lines[0]).to.match(/^… 100 lines or more were left out/);
  });

  it('keeps the newest lines while the controller takes no more in an hour, and tells what was left out', async () => {
    answers = [failed(429, 60_000), failed(503), STORED];
    const a = source('a');
    a.write(...numbered(0, 2_000));
    await pass(INTERVAL_MS);
    a.write(...numbered(2_000, 3_000));
    await pass(90_000);
    await pass(90_000);
    expect(sent).to.have.length(3);
    expect(sent[2]?.[0]?.lines).to.deep.equal([
      '… 2,500 lines were left out: this node writes more log lines than the controller stores in an hour',
      ...numbered(2_500, 2_999),
    ]);
    answers = [failed(undefined), STORED];
    a.write(...numbered(0, 600));
    await pass(INTERVAL_MS);
    await pass(90_000);
    expect(sent.at(-1)?.[0]?.lines[0]).to.match(/were lost while the controller was away$/);
  });

  it('waits as long as a 429 asks', async () => {
    answers = [failed(429, 45_000), STORED];
    source('a').write('1');
    await pass(INTERVAL_MS);
    await pass(44_999);
    expect(sent).to.have.length(1);
    await pass(10_000);
    expect(sent).to.have.length(2);
  });

  for (const status of [401, 404]) {
    it(`asks ever less often while the answer is ${status}, and never stops`, async () => {
      answers = [failed(status)];
      source('a').write('1');
      await pass(INTERVAL_MS);
      const at: number[] = [];
      for (let minute = 0; minute < 60; minute += 1) {
        const before = sent.length;
        await pass(60_000);
        if (sent.length > before) at.push(minute);
      }
      expect(sent.length).to.be.within(10, 40);
      expect(at.at(-1)).to.be.above(50);
      answers = [STORED];
      await pass(600_000);
      expect(sent.at(-1)).to.deep.equal([{ pipelineId: 'a', lines: ['1'] }]);
      const before = sent.length;
      await pass(600_000);
      expect(sent).to.have.length(before);
    });
  }

  it('returns within half a minute when the controller is back after hours', async () => {
    answers = [failed(undefined)];
    source('a').write('1');
    for (let n = 0; n < 500; n += 1) await pass(30_000);
    answers = [STORED];
    const before = sent.length;
    await pass(33_000);
    expect(sent).to.have.length(before + 1);
  });

  it('keeps a request well below the limit of a body, whatever the lines are, and leaves nobody out', async () => {
    const many = Array.from({ length: 300 }, (_, n) => source(`p${n}`));
    for (const one of many)
      one.write(...Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(8_192, '\u0001')));
    for (let n = 0; n < 100; n += 1) await pass(INTERVAL_MS);
    for (const entries of sent)
      expect(Buffer.byteLength(JSON.stringify(entries))).to.be.below(AGENT_LIMITS.bodyBytes * 0.8);
    for (const { id } of many)
      expect(linesOf(id).map((line) => Number.parseInt(line, 10))).to.deep.equal(
        Array.from({ length: 20 }, (_, n) => n),
      );
  });

  it('sends smaller requests where a proxy says 413', async () => {
    answers = [failed(413), failed(413), STORED];
    const a = source('a');
    a.write(...Array.from({ length: 400 }, () => 'x'.repeat(8_000)));
    for (let n = 0; n < 40; n += 1) await pass(30_000);
    const sizes = sent.map((entries) => JSON.stringify(entries).length);
    expect(sizes[1]).to.be.below((sizes[0] ?? 0) * 0.6);
    expect(sizes[2]).to.be.below((sizes[1] ?? 0) * 0.6);
    expect(linesOf('a').length).to.be.at.least(400);
  });

  it('takes a sender that throws for one more failure', async () => {
    answers = [Promise.reject(new Error('a fault of ours')), STORED];
    source('a').write('1');
    await pass(INTERVAL_MS);
    await pass(60_000);
    expect(sent).to.have.length(2);
  });

  it('delivers the last lines of a pipeline that is gone, of at most 20 while the controller is away', async () => {
    answers = [failed(undefined)];
    const gone = Array.from({ length: 30 }, (_, n) => source(`gone-${n}`));
    for (const one of gone) {
      one.write('the end');
      one.ended = true;
    }
    await pass(INTERVAL_MS);
    answers = [STORED];
    await pass(60_000);
    expect(sent.at(-1)?.map(({ pipelineId }) => pipelineId)).to.deep.equal(
      gone.slice(-20).map(({ id }) => id),
    );
  });

  describe('at the end', () => {
    it('sends what is left, and then nothing', async () => {
      const a = source('a');
      a.write('1');
      await flusher.stop(2_000);
      expect(linesOf('a')).to.deep.equal(['1']);
      a.write('2');
      await pass(60_000);
      expect(sent).to.have.length(1);
    });

    it('waits for the request in flight, and sends the rest', async () => {
      let answer = (_: LogsOutcome) => {};
      answers = [new Promise<LogsOutcome>((done) => (answer = done)), STORED];
      const a = source('a');
      a.write('1');
      await pass(INTERVAL_MS);
      a.write('2');
      const ended = flusher.stop(2_000);
      await settle();
      answer(STORED);
      await ended;
      expect(linesOf('a')).to.deep.equal(['1', '2']);
    });

    it('does not wait for ever', async () => {
      answers = [new Promise<LogsOutcome>(() => {})];
      source('a').write('1');
      let ended = false;
      void flusher.stop(2_000).then(() => (ended = true));
      await pass(1_999);
      expect(ended).to.equal(false);
      clock.advance(1);
      await until(() => ended, { what: 'the end' });
      expect(sent).to.have.length(1);
    });

    it('tries once where the controller is away', async () => {
      answers = [failed(undefined)];
      source('a').write('1');
      await flusher.stop(2_000);
      expect(sent).to.have.length(1);
    });

    it('sends nothing where there is nothing', async () => {
      await flusher.stop(2_000);
      expect(sent).to.deep.equal([]);
    });
  });
});
