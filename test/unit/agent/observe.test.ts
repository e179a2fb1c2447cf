/** What the agent makes of events and of requests for them, without a process. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseConfig } from '../../../agent/link/answers.ts';
import { parsePushMessage } from '../../../agent/link/push-message.ts';
import { createLogger } from '../../../agent/log.ts';
import type { Delivery } from '../../../agent/observe/delivery.ts';
import { RecentIds } from '../../../agent/observe/recent-ids.ts';
import { SampleOutbox } from '../../../agent/observe/sample-outbox.ts';
import { whyNothing } from '../../../agent/observe/samples.ts';
import { TapBuffer } from '../../../agent/observe/tap-buffer.ts';
import { EVENT_LINE_BYTES, readEvent } from '../../../agent/observe/tap-event.ts';
import {
  apiUrl,
  componentKeyError,
  isBeforeWrapping,
  resolveTapTarget,
} from '../../../agent/observe/tap-target.ts';
import { blanker } from '../../../agent/report/redact.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import { type SampleResult, SamplesRequest, TapEventsRequest } from '../../../schemas/agent/protocol.ts';
import { validator } from '../../../schemas/validate.ts';

const plain = blanker([]);
const read = (line: string, blank = plain, wrapped = true) => readEvent(line, false, wrapped, blank);

describe('requests to look at events', () => {
  const request = { requestId: 'r1', pipelineId: 'p1', componentKeys: ['in', 'split.a'], limit: 5 };
  const pushed = (message: unknown) => parsePushMessage(JSON.stringify(message));

  it('are taken as they are, from a push and from a poll', () => {
    expect(pushed({ type: 'sample_request', ...request, sinkKeys: ['in'], extra: 1 })).to.deep.equal({
      type: 'sample_request',
      ...request,
      sinkKeys: ['in'],
    });
    const config = { pipelines: [], pollIntervalMs: 5, sampleRequests: [request, { requestId: 3 }, null] };
    expect(parseConfig(JSON.stringify(config)).sampleRequests).to.deep.equal([request]);
    const start = { type: 'tap_start', requestId: 't', pipelineId: 'p', componentId: 'in', sink: true };
    expect(pushed(start)).to.deep.equal(start);
    expect(pushed({ type: 'tap_stop', requestId: 't' })).to.deep.equal({ type: 'tap_stop', requestId: 't' });
  });

  it('name a component once', () => {
    const twice = { type: 'sample_request', ...request, componentKeys: ['in', 'in'] };
    expect(pushed(twice)).to.deep.include({ componentKeys: ['in'] });
  });

  it('never throw, whatever they hold, and stay within the limits', () => {
    const type = fc.constantFrom('sample_request', 'tap_start', 'tap_stop');
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(1, 50, 'p1', ['in'], true));
    const fields = fc.record(
      {
        type,
        requestId: value,
        pipelineId: value,
        componentKeys: value,
        limit: value,
        sinkKeys: value,
        componentId: value,
        sink: value,
      },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(fields, (message) => {
        const parsed = pushed(message);
        if (parsed?.type === 'sample_request')
          return (
            parsed.limit >= 1 &&
            parsed.limit <= AGENT_LIMITS.samples.events &&
            parsed.componentKeys.length <= AGENT_LIMITS.samples.components
          );
        return parsed === undefined || /^[\w-]{1,64}$/.test('requestId' in parsed ? parsed.requestId : '');
      }),
    );
  });
});

describe('the way to an engine', () => {
  const versions: [banner: string, old: boolean][] = [
    ['vector 0.54.0 (x86_64-unknown-linux-gnu abc)', true],
    ['vector 0.50.1', true],
    ['vector 0.55.0 (x86_64-unknown-linux-musl)', false],
    ['vector 0.100.0', false],
    ['vector 1.0.0', false],
    ['headgate-engine 0.1.0 (x86_64-unknown-linux-gnu)', false],
    ['', false],
  ];
  for (const [banner, old] of versions) {
    it(`is ${old ? 'the GraphQL address' : 'the bare address'} for "${banner}"`, () => {
      expect(isBeforeWrapping(banner)).to.equal(old);
      expect(apiUrl(8689, old)).to.equal(`http://127.0.0.1:8689${old ? '/graphql' : ''}`);
    });
  }

  it('is refused with the reason where nothing runs', () => {
    const parts = { engineBin: '/bin/sh', env: {}, engineVersion: () => '' };
    const pipeline = { pid: 7, apiPort: 8689, current: { secrets: {} } };
    const at = (status?: 'RUNNING' | 'STARTING' | 'CRASHED' | 'STOPPED') =>
      resolveTapTarget('p', { ...parts, find: () => status && { ...pipeline, status } });
    expect(at()).to.equal('the pipeline does not run on this node');
    expect(at('STOPPED')).to.equal('the pipeline does not run on this node');
    expect(at('CRASHED')).to.match(/^the pipeline is CRASHED on this node/);
    expect(at('RUNNING')).to.include({ pid: 7, url: 'http://127.0.0.1:8689', wrapped: true });
    const missing = {
      ...parts,
      engineBin: '/nowhere',
      find: () => ({ ...pipeline, status: 'RUNNING' as const }),
    };
    expect(resolveTapTarget('p', missing)).to.match(/SVC_ENGINE_BIN/);
  });

  it('is closed to patterns, lists and options, and open to ids and named outputs', () => {
    for (const key of ['in', 'split.a', 'split._unmatched', 'a/b', 'a b', 'naïve'])
      expect(componentKeyError(key), key).to.equal(undefined);
    for (const key of ['*', 'a*', 'a?', '[a]', '{a', 'a,b', '-n', '--url=x', 'a\\b', 'a\nb', '!a', 'a\0'])
      expect(componentKeyError(key), key).to.be.a('string');
  });
});

describe('an event that an engine shows', () => {
  it('loses its wrapper, and only that', () => {
    expect(read('{"log":{"a":1}}')?.event).to.deep.equal({ a: 1 });
    expect(read('{"metric":{"name":"m"}}')?.event).to.deep.equal({ name: 'm' });
    expect(read('{"log":{"a":1},"b":2}')?.event).to.deep.equal({ log: { a: 1 }, b: 2 });
    expect(read('{"log":"text"}')?.event).to.deep.equal({ log: 'text' });
    expect(read('{"log":{"a":1}}', plain, false)?.event).to.deep.equal({ log: { a: 1 } });
  });

  it('is none where the line is no JSON', () => {
    for (const line of ['', 'INFO starting', '{', `${'['.repeat(100_000)}`])
      expect(read(line)).to.equal(undefined);
  });

  it('has no secret in values, keys, escapes and numbers', () => {
    const blank = blanker(['hunter"2', '424242', 'abc']);
    const event = read(
      JSON.stringify({ log: { a: 'x hunter"2 y', 'hunter"2': [1, 'hunter"2'], n: 42424200, abc: 'abc' } }),
      blank,
    );
    expect(event?.event).to.deep.equal({
      a: 'x [redacted] y',
      '[redacted]': [1, '[redacted]'],
      n: '[redacted]00',
      abc: 'abc',
    });
  });

  it('has no secret in a number that cannot be kept whole', () => {
    const blank = blanker(['12345678901234567899']);
    expect(read('{"log":{"n":12345678901234567899}}', blank)?.event).to.deep.equal({ n: '[redacted]' });
  });

  it('leaves no secret for any text around it', () => {
    const secret = 's3cr"et\\/Ω';
    const blank = blanker([secret]);
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, after, key) => {
        const line = JSON.stringify({ log: { [`${key}k`]: { deep: [before + secret + after] } } });
        return !JSON.stringify(read(line, blank)?.event).includes(JSON.stringify(secret).slice(1, -1));
      }),
    );
  });

  it('is replaced where it is too large or deep, and keeps no NUL, half character or prototype', () => {
    const large = read(JSON.stringify({ log: { a: 'x'.repeat(AGENT_LIMITS.samples.eventChars) } }));
    expect(large?.whole).to.equal(false);
    expect(large?.event).to.match(/^an event of \d+ characters was left out/);
    expect(readEvent('{"log":', true, true, plain)?.event).to.contain(String(EVENT_LINE_BYTES));
    const deep = `{"log":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`;
    expect(JSON.stringify(read(deep)?.event)).to.contain('"…"');
    expect(read('{"log":{"a":"x\\u0000\\ud800"}}')?.event).to.deep.equal({ a: 'x\uFFFD\uFFFD' });
    const tricky = read('{"log":{"__proto__":{"polluted":true},"b":1}}');
    expect(tricky?.text).to.equal('{"__proto__":{"polluted":true},"b":1}');
    expect(Object.getPrototypeOf(tricky?.event)).to.equal(Object.prototype);
  });
});

describe('what is said where there is no event', () => {
  it('tells time, missing commands and failures apart', () => {
    expect(whyNothing({ code: 0, complaint: '' }, 15_000)).to.equal('no event came by within 15 seconds');
    expect(whyNothing({ code: null, complaint: '' }, 15_000)).to.equal('the engine did not answer in time');
    expect(whyNothing({ code: 2, complaint: "error: unexpected argument '-x'" }, 1)).to.match(
      /does not know/,
    );
    expect(whyNothing({ code: 69, complaint: '' }, 1)).to.equal('tap failed with code 69');
  });
});

describe('request ids', () => {
  it('are known again until many others have come', () => {
    const ids = new RecentIds(3);
    expect(['a', 'b', 'a', 'c', 'd', 'b', 'a'].map((id) => ids.add(id))).to.deep.equal([
      true,
      true,
      false,
      true,
      true,
      false,
      true,
    ]);
  });
});

describe('the buffer of a live tap', () => {
  const event = (text: string) => ({ event: text, text: JSON.stringify(text), whole: true });

  it('takes so many events a second and gives a batch at a time, with what is missing', () => {
    const clock = manualClock();
    const buffer = new TapBuffer(clock);
    for (let n = 0; n < 250; n += 1) if (buffer.admit()) buffer.add(event(`e${n}`));
    const first = buffer.take();
    expect(first.texts).to.have.length(100);
    expect(first.texts[0]).to.equal('"e0"');
    expect(first.dropped).to.equal(50);
    clock.advance(1_000);
    expect(buffer.admit()).to.equal(true);
    buffer.add(event('later'));
    expect(buffer.take()).to.deep.include({ dropped: 0 });
    expect(buffer.take()).to.deep.equal({ texts: ['"later"'], dropped: 0 });
  });

  it('keeps the newest where events are large or nobody takes them', () => {
    const clock = manualClock();
    const buffer = new TapBuffer(clock);
    for (let n = 0; n < 100; n += 1) buffer.add(event(`${n} ${'x'.repeat(60_000)}`));
    expect(buffer.size).to.be.below(10);
    const { texts, dropped } = buffer.take();
    expect(texts.at(-1)).to.match(/^"99 /);
    expect(dropped).to.equal(100 - texts.length);
  });
});

describe('results of samples on their way', () => {
  const fits = validator(SamplesRequest);
  const result = (componentKey: string, fields: Partial<SampleResult> = {}): SampleResult => ({
    requestId: 'r1',
    componentKey,
    events: [{ a: 1 }],
    schema: [],
    error: null,
    ...fields,
  });
  let clock: ReturnType<typeof manualClock>;
  let sent: SamplesRequest[];
  let answer: Delivery;
  let outbox: SampleOutbox;
  const settle = () => new Promise<void>((done) => setImmediate(done));
  const advance = async (ms: number) => {
    for (let left = ms; left > 0; left -= 25) {
      clock.advance(25);
      await settle();
    }
  };
  const keys = () => sent.map(({ results }) => results.map(({ componentKey }) => componentKey).join(' '));

  beforeEach(() => {
    clock = manualClock();
    sent = [];
    answer = { accepted: true };
    outbox = new SampleOutbox({
      clock,
      log: createLogger('error', () => {}),
      async deliver(_, body) {
        sent.push(JSON.parse(body) as SamplesRequest);
        return answer;
      },
    });
  });

  it('go out at once, and those of the next second together', async () => {
    outbox.add(result('a'), 120_000);
    await advance(25);
    expect(keys()).to.deep.equal(['a']);
    outbox.add(result('b'), 120_000);
    await advance(500);
    outbox.add(result('c'), 120_000);
    await advance(500);
    expect(keys()).to.deep.equal(['a', 'b c']);
    for (const body of sent) expect(fits.fits(body)).to.equal(true);
  });

  it('are kept while the controller is away, until their request is over', async () => {
    answer = { accepted: false, reason: 'connection refused', status: undefined, retryAfterMs: undefined };
    outbox.add(result('a'), 60_000);
    outbox.add(result('b'), 120_000);
    await advance(61_000);
    expect(sent.length).to.be.within(5, 25);
    answer = { accepted: true };
    await advance(20_000);
    expect(keys().at(-1)).to.equal('b');
    const tries = sent.length;
    await advance(60_000);
    expect(sent).to.have.length(tries);
  });

  it('wait as long as the controller asks', async () => {
    answer = { accepted: false, reason: 'status 429', status: 429, retryAfterMs: 30_000 };
    outbox.add(result('a'), 120_000);
    await advance(29_000);
    expect(sent).to.have.length(1);
    await advance(2_000);
    expect(sent).to.have.length(2);
  });

  it('go one by one after a refusal, so that the bad one goes alone', async () => {
    answer = { accepted: false, reason: 'status 400', status: 400, retryAfterMs: undefined };
    for (const key of ['a', 'b', 'c']) outbox.add(result(key), 120_000);
    await advance(1_050);
    expect(keys()).to.deep.equal(['a b c', 'a']);
    answer = { accepted: true };
    await advance(3_000);
    expect(keys()).to.deep.equal(['a b c', 'a', 'b', 'c']);
  });

  it('take bounded memory and bounded requests: what has no room says so', async () => {
    answer = { accepted: false, reason: 'connection refused', status: undefined, retryAfterMs: undefined };
    const events = ['x'.repeat(1_000_000)];
    for (let n = 0; n < 12; n += 1) outbox.add(result(`k${n}`, { events }), 120_000);
    answer = { accepted: true };
    await advance(10_000);
    const results = sent.flatMap((request) => request.results);
    expect(results).to.have.length(12);
    expect(results.filter(({ error }) => error !== null)).to.have.length(4);
    for (const body of sent) expect(JSON.stringify(body).length).to.be.below(4.1 * 1024 * 1024);
  });
});

describe('the form of what a live tap sends', () => {
  it('is that of the protocol', () => {
    const fits = validator(TapEventsRequest);
    const head = { requestId: 't', pipelineId: 'p', componentId: 'in' };
    expect(fits.fits({ ...head, events: [{ a: 1 }], dropped: 3 })).to.equal(true);
    expect(fits.fits({ ...head, status: 'stopped', reason: 'the engine of the pipeline crashed' })).to.equal(
      true,
    );
  });
});
