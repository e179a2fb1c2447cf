/** A clock that jumps by years must move nothing but what people read. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HeartbeatSchedule } from '../../../agent/link/heartbeat-schedule.ts';
import { retryAfterMs } from '../../../agent/link/http.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('time in the agent', () => {
  it('is that of the machine’s calendar in log lines, for Retry-After and in the report of a drain only', () => {
    const used = globSync('agent/**/*.ts', { cwd: ROOT })
      .filter((file) => !/^agent\/(build|release)\.ts$/.test(file))
      .flatMap((file) =>
        readFileSync(join(ROOT, file), 'utf8')
          .split('\n')
          .filter((line) => /Date\.now|new Date|clock\.now\(/.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    const others = used.filter(
      (line) => !/retryAfterMs\(headers, Date\.now\(\)\)|#drain\?\.end\(/.test(line),
    );
    expect(others).to.have.length(1);
    expect(others[0]).to.match(/^agent\/log\.ts: .*time=\$\{new Date\(\)\.toISOString\(\)\}/);
  });

  it('that an answer asks for by a date is counted from the answer’s own date', () => {
    const date = 'Sun, 01 Nov 2026 12:00:00 GMT';
    const later = 'Sun, 01 Nov 2026 12:00:30 GMT';
    const now = Date.parse(date);
    const wait = (headers: Record<string, string>, nowMs: number) =>
      retryAfterMs(new Headers(headers), nowMs);
    for (const year of [0, now - 3_600_000, now, now + 3_600_000])
      expect(wait({ 'retry-after': later, date }, year)).to.equal(30_000);
    expect(wait({ 'retry-after': later }, now)).to.equal(30_000);
    expect(wait({ 'retry-after': later, date: 'yesterday' }, now)).to.equal(30_000);
    expect(wait({ 'retry-after': date, date: later }, now)).to.equal(0);
    expect(wait({ 'retry-after': '7' }, 0)).to.equal(7_000);
    expect(wait({ 'retry-after': '999999999' }, 0)).to.equal(3_600_000);
    for (const text of ['soon', '', '-5', '1e9', 'NaN'])
      expect(wait({ 'retry-after': text }, now) ?? 0).to.equal(0);
    expect(wait({}, now)).to.equal(undefined);
  });
});

describe('the schedule of heartbeats', () => {
  const clock = manualClock();
  const settle = () => new Promise<void>((done) => setImmediate(done));

  it('keeps quiet as long as it was asked to, also for what became due while it was asked', async () => {
    const sent: number[] = [];
    const schedule = new HeartbeatSchedule(clock, async () => {
      sent.push(clock.monotonic());
      if (sent.length > 1) return;
      schedule.request('status');
      schedule.pause(60_000);
      schedule.request('poll');
    });
    schedule.request('poll');
    clock.advance(0);
    await settle();
    for (let second = 1; second < 60; second += 1) {
      clock.advance(1_000);
      schedule.request(second % 2 ? 'status' : 'poll');
      await settle();
    }
    expect(sent).to.have.length(1);
    clock.advance(1_000);
    await settle();
    expect(sent).to.have.length(2);
    schedule.stop();
  });
});
