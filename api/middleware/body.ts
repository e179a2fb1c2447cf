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
  const chunks: Buffer[] = [];
  let size = 0;
  // A stream that is left early would be destroyed, and the connection with it, before the answer is out.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  // What cannot be read would be replaced in silence, in the value of a secret too.
  if (!isUtf8(bytes)) throw badRequest('The body is not UTF-8');
  return bytes.toString('utf8');
}

/** 413 for a body that says itself that it is over the limit (bytes), before any of it is read. */
export function assertDeclaredLength(request: IncomingMessage, limit: number): void {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

const tooLarge = (limit: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes`);
