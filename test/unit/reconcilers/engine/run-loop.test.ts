import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { type ManualClock, manualClock } from '../../../../reconcilers/loops/clock.ts';
import {
  createRunLoop,
  LoopStoppedError,
  type Pass,
  type RunLoop,
  type RunLoopOptions,
} from '../../../../reconcilers/loops/run-loop.ts';

interface StartedPass {
  key: string;
  pass: Pass;
  /** Counts triggers and passes together: what has a higher number came later. */
  at: number;
  finish(): void;
  fail(error?: Error): void;
}

/** A loop whose passes end when the test says so. */
class Scene {
  readonly clock: ManualClock = manualClock();
  readonly started: StartedPass[] = [];
  readonly running = new Map<string, StartedPass>();
  readonly failures: { key: string; message: string; retryInMs: number }[] = [];
  readonly overlaps: string[] = [];
  mostAtOnce = 0;
  tick = 0;
  readonly loop: RunLoop<number>;

  constructor(options: Partial<RunLoopOptions<number>> = {}) {
    this.loop = createRunLoop<number>({
      name: 'test loop',
      clock: this.clock,
      random: () => 1,
      reconcile: (key, pass) => this.#reconcile(key, pass),
      onFailure: (key, error, retryInMs) =>
        this.failures.push({ key, message: (error as Error).message, retryInMs }),
      ...options,
    });
  }

  #reconcile(key: string, pass: Pass): Promise<number> {
    if (this.running.has(key)) this.overlaps.push(key);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const at = ++this.tick;
    const ended = () => this.running.delete(key);
    const one: StartedPass = {
      key,
      pass,
      at,
      finish() {
        ended();
        resolve(at);
      },
      fail(error = new Error('broken')) {
        ended();
        reject(error);
      },
    };
    this.started.push(one);
    this.running.set(key, one);
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running.size);
    return promise;
  }

  passesOf(key: string): StartedPass[] {
    return this.started.filter((one) => one.key === key);
  }

  /** The running pass of a key, once everything that can start has started. */
  async current(key: string): Promise<StartedPass> {
    await turn();
    const one = this.running.get(key);
    if (!one) throw new Error(`no pass of ${key} is running`);
    return one;
  }
}

const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => {
      throw new Error('it was fulfilled');
    },
    (error: Error) => error,
  );

