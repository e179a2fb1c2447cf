import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { badRequest, DomainError } from '../../controller/platform/operation/errors.ts';

/** The body as JSON: 413 over the limit (bytes), 400 for what is not JSON in UTF-8. */
export async function readJson(request: IncomingMessage, limit: number): Promise<unknown> {
  const text = await readText(request, limit);
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('The body is not JSON');
  }
}

/** The body: 413 over the limit (bytes), 400 for what is not UTF-8. */
export async function readText(request: IncomingMessage, limit: number): Promise<string> {
  assertDeclaredLength(request, limit);
  const bytes = await readBytes(request, limit);
  // What cannot be read would be replaced in silence, in the value of a secret too.
  if (!isUtf8(bytes)) throw badRequest('The body is not UTF-8');
  return bytes.toString('utf8');
}

/** By events, which cost a fraction of an iterator. The request is not destroyed, or the answer could not be sent. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= limit) return;
      request.pause();
      reject(tooLarge(limit));
    });
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(badRequest('The body ended early'));
    });
  });
}

/** 413 for a body that says itself that it is over the limit (bytes), before any of it is read. */
export function assertDeclaredLength(request: IncomingMessage, limit: number): void {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

const tooLarge = (limit: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes`);
