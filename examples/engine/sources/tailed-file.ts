import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Checkpoint } from './checkpoints.ts';

const HEAD_BYTES = 256;

export interface Line {
  text: string;
  /** Byte offset of the line's start in the file. */
  offset: number;
}

export interface ReadResult {
  lines: Line[];
  /** Bytes taken from the file, delimiters included. */
  bytes: number;
  /** Lines left out because they are longer than the cap. */
  tooLong: number;
  /** True when nothing was left to read. */
  atEnd: boolean;
  truncated: boolean;
}

/**
 * One open file that is read line by line from a position on. It stays readable after a rename or a delete.
 * `position` only passes whole lines, so what follows the last line break is read again after a restart.
 */
export class TailedFile {
  readonly identity: string;
  path: string;
  readonly #fd: number;
  readonly #delimiter: Buffer;
  readonly #maxLineBytes: number;
  #position = 0;
  #head = '';
  #headLength = 0;
  #partial: Buffer = Buffer.alloc(0);
  #skippingLong = false;

  /** Opens the file; throws as `fs.openSync` does. */
  constructor(path: string, delimiter: string, maxLineBytes: number) {
    this.path = path;
    this.#delimiter = Buffer.from(delimiter);
    this.#maxLineBytes = maxLineBytes;
    this.#fd = openSync(path, 'r');
    const stat = fstatSync(this.#fd);
    this.identity = `${stat.dev}:${stat.ino}`;
  }

  get position(): number {
    return this.#position;
  }

  get size(): number {
    return fstatSync(this.#fd).size;
  }

  /** Goes on at a stored position if this still is the file that it was taken from. */
  resume(checkpoint: Checkpoint): boolean {
    if (checkpoint.position > this.size) return false;
    if (this.#hashHead(checkpoint.headLength) !== checkpoint.head) return false;
    this.#position = checkpoint.position;
    this.#head = checkpoint.head;
    this.#headLength = checkpoint.headLength;
    return true;
  }

  skipToEnd(): void {
    this.#position = this.size;
    this.#rememberHead();
  }

  /** Takes what follows the last line break as a line; for a file that nobody will write to again. */
  takeRest(): Line | undefined {
    if (this.#partial.length === 0) return undefined;
    const line = { text: this.#text(this.#partial), offset: this.#position };
    this.#position += this.#partial.length;
    this.#partial = Buffer.alloc(0);
    return line;
  }

  /** Reads at most `maxBytes` and cuts them into lines. A file that shrank or was rewritten starts over. */
  read(maxBytes: number): ReadResult {
    const result: ReadResult = { lines: [], bytes: 0, tooLong: 0, atEnd: false, truncated: false };
    if (this.#wasRewritten()) {
      result.truncated = true;
      this.#position = 0;
      this.#partial = Buffer.alloc(0);
      this.#headLength = 0;
      this.#skippingLong = false;
    }
    const buffer = Buffer.allocUnsafe(maxBytes);
    const length = readSync(this.#fd, buffer, 0, maxBytes, this.#position + this.#partial.length);
    result.atEnd = length < maxBytes;
    if (length === 0) return result;
    result.bytes = length;
    this.#cut(Buffer.concat([this.#partial, buffer.subarray(0, length)]), result);
    this.#rememberHead();
    return result;
  }

  checkpoint(now: number): Checkpoint {
    return {
      identity: this.identity,
      position: this.#position,
      head: this.#head,
      headLength: this.#headLength,
      seen: now,
    };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #cut(data: Buffer, result: ReadResult): void {
    let start = 0;
    for (;;) {
      const end = data.indexOf(this.#delimiter, start);
      if (end === -1) break;
      if (this.#skippingLong || end - start > this.#maxLineBytes) {
        result.tooLong += 1;
        this.#skippingLong = false;
      } else if (end > start) {
        result.lines.push({ text: this.#text(data.subarray(start, end)), offset: this.#position + start });
      }
      start = end + this.#delimiter.length;
    }
    const rest = data.subarray(start);
    if (rest.length > this.#maxLineBytes) {
      // What is dropped of an endless line is passed over for good, so that memory stays bounded.
      this.#skippingLong = true;
      this.#partial = Buffer.alloc(0);
      this.#position += data.length;
      return;
    }
    this.#partial = Buffer.from(rest);
    this.#position += start;
  }

  #text(bytes: Buffer): string {
    const text = bytes.toString('utf8');
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }

  #wasRewritten(): boolean {
    if (this.size < this.#position + this.#partial.length) return true;
    return this.#headLength > 0 && this.#hashHead(this.#headLength) !== this.#head;
  }

  #rememberHead(): void {
    if (this.#headLength >= HEAD_BYTES) return;
    const length = Math.min(HEAD_BYTES, this.#position);
    if (length === this.#headLength) return;
    this.#head = this.#hashHead(length);
    this.#headLength = length;
  }

  #hashHead(length: number): string {
    if (length === 0) return '';
    const buffer = Buffer.alloc(length);
    const read = readSync(this.#fd, buffer, 0, length, 0);
    return createHash('sha256').update(buffer.subarray(0, read)).digest('base64').slice(0, 22);
  }
}
