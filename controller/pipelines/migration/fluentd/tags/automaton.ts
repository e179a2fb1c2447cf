/**
 * Automata over tags: small enough to decide whether all, some or no tags of a set match a pattern. No pattern from outside
 * becomes a regular expression of this process.
 */
export type Node =
  | { char: string }
  /** `any`: any text. `part`: any text without a dot. */
  | { repeat: 'any' | 'part' }
  | { sequence: readonly Node[] }
  | { either: readonly Node[] };

type Label = { char: string } | 'any' | 'part';

export class Automaton {
  /** Characters that the pattern names; all others are alike to it. */
  readonly chars = new Set<string>(['.']);
  readonly #empty: number[][] = [];
  readonly #steps: { label: Label; to: number }[][] = [];
  readonly #end: number;
  readonly start: readonly number[];

  constructor(node: Node) {
    const start = this.#state();
    this.#end = this.#build(node, start);
    this.start = this.#closure([start]);
  }

  /** How many states there are. */
  get size(): number {
    return this.#steps.length;
  }

  accepts(states: readonly number[]): boolean {
    return states.includes(this.#end);
  }

  next(states: readonly number[], char: string): readonly number[] {
    const reached: number[] = [];
    for (const state of states) {
      for (const { label, to } of this.#steps[state] ?? []) {
        const fits = label === 'any' || (label === 'part' ? char !== '.' : label.char === char);
        if (fits && !reached.includes(to)) reached.push(to);
      }
    }
    return this.#closure(reached);
  }

  matches(text: string): boolean {
    let states = this.start;
    for (const char of text) states = this.next(states, char);
    return this.accepts(states);
  }

  #state(): number {
    this.#empty.push([]);
    this.#steps.push([]);
    return this.#steps.length - 1;
  }

  /** Returns the state in which the node ends. */
  #build(node: Node, from: number): number {
    if ('char' in node) {
      const to = this.#state();
      this.chars.add(node.char);
      this.#steps[from]?.push({ label: { char: node.char }, to });
      return to;
    }
    if ('repeat' in node) {
      const loop = this.#state();
      this.#empty[from]?.push(loop);
      this.#steps[loop]?.push({ label: node.repeat, to: loop });
      return loop;
    }
    if ('sequence' in node) return node.sequence.reduce((at, item) => this.#build(item, at), from);
    const end = this.#state();
    for (const item of node.either) {
      const begin = this.#state();
      this.#empty[from]?.push(begin);
      this.#empty[this.#build(item, begin)]?.push(end);
    }
    return end;
  }

  #closure(states: readonly number[]): readonly number[] {
    const reached = [...states];
    for (let at = 0; at < reached.length; at += 1) {
      for (const to of this.#empty[reached[at] ?? 0] ?? []) if (!reached.includes(to)) reached.push(to);
    }
    return reached.sort((a, b) => a - b);
  }
}
