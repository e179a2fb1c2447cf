import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type ManualClock, manualClock } from '../../../../reconcilers/loops/clock.ts';
import { createCoalescer } from '../../../../reconcilers/loops/coalesce.ts';
import {
  createLeaderLoop,
  type LeaderLoop,
  type LeaderLoopOptions,
  type LeaderPass,
  type LoopSignals,
} from '../../../../reconcilers/loops/leader-loop.ts';

type Tx = string;
type Listener = (signal: { loop: string; key: string; trigger: string; environmentId: string }) => void;

/** A lease and a bus in memory, and a loop over them that notes what it does. */
class Scene {
  readonly clock: ManualClock = manualClock();
  epoch: number | null = 1;
  keys: string[] = ['a', 'b'];
  readonly passes: { key: string; triggers: readonly string[] }[] = [];
  readonly standBys: string[] = [];
  readonly forgotten: string[] = [];
  readonly warnings: { fields: object; message: string }[] = [];
  readonly fenced: [Tx, number][] = [];
  readonly listeners = new Map<string, Set<Listener>>();
  readonly loop: LeaderLoop<string>;
  work: (key: string, pass: LeaderPass<Tx>) => Promise<string> = async () => 'done';
  #leadership: (leading: boolean) => void = () => {};

  constructor(options: Partial<LeaderLoopOptions<string, Tx>> = {}) {
    this.loop = createLeaderLoop<string, Tx>({
      name: 'test loop',
      clock: this.clock,
      random: () => 1,
      lease: {
        epoch: () => this.epoch,
        fence: async (tx, epoch) => void this.fenced.push([tx, epoch]),
        onChange: (listener) => {
          this.#leadership = listener;
        },
      },
      signals: this.#signals(),
      log: { warn: (fields, message) => void this.warnings.push({ fields, message }) },
      signalName: 'test',
      failure: { key: 'thing', message: 'test pass failed' },
      listKeys: async () => this.keys,
      reconcile: (key, pass) => {
        this.passes.push({ key, triggers: pass.triggers });
        return this.work(key, pass);
      },
      standBy: (key) => {
        this.standBys.push(key);
        return 'stood by';
      },
      forgetEnvironment: (environmentId) => void this.forgotten.push(environmentId),
      ...options,
    });
  }

  #signals(): LoopSignals {
    const on = (type: string) => (listener: Listener) => {
      const all = this.listeners.get(type) ?? new Set<Listener>();
      this.listeners.set(type, all.add(listener));
      return () => void all.delete(listener);
    };
    return { onWake: on('wake'), onEnvironment: on('environment'), onResync: on('resync') as never };
  }

  emit(type: string, signal: Partial<Parameters<Listener>[0]> = {}): void {
    for (const listener of this.listeners.get(type) ?? [])
      listener({ loop: '', key: '', trigger: '', environmentId: '', ...signal });
  }

  lead(epoch: number | null): void {
    this.epoch = epoch;
    this.#leadership(epoch !== null);
  }

  /** The keys that had a pass, in order, once everything that is due now is done. */
  async made(): Promise<string[]> {
    for (let n = 0; n < 3; n += 1) await turn();
    await this.loop.idle();
    return this.passes.splice(0).map(({ key, triggers }) => `${key}: ${triggers.join(', ')}`);
  }
}

