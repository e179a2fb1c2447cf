/** Blocks are stored without their lines, which stand in the sealed original alone. */
import type { MigrationBlock } from '../translation.ts';

export type StoredBlock = Omit<MigrationBlock, 'text'>;

export const withoutText = ({ text, ...block }: MigrationBlock): StoredBlock => block;

/** `text` is the original, or its masked form: both have the same lines. */
export function withTexts(text: string, blocks: readonly StoredBlock[]): MigrationBlock[] {
  const lines = text.split('\n');
  return blocks.map((block) => ({ ...block, text: lines.slice(block.line - 1, block.endLine).join('\n') }));
}
