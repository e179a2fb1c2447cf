/** `grep`: lets events pass whose fields match. */
import type { Section } from '../../section/section.ts';
import { translateRegexp } from '../../text/regexp.ts';
import { accessorPath, vrlPath, vrlRegexp } from '../../text/vrl.ts';
import type { Draft } from '../draft.ts';

/** A field as text, as Fluentd compares it: what is missing is an empty text. */
const fieldText = (key: string): string => `(to_string(${vrlPath(accessorPath(key))}) ?? "")`;

export function grepRule(section: Section, draft: Draft): void {
  const include = [
    ...conditions(section.children('regexp'), draft),
    ...numbered(section, 'regexp', draft),
    ...legacy(section, 'input_key', 'regexp', draft),
  ];
  const exclude = [
    ...conditions(section.children('exclude'), draft),
    ...numbered(section, 'exclude', draft),
    ...legacy(section, 'input_key', 'exclude', draft),
  ];
  for (const group of section.children('and', 'or')) {
    const operator = group.directive.name === 'and' ? ' && ' : ' || ';
    const inside = conditions(group.children('regexp'), draft);
    const outside = conditions(group.children('exclude'), draft);
    if (inside.length > 0) include.push(`(${inside.join(operator)})`);
    if (outside.length > 0) exclude.push(`(${outside.join(operator)})`);
  }
  const parts = [...include, ...exclude.map((condition) => `!${condition}`)];
  if (parts.length === 0) {
    if (!draft.isOpen) draft.open('There is no condition.', section.line);
    return;
  }
  draft.add({ name: '', kind: 'TRANSFORM', type: 'filter', config: { condition: parts.join(' && ') } });
}

function conditions(sections: readonly Section[], draft: Draft): string[] {
  return sections.flatMap((section) => {
    const key = section.plain('key');
    const pattern = section.plain('pattern');
    if (key === undefined || pattern === undefined) {
      draft.open('A condition needs key and pattern.', section.line);
      return [];
    }
    return condition(key, pattern, section.lineOf('pattern'), draft);
  });
}

/** `regexp1 key pattern`, up to 20. */
function numbered(section: Section, name: string, draft: Draft): string[] {
  return Array.from({ length: 20 }, (_, at) => `${name}${at + 1}`).flatMap((key) => {
    const value = section.plain(key);
    if (value === undefined) return [];
    const blank = value.indexOf(' ');
    return condition(value.slice(0, blank), value.slice(blank + 1), section.lineOf(key), draft);
  });
}

function legacy(section: Section, keyName: string, name: string, draft: Draft): string[] {
  const key = section.plain(keyName);
  const pattern = key === undefined ? undefined : section.plain(name);
  return key === undefined || pattern === undefined
    ? []
    : condition(key, pattern, section.lineOf(name), draft);
}

function condition(key: string, pattern: string, line: number, draft: Draft): string[] {
  const translated = translateRegexp(pattern);
  if ('problem' in translated) {
    draft.open(
      `The pattern for ${key} has ${translated.problem}, which VRL has no counterpart for; write it otherwise.`,
      line,
    );
    return [];
  }
  return [`match(${fieldText(key)}, ${vrlRegexp(translated.source)})`];
}
