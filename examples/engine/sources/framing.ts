import type { OptionReader } from '../config/option-reader.ts';

/** How bytes are cut into frames, each of which is decoded by itself. */
export type Framing =
  | { method: 'bytes' }
  /** `delimiter` is one byte; a frame longer than `maxLength` bytes is left out. */
  | { method: 'delimited'; delimiter: number; maxLength: number | undefined };

const LINE_FEED = 10;
export const LINES: Framing = { method: 'delimited', delimiter: LINE_FEED, maxLength: undefined };

/** Reads `framing: {method}`. */
export function readFraming(options: OptionReader): Framing | undefined {
  if (!options.has('framing')) return undefined;
  const framing = options.nested('framing');
  framing.unsupported('chunked_gelf', 'length_delimited', 'octet_counting', 'max_frame_length');
  const method = framing.oneOf('method', ['bytes', 'character_delimited', 'newline_delimited']);
  const details = framing.nested(method);
  let read: Framing = { method: 'bytes' };
  if (method !== 'bytes') {
    const delimiter = method === 'newline_delimited' ? '\n' : details.requiredString('delimiter');
    if (delimiter.length !== 1 || delimiter.charCodeAt(0) > 127) {
      details.fail('`delimiter` must be one ASCII character');
    }
    const maxLength = details.has('max_length') ? details.integer('max_length', 1, 1) : undefined;
    read = { method: 'delimited', delimiter: delimiter.charCodeAt(0), maxLength };
  }
  details.finish();
  framing.finish();
  return read;
}

export interface FramerOptions {
  delimiter: number;
  /** In bytes. No more than this is kept of a frame. */
  maxLength: number;
  /** Called for each frame that is longer; true keeps its beginning. */
  onTooLong(): boolean;
}

/** Cuts a stream of chunks at a delimiter, with bounded memory. */
export class Framer {
  readonly #options: FramerOptions;
  #pieces: Buffer[] = [];
  #length = 0;
  #tooLong = false;

  constructor(options: FramerOptions) {
    this.#options = options;
  }

  /** The frames that this chunk completes, without their delimiters. */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(this.#options.delimiter, start);
      if (end === -1) break;
      this.#take(chunk.subarray(start, end));
      this.#finish(frames);
      start = end + 1;
    }
    this.#take(chunk.subarray(start));
    return frames;
  }

  /** What follows the last delimiter, if anything does. */
  end(): Buffer[] {
    const frames: Buffer[] = [];
    if (this.#length > 0 || this.#tooLong) this.#finish(frames);
    return frames;
  }

  #take(bytes: Buffer): void {
    const room = this.#options.maxLength - this.#length;
    if (bytes.length > room) this.#tooLong = true;
    const kept = bytes.subarray(0, room);
    if (kept.length === 0) return;
    this.#pieces.push(kept);
    this.#length += kept.length;
  }

  #finish(frames: Buffer[]): void {
    if (!this.#tooLong || this.#options.onTooLong()) frames.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#length = 0;
    this.#tooLong = false;
  }
}
