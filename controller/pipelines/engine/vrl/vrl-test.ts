/** Runs a program on a test event, as `remap` or a condition would. */
import type { CheckResult, CompilationDiagnostic, ExecutionResult } from '@bpinternal/verel';
import type { Program } from '../checks.ts';
import type { EngineView } from '../engine-view.ts';
import { lackingFunction, suggestionFor } from './compile-program.ts';
import { diagnosticOf, positionOf, spanOf, type VrlDiagnostic } from './vrl-diagnostics.ts';
import { callsThatCannotRun } from './vrl-functions.ts';
import { vrlView } from './vrl-view.ts';

export interface Vrl {
  check(source: string): CheckResult;
  execute(source: string, event: unknown): ExecutionResult;
}

export interface VrlTest {
  success: boolean;
  /** The event that leaves, or an array of them; null where none does. */
  output: string | null;
  /** The value of the last expression as JSON. */
  result: string | null;
  dropped: boolean;
  dropReason: string | null;
  /** Why it failed while it ran, or could not run. */
  error: string | null;
  diagnostics: VrlDiagnostic[];
}

const OUTPUT_CHARS = 1024 * 1024;
const ERROR_CHARS = 1_000;
const MAX_DIAGNOSTICS = 100;
const NONE: Omit<VrlTest, 'diagnostics'> = {
  success: false,
  output: null,
  result: null,
  dropped: false,
  dropReason: null,
  error: null,
};

export function testProgram(vrl: Vrl, program: Program, event: object): VrlTest {
  const { source } = program;
  const view = vrlView(source);
  const { warnings, errors } = vrl.check(view.text);
  const diagnostics = [
    ...errors.map((error) =>
      lackingFunction(view, error) === undefined
        ? [withSuggestion(view, error, diagnosticOf(source, view, error))]
        : [],
    ),
    cannotRun(source, view),
    loneDollars(source),
    errors.length === 0 && program.purpose === 'condition' ? perhapsNoBoolean(vrl, source, view) : [],
    warnings.map((warning) => diagnosticOf(source, view, warning)),
  ]
    .flat()
    .slice(0, MAX_DIAGNOSTICS);
  if (errors.length > 0) return { ...NONE, error: cannotTry(diagnostics), diagnostics };
  try {
    const { event: made, result } = vrl.execute(view.text, event);
    // A condition looks at the event and changes nothing.
    const left = program.purpose === 'condition' ? event : made;
    return { ...outcome({ event: left, result }, program.purpose), diagnostics };
  } catch (thrown) {
    return failure(thrown, source, view, diagnostics);
  }
}

function withSuggestion(
  view: EngineView,
  diagnostic: CompilationDiagnostic,
  found: VrlDiagnostic,
): VrlDiagnostic {
  const hint = suggestionFor(view, diagnostic);
  return hint === undefined ? found : { ...found, hint };
}

/** What was tried where the compiler at hand refuses a program that the engine compiles. */
export function takenByEngineOnly(test: VrlTest): VrlTest {
  const diagnostics = test.diagnostics.map(
    (diagnostic): VrlDiagnostic =>
      diagnostic.severity === 'error'
        ? { ...diagnostic, severity: 'warning', hint: 'the engine compiles it; the compiler here is older' }
        : diagnostic,
  );
  const error = 'This program compiles in the engine, whose VRL is newer, so it cannot be tried here';
  return { ...test, error, diagnostics };
}

/** Where nothing is wrong but that a function lacks. */
function cannotTry(diagnostics: readonly VrlDiagnostic[]): string | null {
  if (diagnostics.some(({ severity }) => severity === 'error')) return null;
  return 'This program calls functions that only the engine on a node has, so it cannot be tried here';
}

function cannotRun(source: string, view: EngineView): VrlDiagnostic[] {
  return callsThatCannotRun(view.text).map(({ name, start, end }) => ({
    severity: 'warning',
    code: null,
    message: `${name} is a function of the engine that cannot run here`,
    ...positionOf(source, view, { start, end }),
    hint: 'it works on the nodes; to try the rest of the program, put a value in its place',
  }));
}

