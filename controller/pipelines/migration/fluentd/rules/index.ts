/** Applies the rule of a plugin to a directive. */
import type { PlacedDirective } from '../list-blocks.ts';
import { pluginOf } from '../list-blocks.ts';
import { Section } from '../section/section.ts';
import { Draft } from './draft.ts';
import { FILTER_RULES } from './filters/index.ts';
import { applyOutput, OUTPUT_RULES } from './outputs/index.ts';
import { PARSERS } from './parsers/index.ts';
import { SOURCE_RULES } from './sources/index.ts';

export const PLUGINS = {
  sources: Object.keys(SOURCE_RULES),
  filters: Object.keys(FILTER_RULES),
  outputs: Object.keys(OUTPUT_RULES),
  parsers: Object.keys(PARSERS),
};

export function draftOf({ directive, kind, worker }: PlacedDirective, key: string): Draft {
  const draft = new Draft(key);
  const section = new Section(directive, draft);
  const plugin = pluginOf(directive) ?? '';
  if (worker !== null)
    draft.info(
      `There are no workers here: what ran in worker ${worker} runs once on each node.`,
      directive.line,
    );
  if (kind === 'match') {
    draft.output = null;
    applyOutput(section, draft);
  } else if (kind === 'source' || kind === 'filter') {
    const rules = kind === 'source' ? SOURCE_RULES : FILTER_RULES;
    const rule = Object.hasOwn(rules, plugin) ? rules[plugin] : undefined;
    if (rule) rule(section, draft);
    else draft.open(`No rule knows the ${kind} ${plugin || 'without @type'}.`, directive.line);
  } else if (kind === 'system') systemRule(section, draft);
  else {
    section.ignoreAll();
    draft.open(`<${directive.name}> is no directive that a rule knows.`, directive.line);
  }
  if (!draft.isOpen) section.noteUnread();
  return draft;
}

function systemRule(section: Section, draft: Draft): void {
  draft.output = null;
  const workers = section.integer('workers') ?? 1;
  section.ignoreAll();
  if (workers > 1)
    draft.info(
      `The engine uses all cores in one process; ${workers} workers are not needed.`,
      section.lineOf('workers'),
    );
  draft.info(
    'Settings of the Fluentd process have no counterpart: log level and drain are settings of the pipeline.',
    section.line,
  );
}
