/**
 * The life of one pipeline's engine as data: a state, an event, and what to do next. No clock, no process and no file
 * is touched here; `pipeline-runner.ts` carries the effects out and brings their outcome back as events.
 */
import type { PipelineProcessStatus } from '../../../schemas/agent/protocol.ts';
import { LIMITS } from '../../limits.ts';
import { crashBackoff, recheckBackoff } from './crash-backoff.ts';

export interface State {
  phase: 'idle' | 'starting' | 'running' | 'crashed' | 'stopping';
  /** An engine process exists. False in `starting` until it is spawned. */
  alive: boolean;
  /** What follows once a stopping engine has ended. */
  next: 'start' | 'end';
  /** The files on disk are older than what is wanted: it is being checked, was refused, or could not be written. */
  stale: boolean;
  /** The engine is building the wanted config while the old one runs, or waits for its next start. */
  checking: boolean;
  /** How often in a row the engine refused to build the wanted config. The old one is kept while it is not 0. */
  refusals: number;
  /** Failures in a row, which the back-off counts. */
  failures: number;
  /** Unexpected exits since the pipeline was first started. */
  restarts: number;
  /** What a stopping engine is reported as until it has ended. */
  was: 'STARTING' | 'RUNNING';
}

export type Event =
  /** New or changed: another checksum than the one before. */
  | { type: 'wanted' }
  /** Wanted is what the engine runs with, after something else was. */
  | { type: 'reverted' }
  | { type: 'unwanted' }
  /** Accepted too where the engine could not tell. */
  | { type: 'checked'; answer: 'accepted' | 'refused' | 'unwritten' }
  | { type: 'recheckDue' }
  | { type: 'prepared' }
  | { type: 'prepareFailed' }
  | { type: 'spawned' }
  | { type: 'spawnFailed' }
  | { type: 'graceOver' }
  | { type: 'exited'; ranMs: number }
  | { type: 'retryDue' }
  | { type: 'killDue' };

export type Effect =
  | { do: 'allocatePorts' }
  /** Have the engine build the wanted config; a check that still runs is ended first. */
  | { do: 'check' }
  | { do: 'cancelCheck' }
  /** Write the files: of what is wanted, or of the kept one where that is refused. */
  | { do: 'prepare' }
  | { do: 'spawn' }
  | { do: 'terminate' }
  | { do: 'kill' }
  /** End what the engine forked and left behind. */
  | { do: 'sweep' }
  | { do: 'removeFiles' }
  | { do: 'timer'; event: TimerEvent; ms: number }
  | { do: 'cancelTimer'; event: TimerEvent }
  | { do: 'cancelTimers' };

export type TimerEvent = 'graceOver' | 'retryDue' | 'recheckDue' | 'killDue';

export interface Transition {
  state: State;
  effects: Effect[];
}

export const INITIAL: State = {
  phase: 'idle',
  alive: false,
  next: 'end',
  stale: false,
  checking: false,
  refusals: 0,
  failures: 0,
  restarts: 0,
  was: 'STARTING',
};

/** An engine that ran this long has recovered: its next crash is a first one again. */
const STABLE_MS = LIMITS.crashBackoffMs.cap;
/** An engine that is to be started waits this long at a time for the check that says which config it gets. */
const CHECK_WAIT_MS = 250;

export function step(state: State, event: Event): Transition {
  switch (event.type) {
    case 'wanted':
      return wanted(state);
    case 'reverted':
      return reverted(state);
    case 'unwanted':
      return unwanted(state);
    case 'checked':
      return state.checking ? checked({ ...state, checking: false }, event.answer) : to(state, []);
    case 'recheckDue':
      return state.refusals > 0 && !state.checking ? check(state, state.refusals) : to(state, []);
    case 'prepared':
      return prepared({ ...state, stale: state.refusals > 0 });
    case 'prepareFailed':
      return prepareFailed(state);
    case 'spawned':
      return to({ ...state, alive: true }, [timer('graceOver', LIMITS.startupGraceMs)]);
    case 'spawnFailed':
      return state.phase === 'starting' ? crash(state, []) : to(state, []);
    case 'graceOver':
      return state.phase === 'starting' && state.alive
        ? to({ ...state, phase: 'running' }, [])
        : to(state, []);
    case 'exited':
      return exited({ ...state, alive: false, failures: event.ranMs >= STABLE_MS ? 0 : state.failures });
    case 'retryDue':
      return retryDue(state);
    case 'killDue':
      return to(state, state.phase === 'stopping' ? [{ do: 'kill' }] : []);
  }
}

export function statusOf(state: State): PipelineProcessStatus {
  switch (state.phase) {
    case 'idle':
      return 'STOPPED';
    case 'starting':
      return 'STARTING';
    case 'running':
      return 'RUNNING';
    case 'crashed':
      return 'CRASHED';
    case 'stopping':
      return state.next === 'start' ? 'STARTING' : state.was;
  }
}

