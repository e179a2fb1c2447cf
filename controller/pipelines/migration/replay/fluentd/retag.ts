/** fluent-plugin-rewrite-tag-filter: an event goes back to the beginning under another tag. */
import type { ConfigDirective } from '../../fluentd/config-tree.ts';
import { type FluentdEvent, NotInterpreted, textOf } from './event.ts';
import { accessorOf, boolParam, textParam } from './read-params.ts';
import { toRegExp } from './ruby-regexp.ts';

interface Rule {
  get(record: FluentdEvent['record']): unknown;
  regexp: RegExp;
  inverts: boolean;
  tag: string;
}

/** The new tag, with the `@label` of its rule. Null where no rule matches: the event ends there. */
export function createRetagger(directive: ConfigDirective): (event: FluentdEvent) => string | null {
  const rules = [
    ...directive.children.filter(({ name }) => name === 'rule').map(ruleOf),
    ...olderRules(directive),
  ];
  const prefix = textParam(directive, 'remove_tag_prefix');
  const hostname = textParam(directive, 'hostname_command');
  if (hostname !== null) throw new NotInterpreted('hostname_command');
  return ({ tag, record }) => {
    const short =
      prefix !== null && tag.startsWith(prefix) ? tag.slice(prefix.length).replace(/^\./, '') : tag;
    for (const rule of rules) {
      const value = textOf(rule.get(record));
      if (value === '' && !rule.inverts) continue;
      const match = rule.regexp.exec(value);
      if (rule.inverts === (match !== null)) continue;
      const renamed = tagOf(rule.tag, short, match);
      return renamed === tag ? null : renamed;
    }
    return null;
  };
}

function ruleOf(section: ConfigDirective): Rule {
  const [key, pattern, tag] = ['key', 'pattern', 'tag'].map((name) => textParam(section, name));
  if (!key || !pattern || !tag) throw new NotInterpreted('<rule> without its key, pattern or tag');
  if (textParam(section, '@label') !== null) throw new NotInterpreted('a rule with a label of its own');
  return {
    get: accessorOf(key).get,
    regexp: toRegExp(pattern),
    inverts: boolParam(section, 'invert', false),
    tag,
  };
}

/** `rewriterule1 key pattern tag`; `!` before the pattern inverts it. */
function olderRules({ params }: ConfigDirective): Rule[] {
  return params
    .filter(({ key }) => /^rewriterule\d+$/.test(key))
    .sort((a, b) => Number(a.key.slice(11)) - Number(b.key.slice(11)))
    .map(({ value }) => {
      const [key = '', pattern = '', tag = ''] = value.trim().split(/\s+/);
      const inverts = pattern.startsWith('!');
      return {
        get: accessorOf(key).get,
        regexp: toRegExp(inverts ? pattern.slice(1) : pattern),
        inverts,
        tag,
      };
    });
}

function tagOf(template: string, tag: string, match: RegExpExecArray | null): string {
  const parts = tag.split('.');
  return template.replaceAll(
    /\$\{(tag|hostname|tag_parts\[(-?\d+)\])\}|__(TAG|HOSTNAME)__|__TAG_PARTS\[(-?\d+)\]__|\$(\d)/g,
    (_, name?: string, index?: string, old?: string, oldIndex?: string, group?: string) => {
      if (group !== undefined) return match?.[Number(group)] ?? '';
      if (name === 'hostname' || old === 'HOSTNAME')
        throw new NotInterpreted('the name of a machine in a tag');
      const at = index ?? oldIndex;
      return at === undefined ? tag : (parts.at(Number(at)) ?? '');
    },
  );
}
