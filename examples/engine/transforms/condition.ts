import type { ComponentContext, Globals } from '../component.ts';
import { defaulted, type Hints, required, table } from '../config/options.ts';
import { either, refined, text, variants } from '../config/shape.ts';
import type { LogEvent } from '../event.ts';
import type { VrlProgram, VrlSource } from '../vrl/program.ts';

const written = table(
  {
    type: defaulted(
      variants({ vrl: 'A VRL program.' }, ['datadog_search', 'is_log', 'is_metric', 'is_trace']),
      'vrl',
      'The language of the condition.',
    ),
    source: required(text, 'The program. Its result must be a boolean.', {
      syntax: 'remap_boolean_expression',
    }),
  },
  { ignoresUnknown: true },
);

/** The VRL text of a condition, which may be written as such or as `{type: vrl, source}`. */
export const condition = refined(
  either(text, written, 'vector::conditions::AnyCondition'),
  (value): string => (typeof value === 'string' ? value : value.source),
);

export const CONDITION_HINTS: Hints = {
  syntax: 'remap_boolean_expression',
  examples: ['.status == 500', { type: 'vrl', source: '.status_code != 200' }],
};

export function conditionSource(text: string, { logSchema }: Globals): VrlSource {
  return { text, purpose: 'condition', timestampKey: logSchema.timestamp };
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
