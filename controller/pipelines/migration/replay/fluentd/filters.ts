/** Filters: an event goes in, and an event or nothing comes out. docs.fluentd.org/filter. */
import type { ConfigDirective } from '../../fluentd/config-tree.ts';
import { type FluentdEvent, NotInterpreted, textOf } from './event.ts';
import { createParser, numericTime, parserType } from './parsers.ts';
import { expandValue } from './placeholders.ts';
import { accessorOf, boolParam, listParam, sectionOf, textParam } from './read-params.ts';
import { toRegExp } from './ruby-regexp.ts';

/** Null where the event ends there. */
export type Filter = (event: FluentdEvent) => FluentdEvent | null;

const FILTERS: Readonly<Record<string, (directive: ConfigDirective) => Filter>> = {
  grep: createGrep,
  record_transformer: createTransformer,
  record_modifier: createModifier,
  parser: createParserFilter,
  stdout: () => (event) => event,
};

export function createFilter(directive: ConfigDirective, plugin: string): Filter {
  const create = Object.hasOwn(FILTERS, plugin) ? FILTERS[plugin] : undefined;
  if (!create) throw new NotInterpreted(`the filter ${plugin || '(none)'}`);
  return create(directive);
}

type Test = (record: FluentdEvent['record']) => boolean;

function testOf(section: ConfigDirective): Test {
  const key = textParam(section, 'key');
  const pattern = textParam(section, 'pattern');
  if (key === null || pattern === null)
    throw new NotInterpreted(`<${section.name}> without its key or pattern`);
  return keyTest(key, pattern);
}

function keyTest(key: string, pattern: string): Test {
  const { get } = accessorOf(key);
  const regexp = toRegExp(pattern);
  return (record) => regexp.test(textOf(get(record)));
}

/** Every regexp must match, and no exclude may: docs.fluentd.org/filter/grep. */
function createGrep(directive: ConfigDirective): Filter {
  const keeps: Test[] = [];
  const drops: Test[] = [];
  for (const section of directive.children) {
    if (section.name === 'regexp') keeps.push(testOf(section));
    else if (section.name === 'exclude') drops.push(testOf(section));
    else if (section.name === 'and' || section.name === 'or') {
      const combine = (tests: readonly Test[]): Test =>
        section.name === 'and'
          ? (record) => tests.every((test) => test(record))
          : (record) => tests.some((test) => test(record));
      const inside = (name: string) => section.children.filter((child) => child.name === name).map(testOf);
      const [regexps, excludes] = [inside('regexp'), inside('exclude')];
      if (regexps.length > 0) keeps.push(combine(regexps));
      if (excludes.length > 0) drops.push(combine(excludes));
    }
  }
  // The older form: `regexp1 key pattern`.
  for (const { key, value } of directive.params) {
    const numbered = /^(regexp|exclude)\d+$/.exec(key);
    if (!numbered) continue;
    const [field = '', ...pattern] = value.trim().split(/\s+/);
    (numbered[1] === 'regexp' ? keeps : drops).push(keyTest(field, pattern.join(' ')));
  }
  return (event) =>
    keeps.every((test) => test(event.record)) && !drops.some((test) => test(event.record)) ? event : null;
}

/** The values of `<record>`. One that is written as JSON is a list or an object. */
function recordParams(directive: ConfigDirective): [string, unknown][] {
  return (sectionOf(directive, 'record')?.params ?? []).map(({ key, value, embeddedRuby }) => {
    if (embeddedRuby.length > 0) throw new NotInterpreted(`the value of ${key} holds Ruby`);
    if (!/^[[{]/.test(value.trim())) return [key, value];
    try {
      return [key, JSON.parse(value)];
    } catch {
      return [key, value];
    }
  });
}

function createTransformer(directive: ConfigDirective): Filter {
  const values = recordParams(directive);
  const removed = listParam(directive, 'remove_keys').map(accessorOf);
  const kept = listParam(directive, 'keep_keys');
  const renews = boolParam(directive, 'renew_record', false) || kept.length > 0;
  const casts = boolParam(directive, 'auto_typecast', true);
  const timeKey = textParam(directive, 'renew_time_key');
  return (event) => {
    const before = event.record;
    const record: FluentdEvent['record'] = renews
      ? Object.fromEntries(kept.filter((key) => key in before).map((key) => [key, before[key]]))
      : structuredClone(before);
    for (const [key, value] of values) {
      const expanded = expandValue(value, event);
      record[textOf(expandValue(key, event))] =
        casts || typeof expanded === 'object' ? expanded : textOf(expanded);
    }
    for (const { remove } of removed) remove(record);
    const renewed = timeKey === null ? undefined : record[timeKey];
    const time = renewed === undefined || renewed === null ? event.time : numericTime(renewed, 'float');
    return { ...event, record, time };
  };
}

/** fluent-plugin-record-modifier. */
function createModifier(directive: ConfigDirective): Filter {
  if (directive.children.some(({ name }) => name === 'replace'))
    throw new NotInterpreted('<replace> of record_modifier');
  const values = recordParams(directive);
  const removed = listParam(directive, 'remove_keys');
  const kept = listParam(directive, 'whitelist_keys');
  return (event) => {
    const record = structuredClone(event.record);
    for (const [key, value] of values) record[key] = expandValue(value, event);
    for (const key of removed) delete record[key];
    const shown = Object.entries(record).filter(([key]) => kept.length === 0 || kept.includes(key));
    return { ...event, record: Object.fromEntries(shown) };
  };
}

function createParserFilter(directive: ConfigDirective): Filter {
  const section = sectionOf(directive, 'parse') ?? directive;
  const parse = createParser(section, parserType(section));
  const key = accessorOf(textParam(directive, 'key_name') ?? '');
  const keepsData = boolParam(directive, 'reserve_data', false);
  const keepsTime = boolParam(directive, 'reserve_time', false);
  const removesKey = boolParam(directive, 'remove_key_name_field', false);
  const prefix = textParam(directive, 'inject_key_prefix') ?? '';
  const field = textParam(directive, 'hash_value_field');
  return (event) => {
    const before = structuredClone(event.record);
    const value = key.get(before);
    const parsed = value === undefined || value === null ? null : parse(textOf(value));
    if (!parsed && !keepsData) return null;
    if (parsed && removesKey) key.remove(before);
    const named = Object.fromEntries(
      Object.entries(parsed?.record ?? {}).map(([name, item]) => [`${prefix}${name}`, item]),
    );
    const values = field === null ? named : { [field]: named };
    const time = keepsTime || !parsed?.time ? event.time : parsed.time.at;
    return { ...event, time, record: keepsData ? { ...before, ...values } : values };
  };
}
