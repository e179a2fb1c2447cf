import type { CompilationDiagnostic } from '@bpinternal/verel';
import { type LogEvent, Timestamp } from '../event.ts';
import { diagnosticText } from './diagnostic-text.ts';
import { findEventChange } from './event-change.ts';
import { findUnavailableCall } from './functions.ts';

export interface VrlSource {
  text: string;
  /** A condition is met where it resolves to true, and by no other value; a program changes the event. */
  purpose: 'program' | 'condition';
  /** The event's time field, which VRL must see as a time and not as a string. */
  timestampKey: string;
}

export type VrlOutcome =
  | { type: 'done'; event: unknown; result: unknown }
  | { type: 'abort'; message: string }
  | { type: 'error'; message: string };

export interface VrlProgram {
  run(event: LogEvent): VrlOutcome;
}

export type Verel = typeof import('@bpinternal/verel');

/** Loads VRL: about 0.1 s and 100 MB, so only where a component needs it. */
export async function loadVerel(): Promise<Verel> {
  return (await import('@bpinternal/verel/dist/node/index.js')).default;
}

/** The compiler's errors as text, empty if the source is good. */
export function compileErrors(verel: Verel, source: VrlSource): string[] {
  const unavailable = findUnavailableCall(source.text);
  if (unavailable) {
    const bytesBefore = Buffer.byteLength(source.text.slice(0, unavailable.start));
    return [
      render(source, {
        message: 'call to undefined function',
        code: 105,
        severity: 'error',
        labels: [
          {
            message: `function "${unavailable.name}" is not available in headgate-engine`,
            primary: true,
            span: [bytesBefore, bytesBefore + unavailable.end - unavailable.start],
          },
        ],
        notes: [],
      }),
    ];
  }
  try {
    const { errors } = verel.check(source.text);
    if (errors.length > 0) return errors.map((error) => render(source, error));
    return source.purpose === 'condition' ? conditionErrors(verel, source) : [];
  } catch (error) {
    return [`error: the VRL compiler stopped: ${firstLine(error)}`];
  }
}

/** What is wrong with a condition beside what is wrong with any program. */
function conditionErrors(verel: Verel, source: VrlSource): string[] {
  const change = findEventChange(source.text);
  if (change) {
    const start = Buffer.byteLength(source.text.slice(0, change.start));
    const span: [number, number] = [
      start,
      start + Buffer.byteLength(source.text.slice(change.start, change.end)),
    ];
    return [
      render(source, {
        message: 'mutation of read-only value',
        code: 315,
        severity: 'error',
        labels: [{ message: 'the event cannot be changed in a condition', primary: true, span }],
        notes: [],
      }),
    ];
  }
  // What is no boolean for the compiler is refused where only a boolean may stand.
  const { errors } = verel.check(`if {\n${source.text}\n} { true }`);
  return errors.some(({ code }) => code === 102) ? ['VRL conditions must return a boolean.'] : [];
}

function render(source: VrlSource, diagnostic: CompilationDiagnostic): string {
  return diagnosticText(diagnostic, source.text);
}

// The Z form that VRL renders times in.
const RFC3339_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/**
 * A source that compiled, ready to run. VRL in WebAssembly takes and gives JSON values, where times are strings:
 * a program that names the time field gets it parsed first, and the field becomes a time again afterwards.
 */
export function createProgram(verel: Verel, source: VrlSource): VrlProgram {
  const key = source.timestampKey;
  const path = `."${key}"`;
  const prelude = source.text.includes(key) ? `${path} = parse_timestamp(${path}, "%+") ?? ${path}\n` : '';
  const withTime = prelude + source.text;
  return {
    run(event) {
      const time = event[key];
      const hasTime = time instanceof Timestamp;
      try {
        const outcome = verel.execute(
          hasTime ? withTime : source.text,
          hasTime ? { ...event, [key]: time.text } : event,
        );
        if (hasTime) restoreTimes(outcome.event, key);
        return { type: 'done', event: outcome.event, result: outcome.result };
      } catch (error) {
        return failure(error);
      }
    },
  };
}

function restoreTimes(event: unknown, key: string): void {
  if (Array.isArray(event)) {
    for (const item of event) restoreTimes(item, key);
    return;
  }
  if (typeof event !== 'object' || event === null) return;
  const table = event as LogEvent;
  const text = table[key];
  if (typeof text === 'string' && RFC3339_UTC.test(text)) table[key] = new Timestamp(text);
}

// Both an abort and a failed call arrive as an exception `Termination;\n<text>`. Only calls can fail at run time
// (everything else must be handled to compile) and these say so; `not supported` comes from WebAssembly.
const FAILED_CALL = /^function call error|not supported in WebAssembly/;

function failure(error: unknown): VrlOutcome {
  const text = error instanceof Error ? error.message : String(error);
  const termination = /^Termination;\n([\s\S]*)$/.exec(text)?.[1];
  if (termination === undefined) return { type: 'error', message: firstLine(error) };
  return { type: FAILED_CALL.test(termination) ? 'error' : 'abort', message: termination.slice(0, 1000) };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0]!.slice(0, 500);
}
