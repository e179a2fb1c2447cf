/** Reads the body of an answer within a number of bytes: as a whole, or as it comes. */
import type { Dispatcher } from 'undici';
import { OutgoingError } from './target.ts';

/** What is destroyed emits an error, for which nobody waits any longer. */
const ignoreError = () => {};

const tooLarge = (url: URL, mostBytes: number) =>
  new OutgoingError('too-large', `${url.origin} answers with more than ${mostBytes} bytes`);
const brokenOff = (url: URL) =>
  new OutgoingError('slow', `${url.origin} began to answer and did not come to an end in time`);

export function discardBody({ body }: Dispatcher.ResponseData): string {
  body.on('error', ignoreError);
  body.destroy();
  return '';
}

export async function readBody(
  answer: Dispatcher.ResponseData,
  mostBytes: number,
  url: URL,
): Promise<string> {
  const { body, headers } = answer;
  const reject = () => {
    discardBody(answer);
    return tooLarge(url, mostBytes);
  };
  if (Number(headers['content-length'] ?? 0) > mostBytes) throw reject();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw brokenOff(url);
  }
  if (size > mostBytes) throw reject();
  return Buffer.concat(chunks).toString('utf8');
}

/** The connection is closed where the reader cancels. */
export function streamBody(
  answer: Dispatcher.ResponseData,
  mostBytes: number,
  url: URL,
): ReadableStream<Uint8Array> {
  const chunks = (answer.body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  let size = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) return controller.close();
        size += value.length;
        if (size <= mostBytes) return controller.enqueue(new Uint8Array(value));
        discardBody(answer);
        controller.error(tooLarge(url, mostBytes));
      } catch {
        controller.error(brokenOff(url));
      }
    },
    cancel() {
      discardBody(answer);
    },
  });
}
