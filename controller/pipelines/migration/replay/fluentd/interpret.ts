/**
 * Runs lines of text through a configuration as Fluentd would: in the order of its directives, an event passes the filters that
 * match its tag until the first match takes it. docs.fluentd.org/configuration/routing-examples.
 */
import type { ConfigDirective, ConfigTree } from '../../fluentd/config-tree.ts';
import { placeDirectives } from '../../fluentd/list-blocks.ts';
import { type FluentdEvent, NotInterpreted } from './event.ts';
import { createFilter, type Filter } from './filters.ts';
import { boolParam, sectionOf, textParam, typeOf } from './read-params.ts';
import { createRetagger } from './retag.ts';
import { createTagMatcher } from './tag-pattern.ts';
import { createTextSource, readsText } from './text-source.ts';

/** What an output got. `index` counts the stores of a copy. */
export interface Delivered extends FluentdEvent {
  blockId: string;
  index: number;
  output: string;
  /** Without what `<inject>` of the output adds. */
  plain: FluentdEvent['record'];
  /** Fields that the output adds, with values that are not known here. */
  added: readonly string[];
}

export interface OriginalLine {
  delivered: Delivered[];
  unknown: { at: string; reason: string }[];
}

export type OriginalRun =
  | { status: 'done'; blockId: string; tag: string; lines: OriginalLine[] }
  | { status: 'refused'; reason: string };

interface Rule {
  blockId: string;
  kind: 'filter' | 'match';
  directive: ConfigDirective;
  label: string | null;
  /** Lazily: an unknown plugin matters only to events that reach it. */
  matches(tag: string): boolean;
  filter: Filter | null;
}

/** Events that go round in a circle end. */
const MAX_HOPS = 40;
/** Plugins that send events on under other tags or shapes. */
const REROUTING =
  /^(?:record_reformer|route|forest|retag|parser|grep|exec_filter|geoip|concat|round_?robin|detect_exceptions|flowcounter|grepcounter|datacounter|numeric_monitor|sampling_filter|tag_normaliser|key_picker|extract|rewrite|deparser|multi_format|count_\w+)$/;

export interface InterpretRequest {
  lines: readonly string[];
  blockId: string | null;
  tag: string | null;
}

export function interpret(tree: ConfigTree, { lines, blockId, tag }: InterpretRequest): OriginalRun {
  const placed = placeDirectives(tree).map((one, index) => ({ ...one, blockId: `b${index + 1}` }));
  const sources = placed.filter(({ kind }) => kind === 'source');
  const chosen =
    blockId === null
      ? sources.find(({ directive }) => readsText(typeOf(directive)))
      : sources.find((one) => one.blockId === blockId);
  if (!chosen) {
    const what =
      blockId === null
        ? 'The configuration has no source that reads text'
        : `The block ${blockId} is no source`;
    return { status: 'refused', reason: `${what}; samples need one` };
  }
  const rules = placed.flatMap(({ kind, directive, label, blockId: id }): Rule[] =>
    kind === 'filter' || kind === 'match' ? [ruleOf(id, kind, directive, label)] : [],
  );
  try {
    const source = createTextSource(chosen.directive, typeOf(chosen.directive), tag);
    if (!source)
      return {
        status: 'refused',
        reason: 'The events of this source bring their tag; name the one that the samples have',
      };
    const start = textParam(chosen.directive, '@label');
    return {
      ...{ status: 'done', blockId: chosen.blockId, tag: source.tag },
      lines: lines.map((line) => {
        const result: OriginalLine = { delivered: [], unknown: [] };
        guarded(result, chosen.blockId, () => {
          const event = source.read(line);
          if (event) route(rules, event, start, result, 0);
        });
        return result;
      }),
    };
  } catch (error) {
    if (!(error instanceof NotInterpreted)) throw error;
    const unknown = [{ at: chosen.blockId, reason: error.message }];
    return {
      ...{ status: 'done', blockId: chosen.blockId, tag: tag ?? '' },
      lines: lines.map(() => ({ delivered: [], unknown })),
    };
  }
}

