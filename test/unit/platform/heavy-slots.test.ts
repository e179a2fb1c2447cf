/** Who may do heavy work when others do, and who is told to come again. */
import { expect } from 'chai';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { createHeavySlots } from '../../../controller/platform/operation/heavy-slots.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';

const LIMITS = { perKey: 2, total: 3, waitingPerKey: 2, waiting: 3, waitMs: 1_000, longMs: 5_000 };

/** Work of several users, each ended by name. */
function scene() {
  const clock = manualClock();
  const slots = createHeavySlots(LIMITS);
  const ends = new Map<string, () => void>();
  const started: string[] = [];
  const outcomes: Record<string, string> = {};
  return {
    clock,
    started,
    outcomes,
    async ask(user: string, name: string, signal = new AbortController().signal): Promise<void> {
      slots
        .run(user, { clock, signal }, () => {
          started.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        })
        .then(
          () => (outcomes[name] = 'done'),
          (error: { code?: string; message: string }) => (outcomes[name] = error.code ?? error.message),
        );
      await settled();
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.();
      await settled();
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('slots for heavy work', () => {
  it('let one user do as much at a time as one may, and others beside', async () => {
    const { ask, end, started } = scene();
    for (const name of ['a1', 'a2', 'a3']) await ask('a', name);
    await ask('b', 'b1');
    expect(started).to.deep.equal(['a1', 'a2', 'b1']);
    await end('a1');
    expect(started).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
  });

  it('go to the first that may have one, not to one who has enough', async () => {
    const { ask, end, started } = scene();
    for (const name of ['a1', 'a2', 'a3']) await ask('a', name);
    for (const name of ['b1', 'b2']) await ask('b', name);
    await end('b1');
    expect(started).to.deep.equal(['a1', 'a2', 'b1', 'b2']);
  });

  it('refuse at once whoever has too much waiting, and nobody else', async () => {
    const { ask, outcomes } = scene();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await ask('a', name);
    await ask('b', 'b1');
    expect(outcomes).to.deep.equal({ a5: 'TOO_MANY_REQUESTS' });
  });

  it('refuse at once where too many wait altogether', async () => {
    const { ask, outcomes } = scene();
    for (const name of ['a1', 'a2', 'a3', 'a4']) await ask('a', name);
    for (const name of ['b1', 'b2']) await ask('b', name);
    await ask('c', 'c1');
    expect(outcomes).to.deep.equal({ c1: 'TOO_MANY_REQUESTS' });
  });

  it('refuse what has waited for long enough, and give its turn to nobody twice', async () => {
    const { ask, end, clock, started, outcomes } = scene();
    for (const name of ['a1', 'a2', 'a3']) await ask('a', name);
    clock.advance(LIMITS.waitMs);
    await settled();
    expect(outcomes).to.deep.equal({ a3: 'TOO_MANY_REQUESTS' });
    await end('a1');
    await ask('a', 'a4');
    await ask('a', 'a5');
    expect(started).to.deep.equal(['a1', 'a2', 'a4']);
  });

  it('that wait for others for long stand in the way of their own user alone', async () => {
    const { ask, end, clock, started } = scene();
    for (const name of ['a1', 'a2']) await ask('a', name);
    await ask('b', 'b1');
    clock.advance(LIMITS.longMs);
    for (const name of ['c1', 'c2']) await ask('c', name);
    await ask('a', 'a3');
    await ask('d', 'd1');
    expect(started).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'c2', 'd1']);
    await end('a1');
    await end('d1');
    expect(started.at(-1), 'one of its own has ended').to.equal('a3');
    for (const name of ['a2', 'a3', 'b1', 'c1', 'c2']) await end(name);
    for (const name of ['e1', 'e2', 'e3']) await ask('e', name);
    await ask('f', 'f1');
    await ask('g', 'g1');
    expect(started.slice(-3), 'as many as before').to.deep.equal(['e1', 'e2', 'f1']);
  });

  it('forget whoever went away while waiting', async () => {
    const { ask, end, started, outcomes } = scene();
    const gone = new AbortController();
    for (const name of ['a1', 'a2']) await ask('a', name);
    await ask('a', 'a3', gone.signal);
    gone.abort(new Error('the client went away'));
    await settled();
    expect(outcomes).to.deep.equal({ a3: 'the client went away' });
    await end('a1');
    await end('a2');
    expect(started).to.deep.equal(['a1', 'a2']);
  });

  it('refuse in words of their own, which know whether it was one who asked for too much or all together', async () => {
    const clock = manualClock();
    const said: boolean[] = [];
    const slots = createHeavySlots({ ...LIMITS, waitingPerKey: 0 }, (isOwn) => {
      said.push(isOwn);
      return new DomainError('UNAVAILABLE', 'busy');
    });
    const { signal } = new AbortController();
    const never = () => new Promise<void>(() => {});
    for (const user of ['a', 'a', 'b']) void slots.run(user, { clock, signal }, never);
    for (const user of ['a', 'b']) {
      const refused = await slots.run(user, { clock, signal }, never).catch((error: unknown) => error);
      expect(refused).to.include({ code: 'UNAVAILABLE', message: 'busy' });
    }
    expect(said).to.deep.equal([true, false]);
  });
});
