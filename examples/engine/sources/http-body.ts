import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';

/** A request that is refused, with the status and the text of the answer. */
export class RequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The client went away before its request was whole; there is nobody to answer. */
export class RequestAborted extends Error {}

/** Bytes of one body, before and after it is decompressed. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The bytes that all requests together may hold; the next one gets 503. */
export class BodyBudget {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  take(bytes: number): void {
    if (bytes > this.#free) throw new RequestError(503, 'Too many requests are waiting');
    this.#free -= bytes;
  }

  give(bytes: number): void {
    this.#free += bytes;
  }
}

/** Reads a body whole. Throws RequestError (413, 503) or RequestAborted; `held` receives the bytes that the budget granted. */
export function readBody(
  request: IncomingMessage,
  budget: BodyBudget,
  held: (bytes: number) => void,
): Promise<Buffer> {
  const tooLarge = () => new RequestError(413, `The body is larger than ${MAX_BODY_BYTES} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const fail = (error: Error) => {
      // The rest is read and forgotten until the answer is out: a reset would reach the client before it.
      request.off('data', onData).resume();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return fail(tooLarge());
      try {
        budget.take(chunk.length);
      } catch (error) {
        return fail(error as Error);
      }
      held(chunk.length);
      chunks.push(chunk);
    };
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(new RequestAborted()));
    request.once('error', () => reject(new RequestAborted()));
  });
}

/** Undoes `content-encoding`, the last one first. Throws RequestError: 415, 422, or 413 where it swells too much. */
export async function decompress(body: Buffer, encodings: string): Promise<Buffer> {
  let decoded = body;
  for (const encoding of encodings
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .reverse()) {
    if (encoding === '' || encoding === 'identity') continue;
    if (encoding !== 'gzip' && encoding !== 'deflate') {
      throw new RequestError(415, `Unsupported encoding ${encoding.slice(0, 40)}`);
    }
    const zlib = await import('node:zlib');
    const inflate = promisify(encoding === 'gzip' ? zlib.gunzip : zlib.inflate);
    try {
      decoded = await inflate(decoded, { maxOutputLength: MAX_BODY_BYTES });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
        throw new RequestError(413, `The decompressed body is larger than ${MAX_BODY_BYTES} bytes`);
      }
      throw new RequestError(422, `Failed decompressing payload with ${encoding} decoder.`);
    }
  }
  return decoded;
}