describe('the run loop', () => {
  it('runs one pass of a key at a time and folds what comes in meanwhile into a single next one', async () => {
    const scene = new Scene();
    scene.loop.wake('a', 'start');
    const first = await scene.current('a');
    const looks = ['push', 'timer', 'push', 'file event'].map((trigger) =>
      scene.loop.reconcile('a', trigger),
    );
    await turn();
    expect(scene.passesOf('a')).to.have.length(1);
    first.finish();
    const second = await scene.current('a');
    expect(second.pass.triggers).to.deep.equal(['push', 'timer', 'file event']);
    second.finish();
    expect(await Promise.all(looks)).to.deep.equal([second.at, second.at, second.at, second.at]);
    await turn();
    expect(scene.passesOf('a')).to.have.length(2);
    await scene.loop.stop();
  });

  it('folds triggers that come before the pass has started into that pass', async () => {
    const scene = new Scene();
    const looks = [scene.loop.reconcile('a', 'one'), scene.loop.reconcile('a', 'two')];
    const only = await scene.current('a');
    expect(only.pass.triggers).to.deep.equal(['one', 'two']);
    only.finish();
    expect(await Promise.all(looks)).to.deep.equal([only.at, only.at]);
    await scene.loop.stop();
  });

  it('remembers at most 20 triggers of a pass', async () => {
    const scene = new Scene();
    for (let n = 0; n < 50; n += 1) scene.loop.wake('a', `trigger ${n}`);
    expect((await scene.current('a')).pass.triggers).to.have.length(20);
    scene.running.get('a')?.finish();
    await scene.loop.stop();
  });

  it('lets no more keys run at once than its concurrency, and none of them wait for another beyond that', async () => {
    const scene = new Scene({ concurrency: 2 });
    for (const key of ['a', 'b', 'c', 'd']) scene.loop.wake(key, 'start');
    await turn();
    expect([...scene.running.keys()]).to.deep.equal(['a', 'b']);
    scene.running.get('b')?.finish();
    await turn();
    expect([...scene.running.keys()]).to.deep.equal(['a', 'c']);
    scene.running.get('c')?.fail();
    await turn();
    expect([...scene.running.keys()]).to.deep.equal(['a', 'd']);
    for (const one of scene.running.values()) one.finish();
    await scene.loop.stop();
  });

  it('lets others run while a pass waits aside, which takes its place again before it goes on', async () => {
    const waits = Promise.withResolvers<void>();
    const ends = new Map<string, () => void>();
    const order: string[] = [];
    const loop = createRunLoop<void>({
      name: 'test loop',
      clock: manualClock(),
      concurrency: 1,
      async reconcile(key, pass) {
        order.push(`${key} begins`);
        if (key === 'slow') await pass.aside(() => waits.promise);
        order.push(`${key} goes on`);
        await new Promise<void>((resolve) => ends.set(key, resolve));
        order.push(`${key} ends`);
      },
    });
    for (const key of ['slow', 'quick', 'third']) loop.wake(key, 'start');
    await turn();
    waits.resolve();
    await turn();
    expect(order).to.deep.equal(['slow begins', 'quick begins', 'quick goes on']);
    let idle = false;
    void loop.idle().then(() => (idle = true));
    ends.get('quick')?.();
    await turn();
    // Who has waited comes before who has not begun.
    expect(order.slice(3)).to.deep.equal(['quick ends', 'slow goes on']);
    ends.get('slow')?.();
    await turn();
    expect(order.slice(5)).to.deep.equal(['slow ends', 'third begins', 'third goes on']);
    expect(idle).to.equal(false);
    ends.get('third')?.();
    await loop.idle();
    await loop.stop();
  });

  it('stops only when a pass that waits aside has ended, and fails it where its wait fails', async () => {
    const failures: string[] = [];
    const loop = createRunLoop<void>({
      name: 'test loop',
      clock: manualClock(),
      reconcile: (_key, pass) =>
        pass.aside(
          () =>
            new Promise<void>((_resolve, reject) =>
              pass.signal.addEventListener('abort', () => {
                failures.push('aborted');
                reject(pass.signal.reason);
              }),
            ),
        ),
    });
    const looked = loop.reconcile('a', 'start').catch((error: Error) => error.message);
    await turn();
    await loop.stop();
    expect(failures).to.deep.equal(['aborted']);
    expect(await looked).to.equal('test loop is stopping');
  });

  it('tries a failed pass again after delays that double up to the cap, and starts over after a success', async () => {
    const scene = new Scene({ backoffMs: { first: 1_000, cap: 4_000 } });
    scene.loop.wake('a', 'start');
    for (const delay of [1_000, 2_000, 4_000, 4_000]) {
      (await scene.current('a')).fail();
      await turn();
      expect(scene.failures.at(-1)).to.include({ key: 'a', message: 'broken', retryInMs: delay });
      scene.clock.advance(delay - 1);
      await turn();
      expect(scene.running.has('a'), `${delay - 1} ms later`).to.equal(false);
      scene.clock.advance(1);
    }
    (await scene.current('a')).finish();
    await turn();
    scene.loop.wake('a', 'push');
    (await scene.current('a')).fail();
    await turn();
    expect(scene.failures.at(-1)?.retryInMs).to.equal(1_000);
    await scene.loop.stop();
  });

  it('waits between half of the delay and the whole, by chance', async () => {
    for (const [chance, delay] of [
      [0, 500],
      [0.5, 750],
      [1, 1_000],
    ] as const) {
      const scene = new Scene({ random: () => chance, backoffMs: { first: 1_000, cap: 8_000 } });
      scene.loop.wake('a', 'start');
      (await scene.current('a')).fail();
      await turn();
      expect(scene.failures[0]?.retryInMs).to.equal(delay);
      await scene.loop.stop();
    }
  });

  it('looks at once when it is woken during a back-off, and the back-off is void then', async () => {
    const scene = new Scene();
    scene.loop.wake('a', 'start');
    (await scene.current('a')).fail();
    await turn();
    scene.loop.wake('a', 'push');
    const second = await scene.current('a');
    expect(second.pass.triggers).to.deep.equal(['push']);
    second.finish();
    scene.clock.advance(3_600_000);
    await turn();
    expect(scene.passesOf('a')).to.have.length(2);
    await scene.loop.stop();
  });

  it('looks again after the resync time, and never by itself where that is null', async () => {
    const scene = new Scene({ resync: (key) => (key === 'timed' ? 60_000 : null) });
    for (const key of ['timed', 'quiet']) {
      scene.loop.wake(key, 'start');
      (await scene.current(key)).finish();
    }
    await turn();
    scene.clock.advance(59_999);
    await turn();
    expect(scene.started).to.have.length(2);
    scene.clock.advance(1);
    const again = await scene.current('timed');
    expect(again.pass.triggers).to.deep.equal(['timer']);
    again.finish();
    await turn();
    scene.clock.advance(50_000);
    await turn();
    expect(scene.passesOf('quiet')).to.have.length(1);
    await scene.loop.stop();
  });

  it('aborts a pass that exceeds its deadline; it counts as failed and is tried again', async () => {
    const scene = new Scene({
      deadlineMs: 5_000,
      reconcile: (_key, { signal }) =>
        new Promise<number>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        }),
    });
    const look = scene.loop.reconcile('a', 'start');
    await turn();
    scene.clock.advance(4_999);
    await turn();
    expect(scene.failures).to.deep.equal([]);
    scene.clock.advance(1);
    expect((await rejection(look)).message).to.equal('test loop a took longer than 5000 ms');
    expect(scene.failures).to.have.length(1);
    await scene.loop.stop();
  });

  it('does not abort a pass by the deadline of the one before', async () => {
    const scene = new Scene({ deadlineMs: 5_000 });
    scene.loop.wake('a', 'start');
    (await scene.current('a')).finish();
    await turn();
    scene.clock.advance(4_000);
    scene.loop.wake('a', 'push');
    const second = await scene.current('a');
    scene.clock.advance(4_000);
    expect(second.pass.signal.aborted).to.equal(false);
    second.finish();
    await scene.loop.stop();
  });

  it('survives a pass that throws before it returns a promise', async () => {
    let calls = 0;
    const scene = new Scene({
      reconcile: () => {
        calls += 1;
        if (calls === 1) throw new Error('at once');
        return Promise.resolve(calls);
      },
    });
    expect((await rejection(scene.loop.reconcile('a', 'start'))).message).to.equal('at once');
    expect(await scene.loop.reconcile('a', 'push')).to.equal(2);
    await scene.loop.stop();
  });

  it('stops only when the running pass has ended, after telling it by its signal, and takes no more', async () => {
    const scene = new Scene();
    scene.loop.wake('a', 'start');
    const running = await scene.current('a');
    const waiting = scene.loop.reconcile('a', 'push');
    let stopped = false;
    const stop = scene.loop.stop().then(() => (stopped = true));
    expect(running.pass.signal.aborted).to.equal(true);
    expect(await rejection(waiting)).to.be.instanceOf(LoopStoppedError);
    await turn();
    expect(stopped).to.equal(false);
    running.finish();
    await stop;
    expect(await rejection(scene.loop.reconcile('a', 'late'))).to.be.instanceOf(LoopStoppedError);
    scene.loop.wake('b', 'late');
    scene.clock.advance(3_600_000);
    await turn();
    expect(scene.started).to.have.length(1);
  });

  it('says nothing of a failure that its own stop caused', async () => {
    const scene = new Scene();
    scene.loop.wake('a', 'start');
    const running = await scene.current('a');
    const stop = scene.loop.stop();
    running.fail();
    await stop;
    expect(scene.failures).to.deep.equal([]);
  });

  it('forgets a key: its timer is void, what waits is refused, what runs is aborted', async () => {
    const scene = new Scene({ resync: () => 1_000 });
    scene.loop.wake('timed', 'start');
    (await scene.current('timed')).finish();
    scene.loop.wake('busy', 'start');
    const running = await scene.current('busy');
    const waiting = scene.loop.reconcile('busy', 'push');
    scene.loop.forget('timed');
    scene.loop.forget('busy');
    scene.loop.forget('never seen');
    expect(scene.loop.keys()).to.deep.equal([]);
    expect(running.pass.signal.aborted).to.equal(true);
    expect(await rejection(waiting)).to.be.instanceOf(LoopStoppedError);
    running.finish();
    await turn();
    scene.clock.advance(3_600_000);
    await turn();
    expect(scene.started).to.have.length(2);
    await scene.loop.stop();
  });

  it('keeps nothing of a key that nothing is planned for, and everything of one that has failed', async () => {
    const scene = new Scene({ resync: () => null });
    for (let n = 0; n < 100; n += 1) {
      scene.loop.wake(`rollout-${n}`, 'start');
      (await scene.current(`rollout-${n}`)).finish();
    }
    scene.loop.wake('failing', 'start');
    (await scene.current('failing')).fail();
    await scene.loop.idle();
    await turn();
    expect(scene.loop.keys()).to.deep.equal(['failing']);
    scene.loop.wake('rollout-7', 'again');
    expect((await scene.current('rollout-7')).pass.triggers).to.deep.equal(['again']);
    expect(scene.loop.keys()).to.deep.equal(['failing', 'rollout-7']);
    await scene.running.get('rollout-7')?.finish();
    await scene.loop.stop();
  });

  it('waits for the aborted pass of a forgotten key before it looks at that key again', async () => {
    const scene = new Scene();
    scene.loop.wake('a', 'start');
    const first = await scene.current('a');
    scene.loop.forget('a');
    const look = scene.loop.reconcile('a', 'push');
    await turn();
    expect(scene.started).to.have.length(1);
    expect(scene.loop.keys()).to.deep.equal(['a']);
    first.fail();
    (await scene.current('a')).finish();
    expect(await look).to.be.greaterThan(first.at);
    await scene.loop.stop();
  });

  it('is idle when nothing runs and nothing is due', async () => {
    const scene = new Scene({ resync: () => 1_000 });
    await scene.loop.idle();
    scene.loop.wake('a', 'start');
    let idle = false;
    const wait = scene.loop.idle().then(() => (idle = true));
    const first = await scene.current('a');
    scene.loop.wake('a', 'push');
    first.finish();
    const second = await scene.current('a');
    expect(idle).to.equal(false);
    second.finish();
    await wait;
    await scene.loop.stop();
  });

  it('runs a pass after the last trigger and never two of one key at once, however things interleave', async () => {
    const key = fc.constantFrom('a', 'a', 'b', 'c');
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('look' as const), key }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('wake' as const), key }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), key }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), key }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(3_000) }) },
      { weight: 5, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('forget' as const), key }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const scene = new Scene({ concurrency: 2, resync: () => 2_000 });
        const lastTrigger = new Map<string, number>();
        let looks: { key: string; at: number; settled: Promise<number> }[] = [];
        for (const one of steps) {
          switch (one.do) {
            case 'look': {
              const at = ++scene.tick;
              lastTrigger.set(one.key, at);
              const look = scene.loop.reconcile(one.key, 'push');
              const failedAt = () => scene.passesOf(one.key).find((pass) => pass.at > at)?.at ?? -1;
              looks.push({ key: one.key, at, settled: look.catch(failedAt) });
              break;
            }
            case 'wake':
              lastTrigger.set(one.key, ++scene.tick);
              scene.loop.wake(one.key, 'push');
              break;
            case 'finish':
              scene.running.get(one.key)?.finish();
              break;
            case 'fail':
              scene.running.get(one.key)?.fail();
              break;
            case 'advance':
              scene.clock.advance(one.ms);
              break;
            case 'forget':
              scene.loop.forget(one.key);
              lastTrigger.delete(one.key);
              looks = looks.filter((look) => look.key !== one.key);
              break;
            case 'turn':
              await turn();
          }
        }
        await turn();
        while (scene.running.size > 0) {
          for (const pass of [...scene.running.values()]) pass.finish();
          await turn();
        }
        expect(scene.overlaps).to.deep.equal([]);
        expect(scene.mostAtOnce).to.be.at.most(2);
        for (const [name, at] of lastTrigger) {
          expect(scene.passesOf(name).at(-1)?.at, `the last pass of ${name}`).to.be.greaterThan(at);
        }
        for (const { at, settled } of looks) expect(await settled).to.be.greaterThan(at);
        await scene.loop.stop();
      }),
      { numRuns: 300 },
    );
  });
});
