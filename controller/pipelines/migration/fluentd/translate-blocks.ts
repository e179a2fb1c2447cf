/** Translates blocks by rules, and connects them as Fluentd routes events. */
import type { BlockTranslation, MigrationBlock, TranslatedComponent } from '../translation.ts';
import type { ConfigTree } from './config-tree.ts';
import { type PlacedDirective, patternOf, placeDirectives } from './list-blocks.ts';
import { paramOf } from './params.ts';
import { ComponentKeys } from './routing/component-keys.ts';
import { routeEvents } from './routing/route-events.ts';
import { ROOT, type RoutedBlock } from './routing/scopes.ts';
import type { Draft } from './rules/draft.ts';
import { draftOf } from './rules/index.ts';
import { parsePattern, type TagPattern } from './tags/pattern.ts';

/** How a block is connected, for what is to stand for it otherwise. */
export interface BlockConnection {
  blockId: string;
  /** Components that choose the block's events by their tag. They stay whatever the block becomes. */
  routing: readonly TranslatedComponent[];
  /** What the first component of the block reads. */
  inputs: readonly string[];
  /** The keys that other blocks read from this one; its last component has to have one of them. */
  outputs: readonly string[];
}

export function translateBlocks(tree: ConfigTree, blocks: readonly MigrationBlock[]): BlockTranslation[] {
  const { drafts, parts } = route(tree);
  return blocks.map((block): BlockTranslation => {
    const index = indexOf(block);
    const draft = drafts[index];
    if (!draft) return unknownBlock(block);
    return {
      blockId: block.id,
      status: draft.status,
      confidence: draft.confidence,
      origin: 'rules',
      components: parts.get(index)?.components ?? [],
      notes: draft.notes,
    };
  });
}

export function connectBlocks(tree: ConfigTree, blocks: readonly MigrationBlock[]): BlockConnection[] {
  const { parts } = route(tree);
  return blocks.map((block) => {
    const part = parts.get(indexOf(block));
    return {
      blockId: block.id,
      routing: part?.routing ?? [],
      inputs: part?.inputs ?? [],
      outputs: part?.outputs ?? [],
    };
  });
}

/** Ids are numbers of blocks, from 1. */
const indexOf = (block: MigrationBlock): number => Number(block.id.slice(1)) - 1;

function route(tree: ConfigTree) {
  const keys = new ComponentKeys();
  const placed = placeDirectives(tree);
  const drafts = placed.map((directive) => draftOf(directive, keys.forBlock(directive.directive)));
  const routed = placed.flatMap((directive, index) => routedBlock(directive, index, drafts[index]) ?? []);
  return { drafts, parts: routeEvents(routed, (wanted) => keys.claim(wanted)) };
}

function routedBlock(placed: PlacedDirective, index: number, draft: Draft | undefined): RoutedBlock | null {
  const { directive, kind, label } = placed;
  if (!draft || (kind !== 'source' && kind !== 'filter' && kind !== 'match')) return null;
  // A source that has no components and is not open emits nothing.
  if (kind === 'source' && draft.output === null) return null;
  const target = kind === 'source' ? (paramOf(directive, '@label')?.value ?? null) : null;
  return {
    ...{ index, kind, draft, line: directive.line },
    scope: target ?? label ?? ROOT,
    pattern:
      kind === 'source'
        ? parsePattern('**')
        : patternIn(directive.argument, patternOf(directive), draft, directive.line),
  };
}

/** Ruby in a pattern is evaluated when Fluentd starts, with an environment that is not known here. */
function patternIn(argument: string, pattern: string, draft: Draft, line: number): TagPattern {
  if (argument.includes('#{')) {
    draft.open(
      'The tag pattern has Ruby that cannot be evaluated here; write the pattern that it gives.',
      line,
    );
  }
  return parsePattern(pattern);
}

const unknownBlock = (block: MigrationBlock): BlockTranslation => ({
  ...{ blockId: block.id, status: 'open', confidence: 0, origin: 'rules', components: [] },
  notes: [
    { level: 'action', message: 'The block is not in this configuration; read it again.', line: block.line },
  ],
});
