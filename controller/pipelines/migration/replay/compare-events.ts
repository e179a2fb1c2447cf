/** What the same line became on either side, output by output and field by field. Pure. */
import type { SampleDifference, SampleOutput } from '../../../../schemas/api/pipelines/migrations.ts';
import { isRecord } from '../../../platform/text/is-record.ts';

export interface OriginalEvent {
  blockId: string;
  /** The store of a copy. */
  index: number;
  output: string;
  tag: string;
  /** Null where it is not known. */
  time: number | null;
  record: Record<string, unknown>;
  /** Without what the output itself adds. */
  plain: Record<string, unknown>;
  /** Fields that the output adds, with values that are not known: they are not compared. */
  added: readonly string[];
}

export interface TranslatedEvent {
  blockId: string;
  /** The place of the sink among those of its block. */
  index: number;
  output: string;
  /** Null where the event carries none. */
  tag: string | null;
  time: number | null;
  record: Record<string, unknown>;
  /** It is compared with what came to the output. */
  isBeforeText: boolean;
}

const MAX_DIFFERENCES = 100;
const VALUE_CHARS = 2_000;
/** Names of what is no field. */
export const TAG_FIELD = '(tag)';
export const TIME_FIELD = '(time)';

/** Events of one block at one output are paired in their order, and equal ones first. */
export function compareEvents(
  originals: readonly OriginalEvent[],
  translated: readonly TranslatedEvent[],
): SampleOutput[] {
  const rest = [...translated];
  const outputs: SampleOutput[] = [];
  const take = (fits: (event: TranslatedEvent) => boolean): TranslatedEvent | undefined => {
    const at = rest.findIndex(fits);
    return at < 0 ? undefined : rest.splice(at, 1)[0];
  };
  const unpaired: OriginalEvent[] = [];
  for (const original of originals) {
    const equal = take((one) => isSameOutput(original, one) && differencesOf(original, one).length === 0);
    if (equal) outputs.push(paired(original, equal));
    else unpaired.push(original);
  }
  for (const original of unpaired) {
    const other =
      take((one) => isSameOutput(original, one)) ?? take((one) => one.blockId === original.blockId);
    outputs.push(other ? paired(original, other) : { ...lone(original), verdict: 'onlyOriginal' });
  }
  for (const one of rest)
    outputs.push({
      ...{ blockId: one.blockId, original: null, translated: { output: one.output, event: one.record } },
      ...{ verdict: 'onlyTranslated', differences: [] },
    });
  return outputs;
}

const isSameOutput = (original: OriginalEvent, translated: TranslatedEvent): boolean =>
  original.blockId === translated.blockId && original.index === translated.index;

const lone = ({ blockId, output, tag, record }: OriginalEvent) => ({
  ...{ blockId, original: { output, tag, event: record }, translated: null },
  differences: [] as SampleDifference[],
});

function paired(original: OriginalEvent, translated: TranslatedEvent): SampleOutput {
  const differences = differencesOf(original, translated);
  return {
    ...lone(original),
    translated: { output: translated.output, event: translated.record },
    ...{ verdict: differences.length === 0 ? 'equal' : 'different', differences },
  };
}

function differencesOf(original: OriginalEvent, translated: TranslatedEvent): SampleDifference[] {
  const found: SampleDifference[] = [];
  if (translated.tag !== null && translated.tag !== original.tag)
    found.push(difference(TAG_FIELD, original.tag, translated.tag));
  if (original.time !== null && translated.time !== null && !isSameTime(original.time, translated.time))
    found.push(difference(TIME_FIELD, iso(original.time), iso(translated.time)));
  const known = Object.entries(translated.record).filter(([name]) => !original.added.includes(name));
  const before = translated.isBeforeText ? original.plain : original.record;
  compareFields(before, Object.fromEntries(known), '', found);
  return found.slice(0, MAX_DIFFERENCES);
}

/** Either side cuts off what is less than a millisecond in its own way. */
const isSameTime = (one: number, other: number): boolean => Math.abs(one - other) <= 1;

const iso = (time: number): string => new Date(time).toISOString();

const difference = (field: string, original: unknown, translated: unknown): SampleDifference => ({
  field,
  original: textOf(original),
  translated: textOf(translated),
});

const textOf = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value).slice(0, VALUE_CHARS);

function compareFields(
  original: Record<string, unknown>,
  translated: Record<string, unknown>,
  at: string,
  found: SampleDifference[],
): void {
  for (const name of new Set([...Object.keys(original), ...Object.keys(translated)])) {
    if (found.length >= MAX_DIFFERENCES) return;
    const [one, other] = [ownValue(original, name), ownValue(translated, name)];
    const field = at === '' ? name : `${at}.${name}`;
    if (isRecord(one) && isRecord(other)) compareFields(one, other, field, found);
    else if (!isEqual(one, other)) found.push(difference(field, one, other));
  }
}

/** A field may be named as what each object inherits: `constructor`. */
const ownValue = (record: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Times are compared as moments: `…Z` and `…+00:00` are one. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
  if (isRecord(one) && isRecord(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].every((name) => isEqual(ownValue(one, name), ownValue(other, name)));
  }
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  const [a, b] = [momentOf(one), momentOf(other)];
  return a !== null && a === b;
}

const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z| ?[+-]\d{2}:?\d{2})$/;
const momentOf = (text: string): number | null => {
  if (!TIME.test(text)) return null;
  const at = Date.parse(text.replace(' ', 'T').replace(' ', '').replace(',', '.'));
  return Number.isNaN(at) ? null : at;
};
