/**
 * What a push asks for, read before git sees it, and how one is refused so that git tells people why. The request begins with
 * a pkt-line for each ref, `<old id> <new id> <name>`, the first with the client's capabilities after a NUL; a flush packet
 * ends them and the pack follows (gitprotocol-pack(5), "Reference Update Request and Packfile Transfer").
 */
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import { createGrowingBuffer } from './growing-buffer.ts';
import { createPacketReader, PacketsTooLargeError } from './packet-reader.ts';
import { remoteLine } from './side-band.ts';

export interface RefCommand {
  old: string;
  new: string;
  ref: string;
}

export interface PushRequest {
  commands: RefCommand[];
  capabilities: ReadonlySet<string>;
}

/** Of the part before the pack: some thousand refs. */
const MAX_COMMAND_BYTES = 1024 * 1024;
const MAX_COMPRESSED_BYTES = 2 * MAX_COMMAND_BYTES;
const COMMAND = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([^\0]+)$/i;
const GONE = 'the client has gone';
const SHALLOW = /^shallow [0-9a-f]{40,64}$/i;

/** The parser takes bytes as they come. `take` answers null while more are needed, and the same from then on. */
export interface PushParser {
  /**
   * `broken`: this is no such request; git might still find commands in it that were not seen here.
   * @throws PacketsTooLargeError
   */
  take(chunk: Buffer): PushRequest | 'broken' | null;
}

export function createPushParser(): PushParser {
  const packetsOf = createPacketReader(MAX_COMMAND_BYTES);
  const commands: RefCommand[] = [];
  let capabilities: ReadonlySet<string> = new Set();
  let answer: PushRequest | 'broken' | null = null;

  function parseLine(packet: Buffer): 'broken' | null {
    const [line = '', listed] = packet.toString('utf8').replace(/\n$/, '').split('\0', 2);
    if (listed !== undefined) capabilities = new Set(listed.split(' ').filter((word) => word !== ''));
    const [, old = '', fresh = '', ref = ''] = COMMAND.exec(line) ?? [];
    if (ref !== '') commands.push({ old, new: fresh, ref });
    // A signed push sends its commands in another way, which git only takes where it was set up.
    else if (!SHALLOW.test(line)) return 'broken';
    return null;
  }

  return {
    take(chunk) {
      if (answer !== null) return answer;
      for (const packet of packetsOf(chunk)) {
        if (packet === 'flush') answer = { commands, capabilities };
        else answer = packet === 'broken' ? packet : parseLine(packet);
        if (answer !== null) break;
      }
      return answer;
    },
  };
}

/**
 * Reads as much of the request as it takes. `read` is what was taken from it, as it came: it goes to git first, and the rest
 * of the stream after it. Null for what is no such request. @throws PacketsTooLargeError; an error where the client has gone
 */
export function readPush(request: IncomingMessage): Promise<{ push: PushRequest | null; read: Buffer }> {
  // Such a stream says nothing any more.
  if (request.destroyed) return Promise.reject(new Error(GONE));
  const raw = createGrowingBuffer();
  const parser = createPushParser();
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
    resolve({ push, read: raw.bytes() });
  };
  const failed = (error: Error) => {
    leave();
    reject(error);
  };
  const aborted = () => failed(new Error(GONE));
  const parse = (chunk: Buffer) => {
    try {
      const found = parser.take(chunk);
      if (found !== null) done(found === 'broken' ? null : found);
    } catch (error) {
      failed(error as Error);
    }
  };
  const take = (chunk: Buffer) => {
    raw.append(chunk);
    if (!gunzip) return parse(chunk);
    // Compressed bytes may come to nothing, and go on for ever.
    if (raw.length > MAX_COMPRESSED_BYTES)
      return failed(new PacketsTooLargeError('more bytes than are read'));
    if (gunzip.write(chunk)) return;
    request.pause();
    gunzip.once('drain', () => request.resume());
  };
  const ended = () => {
    if (gunzip) gunzip.end();
    else done(null);
  };
  gunzip?.on('data', parse).once('end', () => done(null));
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
 * git's own report that none of the refs was taken, each with its reason, and lines for the user where the client has bands
 * for them; null for a client that asked for no report. (gitprotocol-pack(5), "Report Status")
 */
export function renderRejectionReport(
  { commands, capabilities }: PushRequest,
  reasonOf: (ref: string) => string,
  remoteLines: readonly string[] = [],
): Buffer | null {
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return null;
  const lines = commands.map(({ ref }) => packet(Buffer.from(`ng ${ref} ${reasonOf(ref)}\n`)));
  const report = Buffer.concat([packet(Buffer.from('unpack ok\n')), ...lines, FLUSH]);
  if (!capabilities.has('side-band-64k')) return report;
  const bands: Buffer[] = remoteLines.map(remoteLine);
  for (let at = 0; at < report.length; at += MOST_PAYLOAD)
    bands.push(packet(Buffer.concat([Buffer.from([1]), report.subarray(at, at + MOST_PAYLOAD)])));
  return Buffer.concat([...bands, FLUSH]);
}
