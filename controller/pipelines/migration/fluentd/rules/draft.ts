/** The translation of one block while its rule works on it. */
import type { BlockNote, BlockStatus, TranslatedComponent } from '../../translation.ts';

/** What stands for the events that come to a block, in the inputs of its pieces. */
export const INPUT = '@input';
/** The piece that the block's own name goes to. */
export const MAIN = '';

/** A component whose name is not complete yet: several can come of one block, and one block can be there twice. */
export interface Piece {
  /** Goes behind the block's name; `MAIN` for none. */
  name: string;
  kind: TranslatedComponent['kind'];
  type: string;
  config: Record<string, unknown>;
  /** Names of pieces, with `.port` for named outputs, or `INPUT`. */
  from: readonly string[];
}

/** What tags a block gives to the events that it emits. */
export type TagEffect =
  | { kind: 'same' }
  /** Texts that tags may have, with null for any text: `['foo.', null]`. */
  | { kind: 'set'; shapes: readonly (readonly (string | null)[])[] }
  | { kind: 'strip'; prefix: string };

/** Events that leave an output by another way than its target, and are routed once more. */
export interface Emission {
  /** A piece, with `.port`. */
  from: string;
  tag: TagEffect;
  /** Null: to where the block itself stands. */
  label: string | null;
}

/** How much a difference takes from the confidence of a block. */
export const COSTS = { small: 0.05, medium: 0.15, large: 0.3 } as const;
export type Cost = keyof typeof COSTS;
const LEAST_CONFIDENCE = 0.1;

export class Draft {
  /** The name of the block's main component. */
  readonly key: string;
  readonly pieces: Piece[] = [];
  readonly emissions: Emission[] = [];
  readonly notes: BlockNote[] = [];
  /** The piece that the events of a source or filter leave by; null for outputs. */
  output: string | null = MAIN;
  /** The tags of a source's events. */
  tags: readonly (readonly (string | null)[])[] = [[null]];
  isOpen = false;
  #confidence = 1;
  #hasDifference = false;
  /** Names of secrets, with their lines. */
  readonly #secrets = new Map<string, number>();

  constructor(key: string) {
    this.key = key;
  }

  get status(): BlockStatus {
    if (this.isOpen) return 'open';
    return this.#hasDifference ? 'partial' : 'complete';
  }

  get confidence(): number {
    if (this.isOpen) return 0;
    return Math.round(Math.max(LEAST_CONFIDENCE, this.#confidence) * 100) / 100;
  }

  add(piece: Omit<Piece, 'from'> & { from?: readonly string[] }): void {
    this.pieces.push({ from: piece.kind === 'SOURCE' ? [] : [INPUT], ...piece });
  }

  remap(name: string, lines: readonly string[], from: readonly string[] = [INPUT]): void {
    this.add({ name, kind: 'TRANSFORM', type: 'remap', config: remapConfig(lines), from });
  }

  info(message: string, line: number | null = null): void {
    this.#note('info', message, line);
  }

  /** The translation behaves otherwise than the original. */
  difference(message: string, line: number | null = null, cost: Cost = 'medium'): void {
    if (this.#note('difference', message, line)) this.#confidence -= COSTS[cost];
    this.#hasDifference = true;
  }

  /** A user has to do something before the translation works. */
  action(message: string, line: number | null = null): void {
    this.#note('action', message, line);
  }

  /** Nothing stands for the block. */
  open(message: string, line: number | null = null): void {
    this.#note('action', message, line);
    this.isOpen = true;
  }

  /** One name for each place: the targets of a copy have credentials of their own. */
  claimSecret(wanted: string, line: number): string {
    let name = wanted;
    for (let number = 2; this.#secrets.has(name) && this.#secrets.get(name) !== line; number += 1)
      name = `${wanted}-${number}`;
    this.#secrets.set(name, line);
    return name;
  }

  #note(level: BlockNote['level'], message: string, line: number | null): boolean {
    if (this.notes.some((note) => note.level === level && note.message === message)) return false;
    this.notes.push({ level, message, line });
    return true;
  }
}

/** An event on which a program fails is dropped, as Fluentd does with an event on which a filter fails. */
export const remapConfig = (lines: readonly string[]): Record<string, unknown> => ({
  drop_on_error: true,
  source: `${lines.join('\n')}\n`,
});
