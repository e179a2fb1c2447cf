import { LIMITS } from '../limits.ts';

/** The last 500 lines of one pipeline, numbered, so that each reader knows what it has had. */
export class LogRing {
  readonly #lines: string[] = [];
  #count = 0;

  push(line: string): void {
    this.#lines[this.#count % LIMITS.logRingLines] = line;
    this.#count += 1;
  }

  /** Lines from number `from` on, oldest first, up to `budget` characters; `next` is the number to go on with. */
  since(from: number, budget: number): { lines: string[]; next: number } {
    let next = Math.max(from, this.#count - LIMITS.logRingLines);
    const lines: string[] = [];
    for (let left = budget; next < this.#count; next += 1) {
      const line = this.#lines[next % LIMITS.logRingLines] ?? '';
      left -= line.length;
      if (left < 0) break;
      lines.push(line);
    }
    return { lines, next };
  }
}
