import { type ComponentContext, component, DEFAULT_OUTPUT, type Transform } from '../component.ts';
import { defaulted, optional } from '../config/options.ts';
import { refusal } from '../config/refusals.ts';
import { integer, number, refined, text } from '../config/shape.ts';
import { type Batch, type LogEvent, logBatch } from '../event.ts';
import { type FieldPath, fieldAt, parseFieldPath, valueText } from '../templates/field-path.ts';
import { Template } from '../templates/template.ts';
import type { VrlProgram } from '../vrl/program.ts';
import { CONDITION_HINTS, condition, conditionSource, holds } from './condition.ts';
import { Recent } from './recent.ts';
import { seahash } from './seahash.ts';

/** Groups are made of values from events: more than this many at a time start over. */
const MAX_GROUPS = 10_000;
const HASHES = 2n ** 64n;

/** How many pass: each `rate`th, or the share `ratio`. */
type Mode = { rate: number } | { ratio: number };

interface SampleOptions {
  mode: Mode;
  keyField: FieldPath | undefined;
  groupBy: Template | undefined;
  rateKey: string;
}

const fieldPath = refined(text, (value, { name, path }) => {
  const field = parseFieldPath(value);
  if (!field) throw refusal(`\`${name}\` must be the path of a field`, path);
  return field;
});

const template = refined(text, (value, { path }) => {
  try {
    return new Template(value);
  } catch (error) {
    throw refusal((error as Error).message, path);
  }
});

const fieldName = refined(text, (value, { name, path }) => {
  if (!/^[\w@]*$/.test(value)) throw refusal(`\`${name}\` must name one top-level field`, path);
  return value;
});

export const sample = component({
  title: 'Sample',
  about: 'Passes one event of `rate`, or the share `ratio` of them.',
  options: {
    rate: optional(
      integer({ minimum: 1 }),
      'Passes one of so many events. Either this or `ratio` is required.',
      {
        examples: [10, 1500],
      },
    ),
    ratio: optional(number({ above: 0, maximum: 1 }), 'Passes this share of the events.', {
      examples: [0.13],
    }),
    key_field: optional(fieldPath, 'Events with the same value of this field all pass, or none does.', {
      examples: ['message'],
    }),
    group_by: optional(template, 'Counts apart for each value of this template.', {
      examples: ['{{ service }}', '{{ hostname }}-{{ service }}'],
    }),
    exclude: optional(condition, 'Events for which this is true always pass.', CONDITION_HINTS),
    sample_rate_key: defaulted(
      fieldName,
      'sample_rate',
      'The field for the rate, in the events that pass. An empty one adds none.',
    ),
  },
  lacking: ['rate_field', 'ratio_field', 'max_groups'],
  configure(values, globals, path): Transform {
    const read: SampleOptions = {
      mode: modeOf(values, path),
      keyField: values.key_field,
      groupBy: values.group_by,
      rateKey: values.sample_rate_key,
    };
    return {
      ports: [DEFAULT_OUTPUT],
      accepts: ['log'],
      programs: values.exclude === undefined ? [] : [conditionSource(values.exclude, globals)],
      start: (context, [program]) => {
        const sampler = new Sampler(read, program, context);
        return (batch) => sampler.process(batch);
      },
    };
  },
});

function modeOf(
  { rate, ratio }: { rate: number | undefined; ratio: number | undefined },
  path: string,
): Mode {
  if (rate !== undefined && ratio !== undefined) {
    throw refusal("Only one value can be provided for either 'rate' or 'ratio', but not both", path);
  }
  if (rate !== undefined) return { rate };
  if (ratio !== undefined) return { ratio };
  throw refusal(
    "Exactly one value must be provided for either 'rate' or 'ratio' to configure static sampling",
    path,
  );
}

class Sampler {
  readonly #options: SampleOptions;
  readonly #exclude: VrlProgram | undefined;
  readonly #context: ComponentContext;
  /** By group, the number of events (`rate`) or the sum of shares since one passed (`ratio`). */
  readonly #groups = new Recent<string | undefined, number>(MAX_GROUPS);
  readonly #label: string;

  constructor(options: SampleOptions, exclude: VrlProgram | undefined, context: ComponentContext) {
    this.#options = options;
    this.#exclude = exclude;
    this.#context = context;
    this.#label = String('rate' in options.mode ? options.mode.rate : options.mode.ratio);
  }

  process(batch: Batch): Map<string, Batch> {
    if (batch.kind !== 'log') return new Map();
    const now = new Date();
    const { rateKey } = this.#options;
    const passed: LogEvent[] = [];
    for (const event of batch.events) {
      if (this.#exclude && holds(this.#exclude, event, this.#context)) passed.push(event);
      else if (this.#takes(event, now)) {
        passed.push(rateKey === '' ? event : { ...event, [rateKey]: this.#label });
      }
    }
    const discarded = batch.events.length - passed.length;
    if (discarded > 0) this.#context.metrics.discarded(discarded, true);
    return new Map([[DEFAULT_OUTPUT, logBatch(passed)]]);
  }

  #takes(event: LogEvent, now: Date): boolean {
    const { keyField } = this.#options;
    // The group counts every event, those that are decided by their key too.
    const isTurn = this.#count(this.#groupOf(event, now));
    const key = keyField && fieldAt(event, keyField);
    return key === undefined ? isTurn : this.#takesKey(valueText(key));
  }

  #takesKey(text: string): boolean {
    const { mode } = this.#options;
    const hash = seahash(text);
    return 'rate' in mode
      ? hash % BigInt(mode.rate) === 0n
      : hash <= BigInt(Math.floor(mode.ratio * Number(HASHES)));
  }

  #count(group: string | undefined): boolean {
    const { mode } = this.#options;
    if ('rate' in mode) {
      const count = this.#groups.get(group) ?? 0;
      this.#groups.set(group, (count + 1) % mode.rate);
      return count === 0;
    }
    const sum = (this.#groups.get(group) ?? 1 - mode.ratio) + mode.ratio;
    this.#groups.set(group, sum >= 1 ? sum - 1 : sum);
    return sum >= 1;
  }

  #groupOf(event: LogEvent, now: Date): string | undefined {
    const { groupBy } = this.#options;
    if (!groupBy) return undefined;
    const group = groupBy.render(event, now);
    if (group === undefined) {
      this.#context.metrics.error('template_failed', 'processing');
      this.#context.log.limited(
        'error',
        'Failed to render template for "group_by": a field is missing; the event is not grouped.',
      );
    }
    return group;
  }
}
