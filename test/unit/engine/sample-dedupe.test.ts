import { expect } from 'chai';
import { type LogEvent, Timestamp } from '../../../examples/engine/event.ts';
import { seahash } from '../../../examples/engine/transforms/seahash.ts';
import { startTransform } from './support.ts';

const numbered = (count: number): LogEvent[] => Array.from({ length: count }, (_unused, n) => ({ n }));
const DISCARDED = { intentional: 'true' };

describe('the sample transform', function () {
  this.timeout(10_000);

  it('passes the first of every `rate` events, says so, and counts the others as intended', async () => {
    const { run, value } = await startTransform('type: sample, rate: 3');
    expect(run(...numbered(7))._default).to.deep.equal([
      { n: 0, sample_rate: '3' },
      { n: 3, sample_rate: '3' },
      { n: 6, sample_rate: '3' },
    ]);
    expect(run(...numbered(2))._default).to.deep.equal([]);
    expect(value('component_discarded_events_total', DISCARDED)).to.equal(6);
  });

  it('passes the share `ratio`', async () => {
    const { run } = await startTransform('type: sample, ratio: 0.75, sample_rate_key: share');
    const passed = run(...numbered(1000))._default!;
    expect(passed).to.have.length(750);
    expect(passed[0]).to.deep.equal({ n: 0, share: '0.75' });
  });

  it('counts each group by itself, and events without the field together', async () => {
    const { run, value } = await startTransform(
      `type: sample, rate: 2, group_by: '{{ app.name }}', sample_rate_key: ''`,
    );
    const [a, b] = [{ app: { name: 'a' } }, { app: { name: 'b' } }];
    expect(run(a, b, {}, a, b, {}, a)._default).to.deep.equal([a, b, {}, a]);
    expect(value('component_errors_total', { error_type: 'template_failed' })).to.equal(2);
  });

  it('decides by the key where there is one: all of its events pass, or none', async () => {
    const { run } = await startTransform(`type: sample, rate: 10, key_field: .trace.id, sample_rate_key: ''`);
    const events = numbered(2000).map(({ n }) => ({ trace: { id: `t${Number(n) % 500}` } }));
    const passed = run(...events)._default as typeof events;
    const ids = new Set(passed.map(({ trace }) => trace.id));
    expect(passed).to.have.length(ids.size * 4);
    expect(ids.size).to.be.within(25, 75);
    expect([...ids].every((id) => seahash(id) % 10n === 0n)).to.equal(true);
  });

  it('always passes what `exclude` is true for, unmarked', async () => {
    const { run } = await startTransform(`type: sample, rate: 100, exclude: '.level == "error"'`);
    const error = { level: 'error' };
    expect(run({}, error, {}, error)._default).to.deep.equal([{ sample_rate: '100' }, error, error]);
  });

  it('hashes as SeaHash does', () => {
    expect(seahash('to be or not to be')).to.equal(1988685042348123509n);
  });
});

describe('the dedupe transform', () => {
  it('matches message, host and time unless told otherwise', async () => {
    const { run, value } = await startTransform('type: dedupe');
    const event = { message: 'a', host: 'h', timestamp: new Timestamp('2026-01-01T00:00:00Z'), n: 1 };
    const later = { ...event, timestamp: new Timestamp('2026-01-01T00:00:01Z') };
    expect(run(event, { ...event, n: 2 }, later)._default).to.deep.equal([event, later]);
    expect(value('component_discarded_events_total', DISCARDED)).to.equal(1);
  });

  it('matches the given fields, and tells a missing one from null and a text from a number', async () => {
    const { run } = await startTransform('type: dedupe, fields: {match: [a.b, .c]}');
    const events: LogEvent[] = [
      { a: { b: 1 }, c: 'x' },
      { a: { b: '1' }, c: 'x' },
      { a: { b: 1 } },
      { a: { b: 1 }, c: null },
    ];
    expect(run(...events, ...events)._default).to.deep.equal(events);
  });

  it('ignores the given fields only, whatever the order of the others', async () => {
    const { run } = await startTransform('type: dedupe, fields: {ignore: [n, k.id]}');
    const first = { a: 1, k: { id: 1, x: [1, 2] }, n: 1 };
    const other = { a: 1, k: { id: 1, x: [2, 1] }, n: 1 };
    expect(run(first, { n: 2, k: { x: [1, 2], id: 2 }, a: 1 }, other)._default).to.deep.equal([first, other]);
  });

  it('forgets what it saw longest ago', async () => {
    const { run } = await startTransform('type: dedupe, fields: {match: [n]}, cache: {num_events: 2}');
    const [a, b, c] = [{ n: 'a' }, { n: 'b' }, { n: 'c' }];
    // The second `a` is a use, so that `c` pushes out `b`.
    expect(run(a, b, a, c, a, b)._default).to.deep.equal([a, b, c, b]);
  });

  it('remembers long events by a hash', async () => {
    const { run } = await startTransform('type: dedupe, fields: {match: [m]}');
    const [a, b] = [{ m: `${'x'.repeat(10_000)}a` }, { m: `${'x'.repeat(10_000)}b` }];
    expect(run(a, b, a, b)._default).to.deep.equal([a, b]);
  });
});
