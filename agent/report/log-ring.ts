import { LIMITS } from '../limits.ts';

/** The last 500 lines of one pipeline, numbered, so that each reader knows what it has had. */
export class LogRing {
  readonly #lines: string[] = [];
  #count = 0;

  push(line: string): void {
    this.#lines[this.#count % LIMITS.logRingLines] = line;
    this.#count += 1;
  }

  /** How many lines there have been; the number of the next one. */
  get count(): number {
    return this.#count;
  }

  /**
   * Lines from number `from` on, oldest first, up to `budget` characters and `most` lines. `next` is the number to go on
   * with; `lost` counts the lines since `from` that are no longer kept.
   */
  since(
    from: number,
    budget: number,
    most: number = LIMITS.logRingLines,
  ): { lines: string[]; next: number; lost: number } {
    const first = Math.max(from, this.#count - LIMITS.logRingLines);
    const end = Math.min(this.#count, first + most);
    const lines: string[] = [];
    let next = first;
    for (let left = budget; next < end; next += 1) {
      const line = this.#lines[next % LIMITS.logRingLines] ?? '';
      left -= line.length;
      if (left < 0) break;
      lines.push(line);
    }
    return { lines, next, lost: first - from };
  }
}
