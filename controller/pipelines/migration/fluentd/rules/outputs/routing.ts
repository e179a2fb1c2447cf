/** Outputs that send events on: to labels, with other tags, to several targets. */
import { TAG, TAG_TEXT } from '../../event-form.ts';
import type { Section } from '../../section/section.ts';
import type { TagShape } from '../../tags/tag-set.ts';
import { translateRegexp } from '../../text/regexp.ts';
import { accessorPath, stringContent, vrlPath, vrlRegexp, vrlString } from '../../text/vrl.ts';
import { type Draft, INPUT } from '../draft.ts';

export function relabelRule(section: Section, draft: Draft): void {
  const label = section.plain('@label');
  section.ignoreChildren('buffer');
  if (label === undefined) draft.open('@label is missing.', section.line);
  else draft.emissions.push({ from: INPUT, tag: { kind: 'same' }, label });
}

/** The label that an output sends to; null for where it stands. */
const labelOf = (section: Section): string | null => section.plain('@label', 'emit_to_label') ?? null;

/** Each rule has a condition and a tag; the first that is true gives the tag. */
export function rewriteTagRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore('capitalize_regex_backreference', 'hostname_command', 'emit_mode');
  section.ignoreChildren('buffer');
  const rules = [...section.children('rule').map(ruleOf), ...legacyRules(section)];
  const removed = section.plain('remove_tag_prefix');
  const shapes: TagShape[] = [];
  const lines = ['tag = null'];
  const original =
    removed === undefined
      ? TAG_TEXT
      : `replace(${TAG_TEXT}, ${vrlRegexp(`^${escapeRegexp(removed)}\\.`)}, "")`;
  for (const [at, rule] of rules.entries()) {
    const translated = translateRegexp(rule.pattern);
    if ('problem' in translated) {
      draft.open(
        `A rule for ${rule.key} has ${translated.problem}, which VRL has no counterpart for; write it otherwise.`,
        rule.line,
      );
      return;
    }
    const names = numberGroups(translated.source);
    const value = `value_${at + 1}`;
    const tag = newTag(rule.tag, original, value);
    shapes.push(tag.shape);
    const field = `(to_string(${vrlPath(accessorPath(rule.key))}) ?? "")`;
    const test = `match(${field}, ${vrlRegexp(translated.source)})`;
    lines.push(
      `if tag == null && ${rule.invert ? `!${test}` : test} {`,
      ...(tag.usesGroups
        ? [`  ${value} = parse_regex(${field}, ${vrlRegexp(names)}, numeric_groups: true) ?? {}`]
        : []),
      `  tag = ${tag.code}`,
      '}',
    );
  }
  if (rules.length === 0) {
    draft.open('There is no <rule>.', section.line);
    return;
  }
  // What no rule fits is dropped.
  lines.push('if tag == null { abort }', `${TAG} = to_string(tag)`);
  draft.remap(prefix, lines);
  draft.emissions.push({ from: prefix, tag: { kind: 'set', shapes }, label: labelOf(section) });
}

interface TagRule {
  key: string;
  pattern: string;
  tag: string;
  invert: boolean;
  line: number;
}

function ruleOf(rule: Section): TagRule {
  rule.ignore('label');
  return {
    key: rule.plain('key') ?? '',
    pattern: rule.plain('pattern') ?? '',
    tag: rule.plain('tag') ?? '',
    invert: rule.bool('invert', false),
    line: rule.line,
  };
}

/** `rewriterule1 key pattern tag`, as before version 2 of the plugin. */
function legacyRules(section: Section): TagRule[] {
  return section.directive.params.flatMap(({ key, value, line }) => {
    if (!/^rewriterule\d+$/.test(key)) return [];
    section.ignore(key);
    const [field = '', ...rest] = value.split(/\s+/);
    const tag = rest.pop() ?? '';
    const pattern = rest.join(' ');
    const invert = pattern.startsWith('!');
    return [{ key: field, pattern: invert ? pattern.slice(1) : pattern, tag, invert, line }];
  });
}

