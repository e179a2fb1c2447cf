/** Plays a transform on events and looks at what comes out, with the VRL compiler at hand. Runs in a thread of its own. */
import type { CompilationDiagnostic } from '@bpinternal/verel';
import type { EngineView } from '../engine-view.ts';
import { lackingFunction } from '../vrl/compile-program.ts';
import { labelsOf, positionOf, spanOf } from '../vrl/vrl-diagnostics.ts';
import { callsThatCannotRun } from '../vrl/vrl-functions.ts';
import type { Vrl } from '../vrl/vrl-test.ts';
import { literalVrlView, vrlView } from '../vrl/vrl-view.ts';
import { renderNoOutput, renderUnmet, renderUnwanted } from './render-event.ts';
import { failed, outputName, PASSED, skipped, type Verdict, wantsNothing } from './test-case.ts';
import type { Step } from './transform-step.ts';

export interface PlayedCase {
  key: string;
  port: string | null;
  step: Step;
  expect: string;
  metadataKey: string;
}

/** What an array of events may become: a program can make many of one. */
const MAX_EVENTS = 10_000;
const REASON_CHARS = 500;

type Outcome =
  | { type: 'done'; event: unknown; result: unknown }
  | { type: 'abort' | 'error'; message: string };

/** A reason why a case cannot be played, or fails before anything is looked at. */
export class Ended extends Error {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(verdict.message ?? '');
    this.verdict = verdict;
  }
}

/** Throws what is no failure of a program but of WebAssembly, which is not to be used again. */
export function play(vrl: Vrl, one: PlayedCase, events: readonly object[]): Verdict {
  try {
    const output = outputName(one);
    checkExpect(vrl, one.expect);
    checkPrograms(vrl, one.step);
    const { outputs, notes } = left(vrl, one, events, one.port);
    const came = outputs.get(one.port ?? '') ?? [];
    const more = notes.length > 0 ? `; ${notes[0]}` : '';
    if (wantsNothing(one)) return came.length === 0 ? PASSED : failed(renderUnwanted(output, came));
    if (came.length === 0) return failed(renderNoOutput(output) + more);
    const unmet: unknown[] = [];
    let reason = '';
    for (const event of came) {
      const outcome = execute(vrl, literalVrlView(one.expect).text, event);
      if (outcome.type === 'done' && outcome.result === true) continue;
      if (outcome.type !== 'done' && reason === '') reason = `; the condition ended: ${outcome.message}`;
      unmet.push(event);
    }
    return unmet.length === 0 ? PASSED : failed(renderUnmet(output, came.length, unmet) + reason + more);
  } catch (error) {
    if (error instanceof Ended) return error.verdict;
    throw error;
  }
}

function checkExpect(vrl: Vrl, expect: string): void {
  const view = literalVrlView(expect);
  for (const error of vrl.check(view.text).errors) {
    endIfLacking(view, error);
    const { line, column } = positionOf(expect, view, spanOf(view, labelsOf(error)[0]?.span ?? [0, 0]));
    const code = `E${String(error.code).padStart(3, '0')}`;
    throw new Ended(
      failed(
        `expect does not compile: ${error.message} (${code}) at its line ${line}, column ${column}`.slice(
          0,
          REASON_CHARS,
        ),
      ),
    );
  }
}

export function checkPrograms(vrl: Vrl, step: Step): void {
  const programs =
    step.type === 'remap'
      ? [step.source]
      : step.type === 'filter'
        ? [step.condition]
        : step.routes.map(({ condition }) => condition);
  for (const program of programs) {
    const view = vrlView(program);
    for (const error of vrl.check(view.text).errors) {
      endIfLacking(view, error);
      throw new Ended(failed(`its program does not compile: ${error.message.slice(0, REASON_CHARS)}`));
    }
  }
}

function endIfLacking(view: EngineView, error: CompilationDiagnostic): void {
  const name = lackingFunction(view, error);
  if (name !== undefined) throw new Ended(skipped(`the VRL function ${name} runs in the engine only`));
}

