/** The blocks of a configuration: its directives that have a plugin or settings of their own, in their order. */
import type { MigrationBlock } from '../translation.ts';
import type { ConfigDirective, ConfigTree } from './config-tree.ts';
import { paramOf } from './params.ts';

/** A directive with the directives around it that decide about its events. */
export interface PlacedDirective {
  directive: ConfigDirective;
  kind: MigrationBlock['directive'];
  /** `@NAME`; null outside of labels. */
  label: string | null;
  /** The argument of `<worker>`: `0`, `0-3`. */
  worker: string | null;
}

const KINDS: ReadonlySet<string> = new Set(['source', 'filter', 'match', 'system']);

export function placeDirectives(tree: ConfigTree): PlacedDirective[] {
  const placed: PlacedDirective[] = [];
  const visit = (
    directives: readonly ConfigDirective[],
    label: string | null,
    worker: string | null,
  ): void => {
    for (const directive of directives) {
      if (directive.name === 'label' && label === null) {
        visit(directive.children, directive.argument || '@', worker);
      } else if (directive.name === 'worker' && worker === null) {
        visit(directive.children, label, directive.argument);
      } else {
        const kind = KINDS.has(directive.name) ? (directive.name as PlacedDirective['kind']) : 'unknown';
        placed.push({ directive, kind, label, worker });
      }
    }
  };
  visit(tree.directives, null, null);
  return placed;
}

export function listBlocks(text: string, tree: ConfigTree): MigrationBlock[] {
  const lines = text.split('\n');
  return placeDirectives(tree).map(({ directive, kind, label }, index) => ({
    id: `b${index + 1}`,
    directive: kind,
    plugin: pluginOf(directive),
    pattern: kind === 'filter' || kind === 'match' ? patternOf(directive) : '',
    label,
    text: lines.slice(directive.line - 1, directive.endLine).join('\n'),
    line: directive.line,
    endLine: directive.endLine,
  }));
}

/** A directive without a pattern takes everything. */
export const patternOf = (directive: ConfigDirective): string => directive.argument || '**';

export function pluginOf(directive: ConfigDirective): string | null {
  const type = paramOf(directive, '@type') ?? paramOf(directive, 'type');
  return type === undefined || type.value === '' ? null : type.value;
}
