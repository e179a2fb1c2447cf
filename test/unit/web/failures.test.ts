/** What pages say when a call has failed. */
import { expect } from 'chai';
import { describeFailure, mayRetry, retryDelayMs, TRPCClientError } from '../../../web/src/api/client.ts';
import { formatRelative } from '../../../web/src/ui/text/format.ts';

const thrown = (code: string, message: string, details: object = {}) =>
  TRPCClientError.from({
    error: { code: -32_600, message, data: { code, requestId: 'abc', ...details } },
  } as never);
const failure = (code: string, message: string) => describeFailure(thrown(code, message));

describe('what a page says of a failure', () => {
  for (const [code, message] of [
    ['BAD_REQUEST', 'The code is wrong, or was used already. Take the next one'],
    ['NOT_FOUND', 'No account has the address ada@example.org: a super admin can create it'],
    ['CONFLICT', 'It is the last one; make another first'],
    ['TOO_MANY_REQUESTS', 'Too many searches and plans run at the moment. Try again in 3 s'],
    ['SERVICE_UNAVAILABLE', 'The database took too long for this and it was stopped. Narrow the search'],
  ] as const) {
    it(`adds nothing to “${message}”`, () => {
      expect(failure(code, message)).to.deep.equal({ code, message, advice: '', requestId: 'abc' });
    });
  }

  it('says what to do where the message says only what is wrong', () => {
    expect(failure('BAD_REQUEST', 'name is required').advice).to.match(/^Correct the input/);
    expect(failure('CONFLICT', 'A team named "Demo" exists already').advice).to.equal('Choose another name.');
    expect(failure('INTERNAL_SERVER_ERROR', 'It failed: for a reason. Really').advice).to.match(/request id/);
  });
});

describe('a read that has failed', () => {
  it('is repeated where the server was busy, when it says, and not without end', () => {
    const busy = thrown('TOO_MANY_REQUESTS', 'Too many', { retryAfterSeconds: 3 });
    expect([0, 1, 2].map((count) => mayRetry(count, busy))).to.deep.equal([true, true, false]);
    expect(retryDelayMs(0, busy)).to.equal(3_000);
    expect([0, 1].map((count) => retryDelayMs(count, new Error('away')))).to.deep.equal([1_000, 2_000]);
  });

  it('is not repeated where it took too long for the database, or is refused', () => {
    expect(mayRetry(0, thrown('SERVICE_UNAVAILABLE', 'It took too long', { tookTooLong: true }))).to.equal(
      false,
    );
    expect(mayRetry(0, thrown('SERVICE_UNAVAILABLE', 'The database does not answer'))).to.equal(true);
    expect(mayRetry(0, thrown('FORBIDDEN', 'No'))).to.equal(false);
  });
});

describe('a moment in words', () => {
  const now = Date.UTC(2026, 0, 10);
  const at = (hours: number) => formatRelative(new Date(now + hours * 3_600_000), now);

  it('is what was just promised: three days are not two and a bit', () => {
    expect([at(71.99), at(167.9), at(25), at(1.4)]).to.deep.equal(['in 3 d', 'in 7 d', 'in 1 d', 'in 1 h']);
  });

  it('never makes what was older than it is', () => {
    expect([at(-71.99), at(-1.9)]).to.deep.equal(['2 d ago', '1 h ago']);
  });
});
