import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Effect,
  type Event,
  INITIAL,
  type State,
  statusOf,
  step,
  type TimerEvent,
} from '../../../agent/supervise/lifecycle/pipeline-transitions.ts';

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
  effects.map((effect) => ('event' in effect ? `${effect.do} ${effect.event}` : effect.do));
const started: Event[] = [{ type: 'wanted' }, { type: 'prepared' }, { type: 'spawned' }];
const running: Event[] = [...started, { type: 'graceOver' }];
const crashed: Event = { type: 'exited', ranMs: 10 };
const accepted: Event = { type: 'checked', answer: 'accepted' };
const refused: Event = { type: 'checked', answer: 'refused' };

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

  it('checks the new config and writes its files before it stops the old engine, and kills after 30 s', () => {
    const { effects, statuses } = follow(
      [{ type: 'wanted' }, accepted, { type: 'prepared' }, { type: 'killDue' }],
      follow(running).state,
    );
    const stopping = ['prepare', 'cancelTimers', 'cancelCheck', 'terminate', 'timer killDue', 'kill'];
    expect(names(effects)).to.deep.equal([
      'cancelTimer recheckDue',
      'cancelTimer retryDue',
      'check',
      ...stopping,
    ]);
    expect(effects.find((effect) => effect.do === 'timer')).to.include({ ms: 30_000 });
    expect(statuses).to.deep.equal(['RUNNING', 'STARTING']);
  });

  it('keeps the old engine where the new config is refused, and checks again after 1, 2, 4 … s, at most 5 min', () => {
    let { state, effects } = follow([{ type: 'wanted' }, refused], follow(running).state);
    const waits: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const [wait] = effects.filter((effect) => effect.do === 'timer');
      if (wait?.do === 'timer') waits.push(wait.ms);
      expect(statusOf(state)).to.equal('RUNNING');
      expect(names(effects)).not.to.include('terminate').and.not.to.include('prepare');
      ({ state, effects } = follow([{ type: 'recheckDue' }, refused], state));
    }
    expect(waits.slice(0, 4)).to.deep.equal([1_000, 2_000, 4_000, 8_000]);
    expect(waits.at(-1)).to.equal(300_000);
    const mended = follow([{ type: 'recheckDue' }, accepted, { type: 'prepared' }], state);
    expect(names(mended.effects)).to.include('terminate');
  });

  it('goes on without a stop where the running config is wanted again, checked or refused meanwhile', () => {
    for (const meanwhile of [[], [refused], [refused, { type: 'recheckDue' } as const]]) {
      const start = follow([{ type: 'wanted' }, ...meanwhile], follow(running).state).state;
      const { state, effects } = follow([{ type: 'reverted' }, accepted, { type: 'recheckDue' }], start);
      expect(names(effects)).to.deep.equal(['cancelCheck', 'cancelTimer recheckDue']);
      expect(state).to.deep.equal(follow(running).state);
    }
  });

  it('starts what was kept again when it crashes under a refusal, and the new one once that is accepted', () => {
    const kept = follow([crashed], follow([{ type: 'wanted' }, refused], follow(running).state).state);
    expect(statusOf(kept.state)).to.equal('CRASHED');
    expect(names(kept.effects)).to.include('timer recheckDue').and.to.include('timer retryDue');
    const started = follow([{ type: 'retryDue' }, { type: 'prepared' }, { type: 'spawned' }], kept.state);
    expect(started.state).to.include({ refusals: 1, stale: true, alive: true });
    const replaced = follow([{ type: 'recheckDue' }, accepted], kept.state);
    expect(names(replaced.effects)).to.include.members(['check', 'cancelTimers', 'prepare']);
    expect(replaced.state).to.include({ phase: 'starting', refusals: 0 });
  });

  it('has no check where no engine runs', () => {
    for (const before of [[], [...running, crashed]]) {
      expect(names(follow([{ type: 'wanted' }], follow(before).state).effects)).not.to.include('check');
    }
  });

  it('leaves the old engine running while the new files cannot be written, and tries again', () => {
    const { state, effects } = follow(
      [{ type: 'wanted' }, accepted, { type: 'prepareFailed' }],
      follow(running).state,
    );
    expect(statusOf(state)).to.equal('RUNNING');
    expect(names(effects).slice(-2)).to.deep.equal(['prepare', 'timer retryDue']);
    const retried = follow([{ type: 'retryDue' }, accepted, { type: 'prepared' }], state);
    expect(names(retried.effects)).to.include('terminate');
  });

  it('starts nothing for a pipeline that was removed while it stopped, crashed or started', () => {
    const cases: Event[][] = [
      [...running, { type: 'wanted' }, accepted, { type: 'prepared' }, { type: 'unwanted' }, crashed],
      [...running, { type: 'wanted' }, { type: 'unwanted' }, accepted, crashed],
      [...running, { type: 'wanted' }, refused, { type: 'unwanted' }, crashed, { type: 'recheckDue' }],
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

  it('never has two engines, stops none for a refused config, and comes to the wanted end, whatever happens', () => {
    const outside = fc.constantFrom(
      'want',
      'want refused',
      'revert',
      'unwant',
      'crash',
      'time',
      'answer',
      'fail',
    );
    const ends = fc.constantFrom('want', 'want refused', 'unwant');
    fc.assert(
      fc.property(fc.array(outside, { maxLength: 60 }), ends, (happenings, end) => {
        const world = new World();
        for (const happening of happenings) world.happen(happening);
        const engineBefore = world.state.alive && world.state.phase !== 'stopping' ? world.engine : undefined;
        world.happen(end);
        for (let round = 0; round < 8; round += 1) world.happen('time');
        expect(world.engines).to.equal(end === 'unwant' ? 0 : 1);
        expect(statusOf(world.state)).to.equal(end === 'unwant' ? 'STOPPED' : 'RUNNING');
        if (end === 'want refused' && engineBefore !== undefined) {
          expect(world.engine).to.equal(engineBefore);
          expect(world.state.refusals).to.be.greaterThan(0);
        }
      }),
    );
  });
});

/**
 * The effects' side of the machine: an engine that ends when it is told to, checks that take until `answer` or `time`,
 * and timers that are pulled by hand.
 */
class World {
  state: State = INITIAL;
  engines = 0;
  /** Which one runs, of all that were started. */
  engine = 0;
  #timers = new Set<TimerEvent>();
  #terminating = false;
  #failNext = false;
  #checking = false;
  /** Whether the engine would refuse what is wanted, or what runs. It runs all the same where nobody asked. */
  #wantedIsRefused = false;
  #wanted = false;
  #answered: 'accepted' | 'refused' | undefined;

  happen(what: string): void {
    if (what === 'want' || what === 'want refused') {
      this.#wanted = true;
      this.#wantedIsRefused = what === 'want refused';
      this.#answered = undefined;
      this.#send({ type: 'wanted' });
    }
    if (what === 'revert' && this.#wanted) {
      this.#wantedIsRefused = false;
      this.#answered = undefined;
      this.#send({ type: 'reverted' });
    }
    if (what === 'unwant') {
      this.#wanted = false;
      this.#send({ type: 'unwanted' });
    }
    if (what === 'crash' && this.engines > 0) this.#exit();
    if (what === 'answer') this.#answer();
    if (what === 'fail') this.#failNext = true;
    if (what !== 'time') return;
    this.#failNext = false;
    if (this.#terminating) this.#exit();
    this.#answer();
    for (const timer of [...this.#timers]) {
      if (!this.#timers.delete(timer)) continue;
      this.#send({ type: timer });
    }
  }

  #answer(): void {
    if (!this.#checking) return;
    this.#checking = false;
    this.#answered = this.#wantedIsRefused ? 'refused' : 'accepted';
    this.#send({ type: 'checked', answer: this.#answered });
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
      case 'check':
        this.#checking = true;
        return;
      case 'cancelCheck':
        this.#checking = false;
        return;
      case 'prepare':
        this.#failNext = false;
        this.#send({ type: failing ? 'prepareFailed' : 'prepared' });
        return;
      case 'spawn':
        this.engines += 1;
        this.engine += 1;
        expect(this.engines).to.equal(1);
        this.#send({ type: 'spawned' });
        return;
      case 'terminate':
        // Nobody stops a running engine for a config that was not built before, unless the pipeline leaves.
        if (this.#wanted) expect(this.#answered).to.equal('accepted');
        this.#terminating = true;
        return;
      case 'timer':
        this.#timers.add(effect.event);
        return;
      case 'cancelTimer':
        this.#timers.delete(effect.event);
        return;
      case 'cancelTimers':
        this.#timers.clear();
    }
  }
}
