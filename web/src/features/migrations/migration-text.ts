/** Words, tones and orders of migrations. Pure. */
import type {
  Migration,
  MigrationBlock,
  MigrationNote,
  MigrationStatus,
  SampleLine,
  SampleOutput,
} from '../../../../schemas/api/pipelines/migrations.ts';
import type { IconName } from '../../ui/primitives/icons.tsx';
import type { Tone } from '../../ui/primitives/tone.ts';

interface Look {
  tone: Tone;
  word: string;
}

export const STATUS_LOOK: Readonly<Record<MigrationStatus, Look>> = {
  CREATED: { tone: 'unknown', word: 'Created' },
  PARSED: { tone: 'moving', word: 'Parsed' },
  TRANSLATED: { tone: 'moving', word: 'Translated' },
  VALIDATED: { tone: 'ok', word: 'Validated' },
  GENERATED: { tone: 'ok', word: 'Generated' },
};

type BlockState = 'complete' | 'partial' | 'open' | 'untranslated';
export const BLOCK_LOOK: Readonly<Record<BlockState, Look>> = {
  complete: { tone: 'ok', word: 'Complete' },
  partial: { tone: 'held', word: 'Differs' },
  open: { tone: 'failed', word: 'Open' },
  untranslated: { tone: 'unknown', word: 'Not translated' },
};

export const stateOf = ({ translation }: MigrationBlock): BlockState => translation?.status ?? 'untranslated';

export const NOTE_LOOK: Readonly<Record<MigrationNote['level'], Look & { icon: IconName }>> = {
  action: { tone: 'held', word: 'To do', icon: 'warning' },
  difference: { tone: 'moving', word: 'Differs', icon: 'transform' },
  info: { tone: 'unknown', word: 'Note', icon: 'question' },
};

export const ORIGIN_WORD = { rules: 'by rules', assistant: 'by the assistant', user: 'by hand' } as const;

export const LINE_LOOK: Readonly<Record<SampleLine['verdict'], Look>> = {
  equal: { tone: 'ok', word: 'Equal' },
  different: { tone: 'failed', word: 'Different' },
  unknown: { tone: 'unknown', word: 'Unknown' },
};
export const OUTPUT_LOOK: Readonly<Record<SampleOutput['verdict'], Look>> = {
  equal: { tone: 'ok', word: 'Equal' },
  different: { tone: 'failed', word: 'Different' },
  onlyOriginal: { tone: 'failed', word: 'Only the original' },
  onlyTranslated: { tone: 'failed', word: 'Only the translation' },
};

const ORDER: readonly BlockState[] = ['open', 'untranslated', 'partial', 'complete'];

/** Those that need a user first; the order of the original within each. */
export const inWorkingOrder = (blocks: readonly MigrationBlock[]): MigrationBlock[] =>
  [...blocks].sort((a, b) => rankOf(a) - rankOf(b) || a.line - b.line);

const rankOf = (block: MigrationBlock): number =>
  block.errors.length > 0 ? -1 : ORDER.indexOf(stateOf(block));

/** `<filter app.**>`, with its plugin apart. */
export function blockTitle({ directive, pattern, plugin, text }: MigrationBlock): string {
  const [first = ''] = text.trim().split('\n');
  const opening =
    directive === 'unknown' ? first.trim() : `<${[directive, pattern].filter(Boolean).join(' ')}>`;
  return plugin === null ? opening : `${plugin} ${opening}`;
}

export const linesOf = ({ line, endLine }: { line: number; endLine: number }): string =>
  line === endLine ? `line ${line}` : `lines ${line}–${endLine}`;

export const percent = (confidence: number): string => `${Math.round(confidence * 100)} % sure`;

/** What is to be done before a pipeline is made; empty when nothing is. */
export function obstaclesOf({ blocks, validation }: Migration): string[] {
  const open = blocks.filter((block) => stateOf(block) === 'open').map(({ id }) => id);
  return [
    ...(open.length > 0 ? [`Nothing stands for ${open.slice(0, 10).join(', ')} yet.`] : []),
    ...(validation && !validation.valid ? [`It is not valid: ${validation.errors[0]?.message ?? ''}`] : []),
  ];
}

export type Step = 'blocks' | 'samples' | 'validate' | 'generate';
export const STEPS: readonly { value: Step; word: string }[] = [
  { value: 'blocks', word: '1 Blocks' },
  { value: 'samples', word: '2 Samples' },
  { value: 'validate', word: '3 Validate' },
  { value: 'generate', word: '4 Generate' },
];
