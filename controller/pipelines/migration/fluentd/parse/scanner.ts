/** Reads a text from its beginning to its end and never goes back, so that parsing takes linear time whatever the text is. */
import type { ConfigProblem } from '../config-tree.ts';

/** More problems than a user reads at once; a hostile text could have one at each character. */
const MAX_PROBLEMS = 200;

export class Scanner {
  readonly text: string;
  pos = 0;
  /** Characters that were looked at. */
  steps = 0;
  readonly problems: ConfigProblem[] = [];
  /** Set where going on makes no sense: a value that never ends, or a limit. */
  isStopped = false;
  readonly #lineStarts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  get isAtEnd(): boolean {
    return this.pos >= this.text.length;
  }

  /** The character `offset` after the current one; empty at the end. */
  peek(offset = 0): string {
    this.steps += 1;
    return this.text[this.pos + offset] ?? '';
  }

  startsWith(word: string): boolean {
    this.steps += word.length;
    return this.text.startsWith(word, this.pos);
  }

  take(): string {
    const char = this.peek();
    this.pos += 1;
    return char;
  }

  skip(word: string): boolean {
    if (!this.startsWith(word)) return false;
    this.pos += word.length;
    return true;
  }

  takeWhile(accepts: (char: string) => boolean): string {
    const start = this.pos;
    while (!this.isAtEnd && accepts(this.peek())) this.pos += 1;
    return this.text.slice(start, this.pos);
  }

  /** Blanks within a line. */
  skipBlanks(): void {
    this.takeWhile((char) => char === ' ' || char === '\t');
  }

  /** To the end of the line, which is not taken. */
  takeLine(): string {
    return this.takeWhile((char) => char !== '\n' && char !== '\r');
  }

  lineAt(pos: number): number {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] ?? 0) <= pos) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  get line(): number {
    return this.lineAt(this.pos);
  }

  report(severity: ConfigProblem['severity'], message: string, pos = this.pos): void {
    if (this.problems.length > MAX_PROBLEMS) return;
    if (this.problems.length === MAX_PROBLEMS) {
      message = `there are more than ${MAX_PROBLEMS} problems; correct these first`;
    }
    const line = this.lineAt(pos);
    const column = pos - (this.#lineStarts[line - 1] ?? 0) + 1;
    this.problems.push({ severity, line, column, message });
  }

  /** Reports an error after which the rest of the text is not read. */
  stop(message: string, pos = this.pos): void {
    this.report('error', message, pos);
    this.isStopped = true;
    this.pos = this.text.length;
  }
}
