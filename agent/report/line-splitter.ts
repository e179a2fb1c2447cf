import { LIMITS } from '../limits.ts';

/** Raw bytes kept of one line: more than the characters that are shown, so that a secret at the cut is seen whole. */
const LINE_BYTES = LIMITS.logLineChars * 5;

export type OnLine = (line: string, cut: boolean) => void;

/**
 * Cuts a byte stream into lines with bounded memory. The rest of a line that is too long is dropped up to its end. Of
 * one chunk only the last 500 lines are decoded, since no more are kept: an engine that floods costs little.
 */
export class LineSplitter {
  readonly #onLine: OnLine;
  readonly #lineBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #cut = false;

  /** `lineBytes` are kept of one line. */
  constructor(onLine: OnLine, lineBytes: number = LINE_BYTES) {
    this.#onLine = onLine;
    this.#lineBytes = lineBytes;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    const first = chunk.indexOf(10);
    if (first === -1) {
      this.#keep(chunk);
      return;
    }
    this.#keep(chunk.subarray(0, first));
    this.#emit();
    start = Math.max(first + 1, lastLinesStart(chunk));
    for (let end = chunk.indexOf(10, start); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#emit();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** The stream has ended: what is left is a line too. */
  end(): void {
    if (this.#bytes > 0) this.#emit();
  }

  #keep(part: Uint8Array): void {
    const room = this.#lineBytes - this.#bytes;
    if (part.length > room) this.#cut = true;
    if (part.length === 0 || room <= 0) return;
    // A copy: the runtime may reuse the chunk, and a view would hold all of it.
    const kept = part.slice(0, room);
    this.#parts.push(kept);
    this.#bytes += kept.length;
  }

  #emit(): void {
    let line = Buffer.concat(this.#parts).toString('utf8');
    if (line.endsWith('\r')) line = line.slice(0, -1);
    const cut = this.#cut;
    this.#parts = [];
    this.#bytes = 0;
    this.#cut = false;
    if (line !== '') this.#onLine(line, cut);
  }
}

/** Where the last 500 whole lines of the chunk begin. */
function lastLinesStart(chunk: Uint8Array): number {
  let at = chunk.lastIndexOf(10);
  for (let lines = 0; lines < LIMITS.logRingLines && at > 0; lines += 1) at = chunk.lastIndexOf(10, at - 1);
  return at + 1;
}
