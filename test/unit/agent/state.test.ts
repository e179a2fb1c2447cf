import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Effect,
  type Event,
  INITIAL,
  type State,
  statusOf,
  step,
} from '../../../agent/supervise/state.ts';

/** Carries effects out as a perfect machine would, apart from what the test decides. */
function follow(
  events: Event[],
  start: State = INITIAL,
): { state: State; effects: Effect[]; statuses: string[] } {
  let state = start;
  const effects: Effect[] = [];
  const statuses = [statusOf(state)];
  for (const event of events) {
    const next = step(state, event);
    state = next.state;
    effects.push(...next.effects);
    if (statusOf(state) !== statuses.at(-1)) statuses.push(statusOf(state));
  }
  return { state, effects, statuses };
}

const names = (effects: Effect[]) =>
  effects.map((effect) => (effect.do === 'timer' ? `timer ${effect.event}` : effect.do));
const started: Event[] = [{ type: 'wanted' }, { type: 'prepared' }, { type: 'spawned' }];
const running: Event[] = [...started, { type: 'graceOver' }];
const crashed: Event = { type: 'exited', ranMs: 10 };

describe('the life of an engine', () => {
  it('starts: ports, files, process, and RUNNING after the grace of 2 s', () => {
    const { effects, statuses } = follow(running);
    expect(names(effects)).to.deep.equal(['allocatePorts', 'prepare', 'spawn', 'timer graceOver']);
    expect(statuses).to.deep.equal(['STOPPED', 'STARTING', 'RUNNING']);
    expect(effects.at(-1)).to.include({ ms: 2_000 });
  });

  it('doubles the wait from 1 s up to 60 s, on the same ports', () => {
    let state = follow(started).state;
    const waits: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      const crash = follow([crashed, { type: 'retryDue' }, { type: 'prepared' }, { type: 'spawned' }], state);
      const retry = crash.effects.find((effect) => effect.do === 'timer' && effect.event === 'retryDue');
      if (retry?.do === 'timer') waits.push(retry.ms);
      expect(names(crash.effects)).not.to.include('allocatePorts');
      state = crash.state;
    }
    expect(waits).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(state.restarts).to.equal(8);
  });

  it('begins again at 1 s after an engine has run for a minute', () => {
    const { state } = follow([
      ...running,
      crashed,
      { type: 'retryDue' },
      { type: 'prepared' },
      { type: 'spawned' },
    ]);
    expect(step(state, { type: 'exited', ranMs: 60_000 }).state.failures).to.equal(1);
  });

  it('is CRASHED within the grace too', () => {
    expect(follow([...started, crashed]).statuses.at(-1)).to.equal('CRASHED');
  });

  it('writes the new files before it stops the old engine, and kills after 30 s', () => {
    const { effects, statuses } = follow(
      [{ type: 'wanted' }, { type: 'prepared' }, { type: 'killDue' }],
      follow(running).state,
    );
    expect(names(effects)).to.deep.equal(['prepare', 'cancelTimers', 'terminate', 'timer killDue', 'kill']);
    expect(effects.find((effect) => effect.do === 'timer')).to.include({ ms: 30_000 });
    expect(statuses).to.deep.equal(['RUNNING', 'STARTING']);
  });

  it('leaves the old engine running while the new files cannot be written, and tries again', () => {
    const { state, effects } = follow([{ type: 'wanted' }, { type: 'prepareFailed' }], follow(running).state);
    expect(statusOf(state)).to.equal('RUNNING');
    expect(names(effects)).to.deep.equal(['prepare', 'timer retryDue']);
    expect(names(follow([{ type: 'retryDue' }, { type: 'prepared' }], state).effects)).to.include(
      'terminate',
    );
  });

  it('starts nothing for a pipeline that was removed while it stopped, crashed or started', () => {
    const cases: Event[][] = [
      [...running, { type: 'wanted' }, { type: 'prepared' }, { type: 'unwanted' }, crashed],
      [...running, crashed, { type: 'unwanted' }, { type: 'retryDue' }],
      [{ type: 'wanted' }, { type: 'prepared' }, { type: 'unwanted' }, { type: 'spawnFailed' }],
    ];
    for (const events of cases) {
      const { state, effects } = follow(events);
      expect(statusOf(state)).to.equal('STOPPED');
      expect(names(effects).at(-1)).to.equal('removeFiles');
    }
  });

  it('keeps CRASHED and tries again when a start fails', () => {
    const { state, effects } = follow([{ type: 'wanted' }, { type: 'prepared' }, { type: 'spawnFailed' }]);
    expect(statusOf(state)).to.equal('CRASHED');
    expect(names(effects)).to.include('timer retryDue');
  });

  it('never has two engines, and comes to the wanted end, whatever happens in between', () => {
    const outside = fc.constantFrom('want', 'unwant', 'crash', 'time', 'fail');
    fc.assert(
      fc.property(fc.array(outside, { maxLength: 60 }), fc.boolean(), (happenings, wantedAtEnd) => {
        const world = new World();
        for (const happening of happenings) world.happen(happening);
        world.happen(wantedAtEnd ? 'want' : 'unwant');
        for (let round = 0; round < 5; round += 1) world.happen('time');
        expect(world.engines).to.equal(wantedAtEnd ? 1 : 0);
        expect(statusOf(world.state)).to.equal(wantedAtEnd ? 'RUNNING' : 'STOPPED');
      }),
    );
  });
});

/** The effects' side of the machine: an engine that ends when it is told to, and timers that are pulled by hand. */
class World {
  state: State = INITIAL;
  engines = 0;
  #timers = new Set<'graceOver' | 'retryDue' | 'killDue'>();
  #terminating = false;
  #failNext = false;

  happen(what: string): void {
    if (what === 'want') this.#send({ type: 'wanted' });
    if (what === 'unwant') this.#send({ type: 'unwanted' });
    if (what === 'crash' && this.engines > 0) this.#exit();
    if (what === 'fail') this.#failNext = true;
    if (what !== 'time') return;
    this.#failNext = false;
    if (this.#terminating) this.#exit();
    for (const timer of [...this.#timers]) {
      this.#timers.delete(timer);
      this.#send({ type: timer });
    }
  }

  #exit(): void {
    this.engines -= 1;
    this.#terminating = false;
    this.#send({ type: 'exited', ranMs: 10 });
  }

  #send(event: Event): void {
    const { state, effects } = step(this.state, event);
    this.state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const failing = this.#failNext;
    switch (effect.do) {
      case 'prepare':
        this.#failNext = false;
        this.#send({ type: failing ? 'prepareFailed' : 'prepared' });
        return;
      case 'spawn':
        this.engines += 1;
        expect(this.engines).to.equal(1);
        this.#send({ type: 'spawned' });
        return;
      case 'terminate':
        this.#terminating = true;
        return;
      case 'timer':
        this.#timers.add(effect.event);
        return;
      case 'cancelTimers':
        this.#timers.clear();
    }
  }
}