// An abort and a failed call both come as an exception. Only calls can fail at run time.
const TERMINATION = /^Termination;\n([\s\S]*)$/;
const FAILED_CALL = /^function call error/;

function execute(vrl: Vrl, text: string, event: unknown): Outcome {
  try {
    const { event: made, result } = vrl.execute(text, event);
    return { type: 'done', event: made, result };
  } catch (thrown) {
    const ended = TERMINATION.exec(thrown instanceof Error ? thrown.message : String(thrown))?.[1];
    if (ended === undefined) throw thrown;
    if (ended.includes('not supported in WebAssembly')) {
      const names = [...new Set(callsThatCannotRun(text).map(({ name }) => name))].join(', ');
      throw new Ended(skipped(`the VRL function ${names || 'that it calls'} runs in the engine only`));
    }
    return { type: FAILED_CALL.test(ended) ? 'error' : 'abort', message: ended.slice(0, REASON_CHARS) };
  }
}

export interface Left {
  /** By output; the one without a name is `''`. */
  outputs: Map<string, unknown[]>;
  /** Why events did not come, or came as they were. */
  notes: string[];
}

export type PlayedTransform = Pick<PlayedCase, 'key' | 'step' | 'metadataKey'>;

/** What leaves by each output. `port` is the one that notes are about. */
export function left(
  vrl: Vrl,
  { step, key, metadataKey }: PlayedTransform,
  events: readonly object[],
  port: string | null,
): Left {
  const outputs = new Map<string, unknown[]>();
  const notes: string[] = [];
  const leave = (by: string, ...made: unknown[]) => {
    const came = outputs.get(by) ?? [];
    came.push(...made);
    if (came.length > MAX_EVENTS) throw new Ended(failed(`more than ${MAX_EVENTS} events came out`));
    outputs.set(by, came);
  };
  const holds = (condition: string, event: object): boolean => {
    const outcome = execute(vrl, vrlView(condition).text, event);
    if (outcome.type === 'error') notes.push(`a condition failed: ${outcome.message}`);
    return outcome.type === 'done' && outcome.result === true;
  };
  for (const event of events) {
    switch (step.type) {
      case 'filter':
        if (holds(step.condition, event)) leave('', event);
        else notes.push('its condition is false');
        break;
      case 'route': {
        const taken = routesTaken(step, (condition) => holds(condition, event));
        for (const by of taken) leave(by, event);
        if (!taken.includes(port ?? '')) notes.push(`the event left by ${taken.join(', ') || 'no output'}`);
        break;
      }
      case 'remap': {
        const outcome = execute(vrl, vrlView(step.source).text, event);
        if (outcome.type === 'done') {
          leave('', ...asEvents(outcome.event));
          break;
        }
        const aborted = outcome.type === 'abort';
        notes.push(
          aborted ? `the program called abort: ${outcome.message}` : `the program failed: ${outcome.message}`,
        );
        if (!(aborted ? step.dropOnAbort : step.dropOnError)) leave('', event);
        else if (step.reroute) {
          const reason = { message: outcome.message, reason: outcome.type };
          const component = { component_id: key, component_kind: 'transform', component_type: 'remap' };
          leave('dropped', { ...event, [metadataKey]: { dropped: { ...component, ...reason } } });
        }
      }
    }
  }
  return { outputs, notes };
}

function routesTaken(
  { routes, exclusive, unmatched }: Extract<Step, { type: 'route' }>,
  holds: (condition: string) => boolean,
): string[] {
  const taken: string[] = [];
  for (const { name, condition } of routes) {
    if (!holds(condition)) continue;
    taken.push(name);
    if (exclusive) break;
  }
  return taken.length === 0 && unmatched ? ['_unmatched'] : taken;
}

/** What is no object becomes the message of an event. */
function asEvents(made: unknown): unknown[] {
  return (Array.isArray(made) ? made : [made]).map((value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { message: value },
  );
}
