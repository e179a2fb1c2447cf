/** The components of one block as its events need them: those that route, and each piece once or once for each round. */
import type { TranslatedComponent } from '../../translation.ts';
import { type Draft, INPUT, MAIN, type Piece } from '../rules/draft.ts';

export class BlockParts {
  /** Components that decide about tags. They stay when a block is translated otherwise. */
  readonly routing: TranslatedComponent[] = [];
  /** Where the block's events come from. */
  readonly inputs: string[] = [];
  readonly #draft: Draft;
  readonly #claimKey: (wanted: string) => string;
  readonly #components = new Map<string, TranslatedComponent & { inputs: string[] }>();
  readonly #keys = new Map<string, string>();
  /** Pieces from which events go on; each round has its own, or the components would form a cycle. */
  readonly #leading: ReadonlySet<string>;
  #instances: number[] = [];

  constructor(draft: Draft, claimKey: (wanted: string) => string) {
    this.#draft = draft;
    this.#claimKey = claimKey;
    this.#leading = leadingPieces(draft);
  }

  get components(): TranslatedComponent[] {
    return this.#draft.isOpen ? this.routing : [...this.routing, ...this.#components.values()];
  }

  /** The keys that later blocks take events from. */
  get outputs(): string[] {
    return this.#instances.flatMap((round) => this.#outputOf(round) ?? []);
  }

  /** Connects the block to these inputs, and returns where its events leave it. */
  instance(inputs: readonly string[], round: number): string[] {
    for (const input of inputs) if (!this.inputs.includes(input)) this.inputs.push(input);
    if (!this.#instances.includes(round)) this.#instances.push(round);
    for (const piece of this.#draft.pieces) {
      const key = this.#keyOf(piece.name, round);
      const component = this.#components.get(key) ?? {
        ...{ componentKey: key, kind: piece.kind, componentType: piece.type },
        ...{ config: piece.config, inputs: [] },
      };
      this.#components.set(key, component);
      for (const input of this.#inputsOf(piece, inputs, round)) {
        if (!component.inputs.includes(input)) component.inputs.push(input);
      }
    }
    return [this.#outputOf(round) ?? []].flat();
  }

  /** What is open has its own name as output, so that whatever comes to stand for it finds its readers. */
  #outputOf(round: number): string | null {
    const { output, isOpen } = this.#draft;
    return output === null ? null : this.#portOf(isOpen ? MAIN : output, round);
  }

  /** The key of a piece from which events are emitted. */
  emittingKey(name: string, round: number): string {
    return this.#portOf(name, round);
  }

  /** Passes on what the condition is true for. */
  select(inputs: readonly string[], condition: string): { matched: string; unmatched: string | null } {
    const componentKey = this.#claimKey(`${this.#draft.key}_select`);
    this.#addRouting(componentKey, 'filter', { condition }, inputs);
    return { matched: componentKey, unmatched: null };
  }

  split(inputs: readonly string[], condition: string): { matched: string; unmatched: string | null } {
    const componentKey = this.#claimKey(`${this.#draft.key}_route`);
    this.#addRouting(componentKey, 'route', { route: { matched: condition } }, inputs);
    return { matched: `${componentKey}.matched`, unmatched: `${componentKey}._unmatched` };
  }

  #addRouting(
    componentKey: string,
    componentType: string,
    config: Record<string, unknown>,
    inputs: readonly string[],
  ): void {
    this.routing.push({
      componentKey,
      kind: 'TRANSFORM',
      componentType,
      config,
      inputs: [...new Set(inputs)],
    });
  }

  #inputsOf(piece: Piece, inputs: readonly string[], round: number): string[] {
    return piece.from.flatMap((from) => (from === INPUT ? inputs : [this.#portOf(from, round)]));
  }

  #portOf(from: string, round: number): string {
    const dot = from.indexOf('.');
    const name = dot < 0 ? from : from.slice(0, dot);
    return `${this.#keyOf(name, round)}${dot < 0 ? '' : from.slice(dot)}`;
  }

  #keyOf(name: string, round: number): string {
    const copy = this.#leading.has(name) ? this.#instances.indexOf(round) : 0;
    const id = `${name}/${Math.max(0, copy)}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const base = copy > 0 ? `${this.#draft.key}_${copy + 1}` : this.#draft.key;
    const wanted = name === MAIN ? base : `${base}_${name}`;
    // The block's own name is claimed when its rule runs.
    const key = wanted === this.#draft.key ? wanted : this.#claimKey(wanted);
    this.#keys.set(id, key);
    return key;
  }
}

/** The pieces that lead to an output of the block. */
function leadingPieces(draft: Draft): Set<string> {
  const nameOf = (from: string) => from.split('.')[0] ?? '';
  const ends = [
    ...(draft.output === null ? [] : [draft.output, MAIN]),
    ...draft.emissions.map(({ from }) => from),
  ];
  const leading = new Set(ends.map(nameOf));
  for (let grown = true; grown; ) {
    grown = false;
    for (const piece of draft.pieces) {
      if (!leading.has(piece.name)) continue;
      for (const from of piece.from) {
        const name = nameOf(from);
        if (from === INPUT || leading.has(name)) continue;
        leading.add(name);
        grown = true;
      }
    }
  }
  return leading;
}