/** With named groups, numbers count those only; `$1` is the first of either. */
const numberGroups = (source: string): string => source.replace(/\(\?P<[^>]+>/g, '(');

const TAG_PART =
  /\$(?:(\d)|\{(tag|__TAG__|hostname)\}|\{tag_parts\[(-?\d{1,3})\]\})|__TAG_PARTS\[(-?\d{1,3})\]__|__TAG__|__HOSTNAME__/g;

function newTag(
  written: string,
  original: string,
  groups: string,
): { code: string; shape: TagShape; usesGroups: boolean } {
  const parts: string[] = [];
  const shape: (string | null)[] = [];
  let end = 0;
  let usesGroups = false;
  const literal = (text: string) => {
    if (text === '') return;
    parts.push(vrlString(text));
    shape.push(text);
  };
  for (const match of written.matchAll(TAG_PART)) {
    literal(written.slice(end, match.index));
    end = match.index + match[0].length;
    const [all, group, name, part, legacyPart] = match;
    const number = part ?? legacyPart;
    shape.push(null);
    if (group !== undefined) {
      usesGroups = true;
      parts.push(`to_string(${groups}."${group}")`);
    } else if (number !== undefined) parts.push(`to_string(split(${original}, ".")[${number}])`);
    else if (name === 'hostname' || all === '__HOSTNAME__') parts.push('get_hostname!()');
    else parts.push(original);
  }
  literal(written.slice(end));
  return { code: parts.join(' + ') || '""', shape, usesGroups };
}

const escapeRegexp = (text: string): string => text.replace(/[^A-Za-z0-9_]/g, '\\$&');

/** `route`, `retag` and the like: another tag for all. */
export function retagRule(
  section: Section,
  draft: Draft,
  prefix = '',
  from: readonly string[] = [INPUT],
): void {
  const tag = section.plain('tag');
  const add = section.plain('add_prefix', 'add_tag_prefix');
  const remove = section.plain('remove_prefix', 'remove_tag_prefix');
  section.ignore('copy');
  section.ignoreChildren('buffer', 'route');
  if (section.directive.children.some(({ name }) => name === 'route')) {
    draft.open('<route> sections are not translated; write them as a route transform.', section.line);
    return;
  }
  const stripped =
    remove === undefined ? TAG_TEXT : `replace(${TAG_TEXT}, ${vrlRegexp(`^${escapeRegexp(remove)}\\.`)}, "")`;
  const code =
    tag === undefined
      ? `${add === undefined ? '' : `"${stringContent(add)}." + `}${stripped}`
      : newTag(tag, TAG_TEXT, 'groups').code;
  draft.remap(prefix, [`${TAG} = ${code}`], from);
  const shapes: TagShape[] = [
    tag === undefined ? (add === undefined ? [null] : [`${add}.`, null]) : newTag(tag, TAG_TEXT, '').shape,
  ];
  const strips = tag === undefined && add === undefined && remove !== undefined;
  draft.emissions.push({
    from: prefix,
    tag: strips ? { kind: 'strip', prefix: remove } : { kind: 'set', shapes },
    label: labelOf(section),
  });
}

/** Joins the lines of exceptions, and takes a prefix from the tag. */
export function detectExceptionsRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore('languages', 'max_bytes', 'force_line_breaks', 'match_tag');
  section.ignoreChildren('buffer');
  const message = section.plain('message') ?? 'message';
  const stream = section.plain('stream');
  const remove = section.plain('remove_tag_prefix');
  const seconds = section.time('multiline_flush_interval') ?? 1;
  const lines = section.integer('max_lines');
  const text = `(to_string(${vrlPath([message])}) ?? "")`;
  const name = (part: string): string => (prefix === '' ? part : `${prefix}_${part}`);
  if (remove !== undefined)
    draft.remap(name('tag'), [
      `${TAG} = replace(${TAG_TEXT}, ${vrlRegexp(`^${escapeRegexp(remove)}\\.`)}, "")`,
    ]);
  draft.add({
    ...{ name: prefix, kind: 'TRANSFORM', type: 'reduce' },
    config: {
      group_by: ['_fluentd.tag', ...(stream === undefined ? [] : [vrlPath([stream]).slice(1)])],
      // Lines of a trace are indented, or begin as those of Java, Python, Go and Ruby do.
      starts_when: `!match(${text}, r'^(?:\\s+|Caused by:|Suppressed:|\\.\\.\\. [0-9]+ more|Traceback |[A-Za-z_.]+(?:Error|Exception): |goroutine [0-9]+ \\[|created by |\\s*$$)')`,
      merge_strategies: { [message]: 'concat_newline', _fluentd: 'discard' },
      expire_after_ms: Math.max(100, Math.round(seconds * 1000)),
      ...(lines === undefined || lines === 0 ? {} : { max_events: lines }),
    },
    ...(remove === undefined ? {} : { from: [name('tag')] }),
  });
  draft.difference(
    'Traces are found by one expression for all languages, not by the rules of each.',
    section.line,
  );
  draft.emissions.push({
    from: prefix,
    tag: remove === undefined ? { kind: 'same' } : { kind: 'strip', prefix: remove },
    label: labelOf(section),
  });
}
