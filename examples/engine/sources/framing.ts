import { defaulted, optional, required, table, tagged } from '../config/options.ts';
import { refusal } from '../config/refusals.ts';
import { integer, refined, text } from '../config/shape.ts';

/** How bytes are cut into frames, each of which is decoded by itself. */
export type Framing =
  | { method: 'bytes' }
  /** `delimiter` is one byte; a frame longer than `maxLength` bytes is left out. */
  | { method: 'delimited'; delimiter: number; maxLength: number | undefined };

const LINE_FEED = 10;
export const LINES = { method: 'delimited', delimiter: LINE_FEED, maxLength: undefined } satisfies Framing;

/** A text of one byte. */
export const delimiter = refined(text, (value, { path }) => {
  if (value.length === 1 && value.charCodeAt(0) <= 127) return value;
  throw refusal('`delimiter` must be one ASCII character', path);
});

const maxLength = optional(integer({ minimum: 1 }), 'Longer frames are left out.', { unit: 'bytes' });

const methods = tagged(
  'method',
  {
    bytes: { about: 'What arrives together is one frame.', options: {} },
    newline_delimited: {
      about: 'A line is a frame.',
      options: {
        newline_delimited: defaulted(
          table({ max_length: maxLength }, { ignoresUnknown: true }),
          {},
          'Details of this method.',
        ),
      },
    },
    character_delimited: {
      about: 'A frame ends at a character.',
      options: {
        character_delimited: required(
          table(
            {
              delimiter: required(delimiter, 'The character that ends a frame.', { examples: [',', '|'] }),
              max_length: maxLength,
            },
            { ignoresUnknown: true },
          ),
          'Details of this method.',
        ),
      },
    },
  },
  {
    about: 'How bytes are cut into frames.',
    name: 'codecs::decoding::FramingConfig',
    ignoresUnknown: true,
    lacking: ['chunked_gelf', 'length_delimited', 'octet_counting', 'max_frame_length'],
    lackingCases: ['chunked_gelf', 'length_delimited', 'octet_counting', 'varint_length_delimited'],
  },
);

export const framing = optional(
  refined(methods, (read): Framing => {
    if (read.method === 'bytes') return { method: 'bytes' };
    if (read.method === 'newline_delimited') {
      return { ...LINES, maxLength: read.newline_delimited.max_length };
    }
    const { delimiter: end, max_length: maxLength } = read.character_delimited;
    return { method: 'delimited', delimiter: end.charCodeAt(0), maxLength };
  }),
  'How bytes are cut into frames, each of which is decoded by itself.',
);

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
