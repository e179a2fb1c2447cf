/** Who waits for whom when several bindings want something of one server. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createSharedRuns } from '../../../controller/delivery/repository/process/shared-runs.ts';
import { createSlots } from '../../../controller/delivery/repository/process/slots.ts';

const never = new AbortController().signal;

describe('a bound on what runs at a time', () => {
  it('holds, and lets the next begin when one ends', async () => {
    const slots = createSlots(2, 60_000);
    const began: number[] = [];
    const ends: (() => void)[] = [];
    const work = (number: number) =>
      slots.use(() => {
        began.push(number);
        return new Promise<void>((resolve) => ends.push(resolve));
      }, never);
    const all = [1, 2, 3].map(work);
    await turn();
    expect(began).to.deep.equal([1, 2]);
    ends[0]?.();
    await all[0];
    await turn();
    expect(began).to.deep.equal([1, 2, 3]);
    for (const end of ends) end();
    await Promise.all(all);
  });

  it('counts slow work no longer, so that nobody waits for it', async () => {
    const slots = createSlots(1, 20);
    let end = () => {};
    const slow = slots.use(() => new Promise<void>((resolve) => (end = resolve)), never);
    expect(await slots.use(async () => 'went on', never)).to.equal('went on');
    end();
    await slow;
    expect(await slots.use(async () => 'and again', never)).to.equal('and again');
  });

  it('is left by whoever gives up waiting', async () => {
    const slots = createSlots(1, 60_000);
    let end = () => {};
    const first = slots.use(() => new Promise<void>((resolve) => (end = resolve)), never);
    const gone = new AbortController();
    const waiting = slots.use(async () => 'never', gone.signal).catch((error: Error) => error.message);
    gone.abort(new Error('gone'));
    expect(await waiting).to.equal('gone');
    end();
    await first;
    expect(await slots.use(async () => 'free', never)).to.equal('free');
  });
});

describe('a run that is shared', () => {
  it('is one for all who ask while it goes on, and another for who asks later', async () => {
    const shared = createSharedRuns<number>();
    let runs = 0;
    const run = async () => {
      runs += 1;
      await turn();
      return runs;
    };
    expect(await Promise.all([shared.join('a', run, never), shared.join('a', run, never)])).to.deep.equal([
      1, 1,
    ]);
    expect(await shared.join('a', run, never)).to.equal(2);
  });

  it('goes on while somebody waits, and is ended when the last one leaves', async () => {
    const shared = createSharedRuns<string>();
    let ended: unknown = null;
    const run = (signal: AbortSignal) =>
      new Promise<string>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          ended = signal.reason;
          reject(signal.reason);
        }),
      );
    const one = new AbortController();
    const two = new AbortController();
    const first = shared.join('a', run, one.signal).catch((error: Error) => error.message);
    const second = shared.join('a', run, two.signal).catch((error: Error) => error.message);
    one.abort(new Error('one left'));
    expect(await first).to.equal('one left');
    expect(ended).to.equal(null);
    two.abort(new Error('two left'));
    expect(await second).to.equal('two left');
    expect(ended).to.equal(two.signal.reason);
  });
});
