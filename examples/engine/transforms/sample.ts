import { type ComponentContext, DEFAULT_OUTPUT, type Globals, type Transform } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { type Batch, type LogEvent, logBatch } from '../event.ts';
import { type FieldPath, fieldAt, parseFieldPath, valueText } from '../field-path.ts';
import { Template } from '../template.ts';
import type { VrlProgram } from '../vrl/program.ts';
import { holds, readCondition } from './condition.ts';
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

/** `sample`: passes one event of `rate`, or the share `ratio`; those that `exclude` is true for always pass. */
export function configureSample(options: OptionReader, globals: Globals): Transform {
  options.unsupported('rate_field', 'ratio_field', 'max_groups');
  const read: SampleOptions = {
    mode: readMode(options),
    keyField: readKeyField(options),
    groupBy: readGroupBy(options),
    rateKey: options.string('sample_rate_key') ?? 'sample_rate',
  };
  if (!/^[\w@]*$/.test(read.rateKey)) options.fail('`sample_rate_key` must name one top-level field');
  const exclude = options.has('exclude')
    ? readCondition(options.raw('exclude'), options.path, globals)
    : undefined;
  options.finish();
  return {
    ports: [DEFAULT_OUTPUT],
    accepts: ['log'],
    programs: exclude ? [exclude] : [],
    start: (context, [program]) => {
      const sampler = new Sampler(read, program, context);
      return (batch) => sampler.process(batch);
    },
  };
}

function readMode(options: OptionReader): Mode {
  const [hasRate, hasRatio] = [options.has('rate'), options.has('ratio')];
  if (hasRate && hasRatio) {
    options.fail("Only one value can be provided for either 'rate' or 'ratio', but not both");
  }
  if (hasRate) return { rate: options.integer('rate', 1, 1) };
  if (!hasRatio) {
    options.fail(
      "Exactly one value must be provided for either 'rate' or 'ratio' to configure static sampling",
    );
  }
  const ratio = options.number('ratio', 1);
  if (ratio <= 0 || ratio > 1) options.fail('`ratio` must be greater than 0 and at most 1');
  return { ratio };
}

function readKeyField(options: OptionReader): FieldPath | undefined {
  const text = options.string('key_field');
  if (text === undefined) return undefined;
  return parseFieldPath(text) ?? options.fail('`key_field` must be the path of a field');
}

function readGroupBy(options: OptionReader): Template | undefined {
  const text = options.string('group_by');
  if (text === undefined) return undefined;
  try {
    return new Template(text);
  } catch (error) {
    return options.fail((error as Error).message);
  }
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