/** Only an `if` looks at the type of a result. The engine does not: what is not true is false. */
function perhapsNoBoolean(vrl: Vrl, source: string, view: EngineView): VrlDiagnostic[] {
  const { errors } = vrl.check(`condition_result = {\n${view.text}\n}\nif condition_result { null }`);
  if (errors.length === 0) return [];
  return [
    {
      severity: 'warning',
      code: null,
      message: 'the condition may resolve to something else than a boolean, which counts as false',
      ...positionOf(source, view, { start: 0, end: view.text.trimEnd().length }),
      hint: 'end it with a comparison, or convert its result, for example with bool!(…)',
    },
  ];
}

/** `$1` runs here, and not in a pipeline: the engine takes it for a variable when it loads the config. */
function loneDollars(source: string): VrlDiagnostic[] {
  const found = [...source.matchAll(/\$(?:\$|\{[^}]*\}|(\w+))/g)].filter((match) => match[1] !== undefined);
  return found.map((match) => ({
    severity: 'warning',
    code: null,
    message: `"${match[0].slice(0, 100)}" would be read as an environment variable in a pipeline`,
    ...positionOf(
      source,
      { text: source, written: (offset) => offset },
      {
        start: match.index,
        end: match.index + match[0].length,
      },
    ),
    hint: `write "$${match[0].slice(0, 100)}" for a literal dollar`,
  }));
}

function outcome(
  { event, result }: ExecutionResult,
  purpose: Program['purpose'],
): Omit<VrlTest, 'diagnostics'> {
  const value = bounded(JSON.stringify(result, null, 2) ?? 'null');
  const events = (Array.isArray(event) ? event : [event]).map(asEvent);
  const drops = dropReasonOf(events.length, result, purpose);
  const output =
    drops === null ? bounded(JSON.stringify(Array.isArray(event) ? events : events[0], null, 2)) : null;
  if (value === undefined || output === undefined) {
    return { ...NONE, error: 'What the program made is larger than 1 MiB, so it is not shown' };
  }
  return { success: true, output, result: value, dropped: drops !== null, dropReason: drops, error: null };
}

function dropReasonOf(events: number, result: unknown, purpose: Program['purpose']): string | null {
  if (purpose === 'condition') return result === true ? null : 'the condition is false';
  return events === 0 ? 'the program made an empty array of events' : null;
}

/** What is no object becomes the message of an event. */
function asEvent(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { message: value };
}

const bounded = (text: string): string | undefined => (text.length > OUTPUT_CHARS ? undefined : text);

// An abort and a failed call both come as an exception with `Termination;\n<text>`. Only calls can fail at run time:
// everything else must be handled to compile.
const TERMINATION = /^Termination;\n([\s\S]*)$/;
const FAILED_CALL = /^function call error|not supported in WebAssembly/;
const CALL_SPAN = / at \((\d+):(\d+)\)/;

function failure(thrown: unknown, source: string, view: EngineView, diagnostics: VrlDiagnostic[]): VrlTest {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const ended = TERMINATION.exec(text)?.[1]?.slice(0, ERROR_CHARS);
  // Not a failure of the program but of WebAssembly, which is not to be used again.
  if (ended === undefined) throw thrown;
  if (!FAILED_CALL.test(ended)) {
    const dropReason =
      ended === 'aborted' ? 'the program called abort' : `the program called abort: ${ended}`;
    return { ...NONE, success: true, dropped: true, dropReason, diagnostics };
  }
  if (/not supported in WebAssembly/.test(ended)) {
    const names = [...new Set(callsThatCannotRun(view.text).map(({ name }) => name))];
    const what = names.length > 0 ? names.join(', ') : 'a function of this program';
    return { ...NONE, error: `${what} cannot run here; it works on the nodes`, diagnostics };
  }
  const at = CALL_SPAN.exec(ended);
  if (!at) return { ...NONE, error: ended, diagnostics };
  const where = positionOf(source, view, spanOf(view, [Number(at[1]), Number(at[2])]));
  const error = ended.replaceAll(new RegExp(CALL_SPAN, 'g'), (_, start: string, end: string) => {
    const { line, column } = positionOf(source, view, spanOf(view, [Number(start), Number(end)]));
    return ` at line ${line}, column ${column}`;
  });
  const found: VrlDiagnostic = {
    severity: 'error',
    code: null,
    message: ended.replace(CALL_SPAN, ''),
    ...where,
    hint: 'handle the failure, as in `value, err = f(…)` or `f(…) ?? other`; in a pipeline, drop_on_error says what becomes of the event',
  };
  return { ...NONE, error, diagnostics: [found, ...diagnostics].slice(0, MAX_DIAGNOSTICS) };
}