describe('the leader loop', () => {
  it('makes a pass over every key when it starts, begins to lead, or may have missed signals', async () => {
    const scene = new Scene();
    await scene.loop.start();
    expect(await scene.made()).to.deep.equal(['a: start', 'b: start']);
    scene.keys = ['b', 'c'];
    scene.lead(2);
    expect(await scene.made()).to.deep.equal(['b: leading', 'c: leading']);
    scene.emit('resync');
    expect(await scene.made()).to.deep.equal(['b: resync', 'c: resync']);
    await scene.loop.stop();
  });

  it('is woken by signals of its own name only', async () => {
    const scene = new Scene();
    scene.emit('wake', { loop: 'test', key: 'x', trigger: 'push' });
    scene.emit('wake', { loop: 'another', key: 'y', trigger: 'push' });
    expect(await scene.made()).to.deep.equal(['x: push']);
    await scene.loop.stop();
  });

  it('stands by while another controller leads, and asks for no timer', async () => {
    const scene = new Scene({ resync: (_, result) => (result === 'done' ? 1_000 : null) });
    scene.lead(null);
    expect(await scene.loop.reconcile('a', 'push')).to.equal('stood by');
    scene.clock.advance(10_000);
    expect(await scene.made()).to.deep.equal([]);
    expect(scene.standBys).to.deep.equal(['a']);
    await scene.loop.stop();
  });

  it('makes the next pass after the time that the result asks for', async () => {
    const scene = new Scene({ resync: () => 1_000 });
    scene.loop.wake('a', 'push');
    await scene.made();
    scene.clock.advance(999);
    expect(await scene.made()).to.deep.equal([]);
    scene.clock.advance(1);
    expect(await scene.made()).to.deep.equal(['a: timer']);
    await scene.loop.stop();
  });

  it('fences what a pass writes by the epoch under which it began', async () => {
    const scene = new Scene();
    scene.epoch = 7;
    const led: boolean[] = [];
    scene.work = async (_, pass) => {
      led.push(pass.leads());
      scene.epoch = 8;
      led.push(pass.leads());
      await pass.fence('tx');
      return String(pass.epoch);
    };
    expect(await scene.loop.reconcile('a', 'push')).to.equal('7');
    expect(scene.fenced).to.deep.equal([['tx', 7]]);
    expect(led).to.deep.equal([true, false]);
    await scene.loop.stop();
  });

  it('logs a pass that failed with its key and the time of the retry, and retries it', async () => {
    const failures: string[] = [];
    const scene = new Scene({ onFailure: (key) => void failures.push(key) });
    scene.work = async () => {
      throw new Error('no answer');
    };
    scene.loop.wake('a', 'push');
    expect(await scene.made()).to.deep.equal(['a: push']);
    expect(scene.warnings).to.deep.equal([
      { fields: { thing: 'a', reason: 'no answer', retryInMs: 1_000 }, message: 'test pass failed' },
    ]);
    expect(failures).to.deep.equal(['a']);
    scene.clock.advance(1_000);
    expect(await scene.made()).to.deep.equal(['a: timer']);
    await scene.loop.stop();
  });

  it('forgets the key of an environment that is deleted', async () => {
    const scene = new Scene({ resync: () => 1_000 });
    scene.loop.wake('a', 'push');
    await scene.made();
    scene.emit('environment', { environmentId: 'a' });
    scene.clock.advance(10_000);
    expect(await scene.made()).to.deep.equal([]);
    expect(scene.forgotten).to.deep.equal(['a']);
    await scene.loop.stop();
  });

  it('bears keys that cannot be listed, and lists them again with the next signal', async () => {
    let isAway = true;
    const scene = new Scene({
      listKeys: async () => {
        if (isAway) throw new Error('the database is away');
        return ['a'];
      },
    });
    scene.lead(2);
    expect(await scene.made()).to.deep.equal([]);
    isAway = false;
    scene.emit('resync');
    expect(await scene.made()).to.deep.equal(['a: resync']);
    await scene.loop.stop();
  });

  describe('whose keys cannot be listed when it begins to lead', () => {
    let isAway = true;
    let scene: Scene;
    beforeEach(async () => {
      isAway = true;
      scene = new Scene({
        listKeys: async () => {
          if (isAway) throw new Error('the statement was cancelled');
          return ['a'];
        },
      });
      scene.lead(2);
      expect(await scene.made()).to.deep.equal([]);
    });
    afterEach(() => scene.loop.stop());

    it('lists them again after a growing pause, without any signal', async () => {
      scene.clock.advance(1_000);
      expect(await scene.made()).to.deep.equal([]);
      isAway = false;
      scene.clock.advance(1_999);
      expect(await scene.made()).to.deep.equal([]);
      scene.clock.advance(1);
      expect(await scene.made()).to.deep.equal(['a: leading']);
      expect(scene.warnings).to.deep.equal(
        [1_000, 2_000].map((retryInMs) => ({
          fields: { loop: 'test loop', reason: 'the statement was cancelled', retryInMs },
          message: 'the keys of a loop could not be listed',
        })),
      );
      expect(scene.clock.nextIn()).to.equal(null);
    });

    it('makes no second pass after a signal has listed them', async () => {
      isAway = false;
      scene.emit('resync');
      expect(await scene.made()).to.deep.equal(['a: resync']);
      expect(scene.clock.nextIn()).to.equal(null);
    });

    it('waits no more once another controller leads, or it is stopped', async () => {
      scene.lead(null);
      expect(scene.clock.nextIn()).to.equal(null);
      scene.lead(3);
      await scene.made();
      expect(scene.clock.nextIn()).to.equal(1_000);
      await scene.loop.stop();
      expect(scene.clock.nextIn()).to.equal(null);
    });

    it('does not wait after a listing that fails once it is stopped', async () => {
      scene.emit('resync');
      await scene.loop.stop();
      await scene.made();
      expect(scene.clock.nextIn()).to.equal(null);
    });
  });

  it('listens to nothing once it is stopped', async () => {
    const scene = new Scene();
    await scene.loop.stop();
    expect([...scene.listeners.values()].map(({ size }) => size)).to.deep.equal([0, 0, 0]);
  });
});

describe('the coalescer', () => {
  it('runs once for all notes of a key within the delay, and again for a later one', () => {
    const clock = manualClock();
    const ran: string[] = [];
    const coalescer = createCoalescer({ clock, delayMs: 100, run: (key) => void ran.push(key) });
    coalescer.note('a');
    clock.advance(60);
    coalescer.note('a');
    coalescer.note('b');
    clock.advance(40);
    expect(ran).to.deep.equal(['a']);
    clock.advance(60);
    expect(ran).to.deep.equal(['a', 'b']);
    coalescer.note('a');
    clock.advance(100);
    expect(ran).to.deep.equal(['a', 'b', 'a']);
  });

  it('runs nothing more once it is stopped', () => {
    const clock = manualClock();
    const ran: string[] = [];
    const coalescer = createCoalescer({ clock, delayMs: 100, run: (key) => void ran.push(key) });
    coalescer.note('a');
    coalescer.stop();
    clock.advance(1_000);
    expect(ran).to.deep.equal([]);
  });
});
