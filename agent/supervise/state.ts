/**
 * The life of one pipeline's engine as data: a state, an event, and what to do next. No clock, no process and no file
 * is touched here; `pipeline.ts` carries the effects out and brings their outcome back as events.
 */
import type { PipelineProcessStatus } from '../../schemas/agent/protocol.ts';
import { LIMITS } from '../limits.ts';
import { crashBackoff } from './crash-backoff.ts';

export interface State {
  phase: 'idle' | 'starting' | 'running' | 'crashed' | 'stopping';
  /** An engine process exists. False in `starting` until it is spawned. */
  alive: boolean;
  /** What follows once a stopping engine has ended. */
  next: 'start' | 'end';
  /** The files on disk are older than what is wanted, because writing them failed. */
  stale: boolean;
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
  | { type: 'unwanted' }
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
  | { do: 'prepare' }
  | { do: 'spawn' }
  | { do: 'terminate' }
  | { do: 'kill' }
  /** End what the engine forked and left behind. */
  | { do: 'sweep' }
  | { do: 'removeFiles' }
  | { do: 'timer'; event: 'graceOver' | 'retryDue' | 'killDue'; ms: number }
  | { do: 'cancelTimers' };

export interface Transition {
  state: State;
  effects: Effect[];
}

export const INITIAL: State = {
  phase: 'idle',
  alive: false,
  next: 'end',
  stale: false,
  failures: 0,
  restarts: 0,
  was: 'STARTING',
};

/** An engine that ran this long has recovered: its next crash is a first one again. */
const STABLE_MS = LIMITS.crashBackoffMs.cap;

export function step(state: State, event: Event): Transition {
  switch (event.type) {
    case 'wanted':
      return wanted(state);
    case 'unwanted':
      return unwanted(state);
    case 'prepared':
      return prepared({ ...state, stale: false });
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
const timer = (event: 'graceOver' | 'retryDue' | 'killDue', ms: number): Effect => ({
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
      return to({ ...state, phase: 'starting', failures: 0 }, [cancel, { do: 'prepare' }]);
    case 'stopping':
      return to({ ...state, next: 'start', stale: true }, [{ do: 'prepare' }]);
    default:
      // The files are written while the old engine still runs: where that fails, it simply goes on.
      return to({ ...state, stale: true }, [{ do: 'prepare' }]);
  }
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
  return to({ ...INITIAL }, [cancel, { do: 'removeFiles' }]);
}

function stop(state: State, next: 'start' | 'end'): Transition {
  const was = state.phase === 'running' ? 'RUNNING' : 'STARTING';
  return to({ ...state, phase: 'stopping', next, was }, [
    cancel,
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
  return to({ ...state, phase: 'crashed', alive: false, failures }, [
    cancel,
    ...effects,
    timer('retryDue', crashBackoff(failures)),
  ]);
}

function retryDue(state: State): Transition {
  if (state.phase === 'crashed') return to({ ...state, phase: 'starting' }, [{ do: 'prepare' }]);
  return to(state, state.stale ? [{ do: 'prepare' }] : []);
}