function ruleOf(blockId: string, kind: Rule['kind'], directive: ConfigDirective, label: string | null): Rule {
  let matcher: ((tag: string) => boolean) | null = null;
  return {
    ...{ blockId, kind, directive, label, filter: null },
    matches: (tag) => {
      matcher ??= createTagMatcher(directive.argument);
      return matcher(tag);
    },
  };
}

/** What is not known ends the event there, and is reported with the block. */
function guarded(result: OriginalLine, at: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof NotInterpreted)) throw error;
    result.unknown.push({ at, reason: error.message });
  }
}

function route(
  rules: readonly Rule[],
  event: FluentdEvent,
  label: string | null,
  result: OriginalLine,
  hops: number,
): void {
  let current = event;
  for (const rule of rules) {
    if (rule.label !== label) continue;
    let ended = false;
    guarded(result, rule.blockId, () => {
      // Until it is known that the rule does not concern the event, the event ends here.
      ended = true;
      if (!rule.matches(current.tag)) {
        ended = false;
      } else if (rule.kind === 'match') {
        if (hops >= MAX_HOPS) throw new NotInterpreted('the event goes round in a circle');
        output({ rules, result, hops: hops + 1, label }, rule.blockId, rule.directive, current, 0);
      } else {
        rule.filter ??= createFilter(rule.directive, typeOf(rule.directive));
        const filtered = rule.filter(current);
        if (filtered) {
          current = filtered;
          ended = false;
        }
      }
    });
    if (ended) return;
  }
}

interface Routing {
  rules: readonly Rule[];
  result: OriginalLine;
  hops: number;
  label: string | null;
}

function output(
  routing: Routing,
  blockId: string,
  directive: ConfigDirective,
  event: FluentdEvent,
  index: number,
): void {
  const { rules, result, hops } = routing;
  const plugin = typeOf(directive);
  const label = textParam(directive, '@label');
  switch (plugin) {
    case 'null':
      return;
    case 'copy':
      for (const [at, store] of directive.children.filter(({ name }) => name === 'store').entries())
        guarded(result, blockId, () => output(routing, blockId, store, structuredClone(event), at));
      return;
    case 'relabel':
      if (label === null) throw new NotInterpreted('relabel without @label');
      route(rules, event, label, result, hops);
      return;
    case 'rewrite_tag_filter': {
      const tag = createRetagger(directive)(event);
      if (tag !== null) route(rules, { ...event, tag }, label ?? routing.label, result, hops);
      return;
    }
  }
  if (plugin === '') throw new NotInterpreted('an output without @type');
  if (REROUTING.test(plugin)) throw new NotInterpreted(`the output ${plugin}, which sends events on`);
  const { record } = injected(directive, event);
  const added = addedFields(directive, plugin, record);
  result.delivered.push({ ...event, record, plain: event.record, added, blockId, index, output: plugin });
}

const SEARCH = /^(?:elasticsearch|opensearch)(?:_dynamic|_data_stream)?$|^aws-elasticsearch-service$/;

/** The time of the event, in a form of the plugin's. */
function addedFields(directive: ConfigDirective, plugin: string, record: FluentdEvent['record']): string[] {
  const adds =
    SEARCH.test(plugin) &&
    (boolParam(directive, 'logstash_format', false) ||
      boolParam(directive, 'include_timestamp', false) ||
      plugin.endsWith('_data_stream'));
  return adds && !Object.hasOwn(record, '@timestamp') ? ['@timestamp'] : [];
}

/** `<inject>`: what an output adds to records. */
function injected(directive: ConfigDirective, event: FluentdEvent): FluentdEvent {
  const section = sectionOf(directive, 'inject');
  const tagKey = section ? textParam(section, 'tag_key') : null;
  if (
    section &&
    (textParam(section, 'hostname_key') !== null || textParam(section, 'worker_id_key') !== null)
  )
    throw new NotInterpreted('<inject> of what is known on the machine alone');
  if (section && textParam(section, 'time_key') !== null) throw new NotInterpreted('<inject> with time_key');
  if (boolParam(directive, 'include_time_key', false)) throw new NotInterpreted('include_time_key');
  const older = boolParam(directive, 'include_tag_key', false)
    ? (textParam(directive, 'tag_key') ?? 'tag')
    : null;
  const key = tagKey ?? older;
  return key === null ? event : { ...event, record: { ...event.record, [key]: event.tag } };
}
