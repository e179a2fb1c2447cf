export interface SseMessage {
  event: string;
  data: string;
}

/** The message is over the limit; the stream cannot be used any further. */
export class SseOverflow extends Error {
  override name = 'SseOverflow';
}

const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf];
/** Room for a field's name beside its value. */
const FIELD_NAME_BYTES = 64;

/**
 * Server-sent events from bytes, in chunks cut anywhere: LF, CR and CRLF, a leading byte order mark, comments, data over
 * several lines. A message whose data reaches `limit` bytes throws SseOverflow.
 */
export class SseParser {
  readonly #limit: number;
  readonly #onMessage: (message: SseMessage) => void;
  #line: Uint8Array[] = [];
  #lineBytes = 0;
  #afterCr = false;
  #first = true;
  #event = '';
  #data: string[] = [];
  #dataBytes = 0;

  constructor(limit: number, onMessage: (message: SseMessage) => void) {
    this.#limit = limit;
    this.#onMessage = onMessage;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === LF && this.#afterCr) start = at + 1;
      else if (byte === LF || byte === CR) {
        this.#keep(chunk.subarray(start, at));
        this.#endLine();
        start = at + 1;
      }
      this.#afterCr = byte === CR;
    }
    this.#keep(chunk.subarray(start));
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#lineBytes += part.length;
    if (this.#dataBytes + this.#lineBytes >= this.#limit + FIELD_NAME_BYTES) throw this.#overflow();
    this.#line.push(part.slice());
  }

  #overflow(): SseOverflow {
    return new SseOverflow(`push message of ${this.#limit} bytes or more`);
  }

  #endLine(): void {
    let line = Buffer.concat(this.#line);
    this.#line = [];
    this.#lineBytes = 0;
    if (this.#first && BOM.every((byte, index) => line[index] === byte)) line = line.subarray(BOM.length);
    this.#first = false;
    if (line.length === 0) this.#endMessage();
    else this.#field(line);
  }

  #field(line: Buffer): void {
    const colon = line.indexOf(0x3a);
    const name = line.toString('utf8', 0, colon === -1 ? line.length : colon);
    const from = colon === -1 ? line.length : colon + (line[colon + 1] === 0x20 ? 2 : 1);
    if (name === 'event') this.#event = line.toString('utf8', from);
    if (name !== 'data') return;
    this.#dataBytes += line.length - from + (this.#data.length > 0 ? 1 : 0);
    if (this.#dataBytes >= this.#limit) throw this.#overflow();
    this.#data.push(line.toString('utf8', from));
  }

  #endMessage(): void {
    const message = { event: this.#event || 'message', data: this.#data.join('\n') };
    const complete = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    this.#dataBytes = 0;
    if (complete) this.#onMessage(message);
  }
}
