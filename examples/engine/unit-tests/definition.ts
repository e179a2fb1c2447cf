/** The section `tests` of a configuration. */
import { defaulted, optional, required, table } from '../config/options.ts';
import { anything, either, integer, list, refined, text, variants } from '../config/shape.ts';
import { isTable, type Table } from '../config/table.ts';
import { CONDITION_HINTS, condition } from '../transforms/condition.ts';

const fields = {
  ...refined(anything, (value): Table => (isTable(value) ? value : {})),
  expected: 'a map',
  accepts: isTable,
};

const input = table(
  {
    insert_at: required(text, 'The transform that the event is given to.'),
    type: defaulted(
      variants(
        {
          raw: 'A log event with a message.',
          log: 'A log event with fields.',
          vrl: 'What a VRL program makes of an empty event.',
        },
        ['metric'],
      ),
      'raw',
      'How the event is written.',
    ),
    value: optional(text, 'The message of a `raw` event.'),
    source: optional(text, 'The program of a `vrl` event.', { syntax: 'remap_program' }),
    log_fields: optional(fields, 'The fields of a `log` event, by path.'),
  },
  { lacking: ['metric'] },
);

/** One name, or several. */
const outputs = refined(either(text, list(text, { minItems: 1 })), (value): string[] =>
  typeof value === 'string' ? [value] : value,
);

const output = table({
  extract_from: required(
    outputs,
    'The outputs whose events are looked at, such as `parse` or `split.errors`.',
  ),
  conditions: optional(list(condition), 'Each must be true of at least one event.', CONDITION_HINTS),
  expected_event_count: optional(integer({ minimum: 0 }), 'How many events come out.'),
});

export const UNIT_TEST = {
  name: required(text, 'What the test is called.'),
  input: optional(input, 'The one event that goes in.', { deprecated: 'use `inputs`' }),
  inputs: defaulted(list(input), [], 'The events that go in.'),
  outputs: defaulted(list(output), [], 'What must come out.'),
  no_outputs_from: defaulted(list(text), [], 'Outputs from which nothing may come.'),
};

export const unitTest = table(UNIT_TEST, { name: 'vector::config::TestDefinition' });
export type UnitTest = ReturnType<typeof unitTest.read>;
export type TestInput = UnitTest['inputs'][number];
