import { ConfigError } from '../config/config-error.ts';
import type { Settings } from '../config/globals.ts';
import { isTable } from '../config/table.ts';
import { type LogEvent, Timestamp } from '../event.ts';
import { compileErrors, createProgram, type Verel } from '../vrl/program.ts';
import type { TestInput } from './definition.ts';

/** The event that a test gives in. Throws ConfigError. */
export function inputEvent(input: TestInput, { globals }: Settings, verel: Verel): LogEvent {
  const { message, timestamp } = globals.logSchema;
  switch (input.type) {
    case 'raw':
      if (input.value === undefined) throw new ConfigError("input type 'raw' requires the field 'value'");
      return { [message]: input.value, [timestamp]: Timestamp.now() };
    case 'log': {
      const { log_fields } = input;
      if (log_fields === undefined) {
        throw new ConfigError("input type 'log' requires the field 'log_fields'");
      }
      const event: LogEvent = { [message]: '', [timestamp]: Timestamp.now() };
      for (const [path, value] of Object.entries(log_fields)) insert(event, path, value);
      return event;
    }
    case 'vrl': {
      const { source } = input;
      if (source === undefined) throw new ConfigError("input type 'vrl' requires the field 'source'");
      const program = { text: source, purpose: 'program' as const, timestampKey: timestamp };
      const errors = compileErrors(verel, program);
      if (errors.length > 0) throw new ConfigError(errors);
      const outcome = createProgram(verel, program).run({});
      if (outcome.type !== 'done') throw new ConfigError(outcome.message);
      return isTable(outcome.event) ? outcome.event : { [message]: outcome.event };
    }
  }
}

/** `a.b` is a field in a field. */
function insert(event: LogEvent, path: string, value: unknown): void {
  const keys = path.replace(/^\./, '').split('.');
  const last = keys.pop()!;
  let at: LogEvent = event;
  for (const key of keys) {
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    const table = isTable(next) ? next : {};
    Object.defineProperty(at, key, { value: table, enumerable: true, configurable: true, writable: true });
    at = table;
  }
  Object.defineProperty(at, last, { value, enumerable: true, configurable: true, writable: true });
}
