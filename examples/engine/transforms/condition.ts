import type { ComponentContext, Globals } from '../component.ts';
import { isTable, OptionReader } from '../config/option-reader.ts';
import type { LogEvent } from '../event.ts';
import type { VrlProgram, VrlSource } from '../vrl/program.ts';

/** Reads a condition: a VRL text, or `{type: vrl, source}`. */
export function readCondition(value: unknown, path: string, globals: Globals): VrlSource {
  const timestampKey = globals.logSchema.timestamp;
  if (typeof value === 'string') return { text: value, purpose: 'condition', timestampKey };
  const options = new OptionReader(isTable(value) ? value : undefined, path);
  options.oneOf('type', ['vrl'], 'vrl');
  const text = options.requiredString('source');
  options.finish();
  return { text, purpose: 'condition', timestampKey };
}

/** Whether the condition is true for an event. One that fails is not, and is counted as an error. */
export function holds(program: VrlProgram, event: LogEvent, { log, metrics }: ComponentContext): boolean {
  const outcome = program.run(event);
  if (outcome.type === 'done') return outcome.result === true;
  if (outcome.type === 'error') {
    metrics.error('script_failed', 'processing');
    log.limited('error', 'VRL condition execution failed.', { error: outcome.message });
  }
  return false;
}
