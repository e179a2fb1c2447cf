/** What streams send, and how long they wait after a failure. */
import { expect } from 'chai';
import { logsUrl, readPartialSuccess } from '../../../controller/insight/streams/otlp-request.ts';
import { signatureHeaders } from '../../../controller/insight/streams/webhook-request.ts';
import { pauseAfter } from '../../../reconcilers/streams/index.ts';

describe('a request of a stream', () => {
  it('is signed as the example of Standard Webhooks is', () => {
    // https://github.com/standard-webhooks/standard-webhooks, "Signature scheme".
    const headers = signatureHeaders('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', {
      ...{ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_000, body: '{"test": 2432232314}' },
    });
    expect(headers).to.deep.equal({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('goes to /v1/logs of a base address, and to a path that is given', () => {
    for (const [url, wanted] of [
      ['https://collector:4318', 'https://collector:4318/v1/logs'],
      ['https://collector:4318/?x=1', 'https://collector:4318/v1/logs?x=1'],
      ['https://example.org/otlp/v1/logs', 'https://example.org/otlp/v1/logs'],
    ] as const)
      expect(logsUrl(url)).to.equal(wanted);
  });

  it('is taken in part where the answer says so, whatever else an answer may be', () => {
    const partial = { rejectedLogRecords: '3', errorMessage: 'why' };
    expect(readPartialSuccess(JSON.stringify({ partialSuccess: partial }))).to.deep.equal({
      ...{ rejected: 3, message: 'why' },
    });
    for (const answer of [
      '',
      '{}',
      'null',
      '[]',
      '{"partialSuccess":{}}',
      '{"partialSuccess":{"rejectedLogRecords":"-1"}}',
      'ok',
    ])
      expect(readPartialSuccess(answer), answer).to.equal(null);
  });
});

describe('the pause of a stream', () => {
  const failed = (failures: number, more = {}) =>
    pauseAfter({ state: 'failed', failures, isTemporary: true, retryAfterMs: null, error: '', ...more }) ?? 0;

  it('grows after each failure, up to five minutes', () => {
    expect(failed(1)).to.be.within(1_000, 2_000);
    expect(failed(4)).to.be.within(8_000, 16_000);
    expect(failed(1_000)).to.be.within(150_000, 300_000);
  });

  it('is ten minutes after a refusal, and as long as the endpoint asks, up to an hour', () => {
    expect(failed(1, { isTemporary: false })).to.equal(600_000);
    expect(failed(1, { retryAfterMs: 30_000 })).to.equal(30_000);
    expect(failed(1, { retryAfterMs: 86_400_000 })).to.equal(3_600_000);
  });

  it('is a second where nothing waits, none where more does, and has no end for one that is off', () => {
    expect(pauseAfter({ state: 'idle' })).to.equal(1_000);
    expect(pauseAfter({ state: 'delivered', entries: 1 })).to.equal(0);
    expect(pauseAfter({ state: 'off' })).to.equal(null);
  });
});