const to = (state: State, effects: Effect[]): Transition => ({ state, effects });
const timer = (event: TimerEvent, ms: number): Effect => ({
  do: 'timer',
  event,
  ms,
});
const cancel: Effect = { do: 'cancelTimers' };

function wanted(state: State): Transition {
  switch (state.phase) {
    case 'idle':
      return to({ ...INITIAL, phase: 'starting' }, [{ do: 'allocatePorts' }, { do: 'prepare' }]);
    case 'crashed':
      // Nothing runs that a config could take down.
      return to({ ...state, ...UNCHECKED, phase: 'starting', failures: 0 }, [
        cancel,
        { do: 'cancelCheck' },
        { do: 'prepare' },
      ]);
    case 'stopping':
      return to({ ...state, next: 'start', stale: true }, [{ do: 'prepare' }]);
    default:
      if (state.alive) return check({ ...state, stale: true }, 0);
      return to({ ...state, ...UNCHECKED, stale: true }, [{ do: 'cancelCheck' }, { do: 'prepare' }]);
  }
}

const UNCHECKED = { checking: false, refusals: 0 };

/** The old engine runs on meanwhile, and after a refusal, and where the files cannot be written. */
function check(state: State, refusals: number): Transition {
  return to({ ...state, checking: true, refusals }, [
    { do: 'cancelTimer', event: 'recheckDue' },
    ...(state.alive ? [{ do: 'cancelTimer', event: 'retryDue' } as const] : []),
    { do: 'check' },
  ]);
}

function checked(state: State, answer: 'accepted' | 'refused' | 'unwritten'): Transition {
  if (answer === 'accepted') {
    const phase = state.phase === 'crashed' ? 'starting' : state.phase;
    const effects: Effect[] = state.phase === 'crashed' ? [cancel] : [];
    return to({ ...state, ...UNCHECKED, phase }, [...effects, { do: 'prepare' }]);
  }
  // What cannot be written is tried again as what is refused: with the check, and with the old engine kept.
  const refusals = state.refusals + 1;
  return to({ ...state, refusals }, [timer('recheckDue', recheckBackoff(refusals))]);
}

function reverted(state: State): Transition {
  const runs = state.alive && (state.phase === 'starting' || state.phase === 'running');
  if (!runs) return wanted(state);
  const effects: Effect[] = [{ do: 'cancelCheck' }, { do: 'cancelTimer', event: 'recheckDue' }];
  return to({ ...state, ...UNCHECKED, stale: false }, effects);
}

function prepared(state: State): Transition {
  if (state.phase === 'starting' && !state.alive) return to(state, [{ do: 'spawn' }]);
  if (state.phase === 'starting' || state.phase === 'running') return stop(state, 'start');
  return to(state, []);
}

function prepareFailed(state: State): Transition {
  if (state.phase === 'starting' && !state.alive) return crash(state, []);
  const failures = state.failures + 1;
  return to({ ...state, stale: true, failures }, [timer('retryDue', crashBackoff(failures))]);
}

function unwanted(state: State): Transition {
  if (state.phase === 'idle') return to(state, []);
  if (state.phase === 'stopping') return to({ ...state, next: 'end' }, []);
  if (state.alive) return stop(state, 'end');
  return to({ ...INITIAL }, [cancel, { do: 'cancelCheck' }, { do: 'removeFiles' }]);
}

function stop(state: State, next: 'start' | 'end'): Transition {
  const was = state.phase === 'running' ? 'RUNNING' : 'STARTING';
  return to({ ...state, ...UNCHECKED, phase: 'stopping', next, was }, [
    cancel,
    { do: 'cancelCheck' },
    { do: 'terminate' },
    timer('killDue', LIMITS.gracefulStopMs),
  ]);
}

function exited(state: State): Transition {
  if (state.phase !== 'stopping') return crash({ ...state, restarts: state.restarts + 1 }, [{ do: 'sweep' }]);
  if (state.next === 'end') return to({ ...INITIAL }, [cancel, { do: 'sweep' }, { do: 'removeFiles' }]);
  const start: Effect = state.stale ? { do: 'prepare' } : { do: 'spawn' };
  return to({ ...state, phase: 'starting', failures: 0 }, [cancel, { do: 'sweep' }, start]);
}

function crash(state: State, effects: Effect[]): Transition {
  const failures = state.failures + 1;
  const recheck = state.refusals > 0 && !state.checking;
  return to({ ...state, phase: 'crashed', alive: false, failures }, [
    cancel,
    ...effects,
    timer('retryDue', crashBackoff(failures)),
    ...(recheck ? [timer('recheckDue', recheckBackoff(state.refusals))] : []),
  ]);
}

function retryDue(state: State): Transition {
  // Which config the next engine gets is known in a moment.
  if (state.checking) return to(state, [timer('retryDue', CHECK_WAIT_MS)]);
  if (state.phase === 'crashed') return to({ ...state, phase: 'starting' }, [{ do: 'prepare' }]);
  if (state.phase === 'stopping') return to(state, state.stale ? [{ do: 'prepare' }] : []);
  return state.stale && state.alive && state.refusals === 0 ? check(state, 0) : to(state, []);
}
