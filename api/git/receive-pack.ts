/**
 * What a push asks for, read before git sees it, and how one is refused so that git tells people why. The request begins with
 * a pkt-line for each ref, `<old id> <new id> <name>`, the first with the client's capabilities after a NUL; a flush packet
 * ends them and the pack follows (gitprotocol-pack(5), "Reference Update Request and Packfile Transfer").
 */
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';

export interface RefCommand {
  old: string;
  new: string;
  ref: string;
}

export interface PushRequest {
  commands: RefCommand[];
  capabilities: ReadonlySet<string>;
}

/** Of the part before the pack, some thousand refs. */
const MOST_BYTES = 1024 * 1024;
const COMMAND = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([^\0]+)$/i;
const SHALLOW = /^shallow [0-9a-f]{40,64}$/i;

export class PushTooLargeError extends Error {
  override readonly name = 'PushTooLargeError';
}

/**
 * What is known after so many bytes: null while more are needed. `broken`: this is no such request; git might still find
 * commands in it that were not seen here.
 * @throws PushTooLargeError
 */
export function parsePush(bytes: Buffer): PushRequest | 'broken' | null {
  const commands: RefCommand[] = [];
  let capabilities: ReadonlySet<string> = new Set();
  let at = 0;
  while (bytes.length - at >= 4) {
    const digits = bytes.toString('latin1', at, at + 4);
    const size = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (size === 0) return { commands, capabilities };
    if (size < 4) return 'broken';
    if (bytes.length - at < size) break;
    const [line = '', told] = bytes
      .toString('utf8', at + 4, at + size)
      .replace(/\n$/, '')
      .split('\0', 2);
    if (told !== undefined) capabilities = new Set(told.split(' ').filter((word) => word !== ''));
    const [, old = '', fresh = '', ref = ''] = COMMAND.exec(line) ?? [];
    if (ref !== '') commands.push({ old, new: fresh, ref });
    // A signed push says its commands in another way, which git only takes where it was set up.
    else if (!SHALLOW.test(line)) return 'broken';
    at += size;
  }
  if (bytes.length > MOST_BYTES) throw new PushTooLargeError('more refs at once than can be looked at');
  return null;
}

/**
 * Reads as much of the request as it takes. `read` is what was taken from it, as it came: it goes to git first, and the rest
 * of the stream after it. Null for what is no such request. @throws PushTooLargeError
 */
export function readPush(request: IncomingMessage): Promise<{ push: PushRequest | null; read: Buffer }> {
  const raw: Buffer[] = [];
  const plain: Buffer[] = [];
  let size = 0;
  const gunzip = /^(?:x-)?gzip$/.test(request.headers['content-encoding'] ?? '') ? createGunzip() : null;
  const { promise, resolve, reject } = Promise.withResolvers<{ push: PushRequest | null; read: Buffer }>();
  const leave = () => {
    request.off('data', take).off('end', ended).off('error', failed).off('aborted', aborted);
    request.pause();
    gunzip?.removeAllListeners();
    gunzip?.on('error', () => {});
    gunzip?.destroy();
  };
  const done = (push: PushRequest | null) => {
    leave();
    resolve({ push, read: Buffer.concat(raw) });
  };
  const failed = (error: Error) => {
    leave();
    reject(error);
  };
  const aborted = () => failed(new Error('the client has gone'));
  const look = (chunk: Buffer) => {
    plain.push(chunk);
    size += chunk.length;
    try {
      const found = parsePush(Buffer.concat(plain, size));
      if (found !== null) done(found === 'broken' ? null : found);
    } catch (error) {
      failed(error as Error);
    }
  };
  const take = (chunk: Buffer) => {
    raw.push(chunk);
    if (gunzip) gunzip.write(chunk);
    else look(chunk);
  };
  const ended = () => {
    if (gunzip) gunzip.end();
    else done(null);
  };
  gunzip?.on('data', look).once('end', () => done(null));
  gunzip?.once('error', () => done(null));
  request.on('data', take).once('end', ended).once('error', failed).once('aborted', aborted);
  return promise;
}

const packet = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from((payload.length + 4).toString(16).padStart(4, '0')), payload]);
const FLUSH = Buffer.from('0000');
/** Of one packet with its length and band. */
const MOST_PAYLOAD = 65_515;

/**
 * git's own report that none of the refs was taken, each with its reason; null for a client that asked for no report.
 * (gitprotocol-pack(5), "Report Status")
 */
export function refusalReport(
  { commands, capabilities }: PushRequest,
  reasonOf: (ref: string) => string,
): Buffer | null {
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return null;
  const lines = commands.map(({ ref }) => packet(Buffer.from(`ng ${ref} ${reasonOf(ref)}\n`)));
  const report = Buffer.concat([packet(Buffer.from('unpack ok\n')), ...lines, FLUSH]);
  if (!capabilities.has('side-band-64k')) return report;
  const bands: Buffer[] = [];
  for (let at = 0; at < report.length; at += MOST_PAYLOAD)
    bands.push(packet(Buffer.concat([Buffer.from([1]), report.subarray(at, at + MOST_PAYLOAD)])));
  return Buffer.concat([...bands, FLUSH]);
}
