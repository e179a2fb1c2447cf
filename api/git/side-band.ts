/**
 * The answer to a push, with our own lines in it. git's answer is a row of pkt-lines (gitprotocol-pack(5)); with the
 * capability side-band-64k each carries its band in the first byte: 1 is the result, 2 is shown to the person who pushed,
 * after `remote:`. The last is a flush packet, `0000`; what we add goes before it.
 */
import { Transform } from 'node:stream';
import { createPacketReader, PacketsTooLargeError } from './packet-reader.ts';

const FLUSH = Buffer.from('0000');
const MAX_LINE_BYTES = 900;

/** One line for the person who pushed, on band 2. */
export function remoteLine(text: string): Buffer {
  const line = Buffer.from(`${text.replaceAll(/[\0-\x1f\x7f]/g, ' ')}\n`);
  const payload = Buffer.concat([Buffer.from([2]), line.subarray(0, MAX_LINE_BYTES)]);
  return Buffer.concat([Buffer.from((payload.length + 4).toString(16).padStart(4, '0')), payload]);
}

/** Of git's report, which has a line for each ref. */
const MAX_REPORT_BYTES = 4 * 1024 * 1024;

/** Collects the refs that git has taken from its report (gitprotocol-pack(5), "Report Status"), as it passes on band 1. */
function createReportReader() {
  const packetsOf = createPacketReader(MAX_REPORT_BYTES);
  const taken = new Set<string>();
  let isReport = false;
  let ended = false;
  return {
    read(payload: Buffer): void {
      if (ended) return;
      try {
        for (const packet of packetsOf(payload)) {
          ended = packet === 'flush' || packet === 'broken';
          if (packet === 'flush' || packet === 'broken') return;
          isReport = true;
          const [, ref] = /^ok (.+?)\n?$/.exec(packet.toString('utf8')) ?? [];
          if (ref !== undefined) taken.add(ref);
        }
      } catch (error) {
        if (!(error instanceof PacketsTooLargeError)) throw error;
        ended = true;
      }
    },
    taken: (): ReadonlySet<string> | null => (isReport ? taken : null),
  };
}

/**
 * Passes the answer on and holds back its closing flush packet until `lines` has settled. It is given the full names of the
 * refs that git has taken, or null where the client asked for no report and so nobody knows. An answer without side bands
 * (a client that does not ask for them) goes through as it is.
 */
export function appendToPush(
  lines: (taken: ReadonlySet<string> | null) => Promise<readonly string[]>,
): Transform {
  let pending: Buffer = Buffer.alloc(0);
  let banded: boolean | null = null;
  let heldFlush = false;
  let broken = false;
  const report = createReportReader();

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (broken || banded === false) return done(null, chunk);
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= 4) {
        const size = Number.parseInt(pending.toString('latin1', 0, 4), 16);
        if (Number.isNaN(size) || (size > 0 && size < 4)) {
          broken = true;
          break;
        }
        if (heldFlush) {
          this.push(FLUSH);
          heldFlush = false;
        }
        if (size === 0) {
          heldFlush = true;
          pending = pending.subarray(4);
          continue;
        }
        if (pending.length < size) break;
        banded ??= pending[4] === 1 || pending[4] === 2 || pending[4] === 3;
        if (!banded) break;
        if (pending[4] === 1) report.read(pending.subarray(5, size));
        this.push(pending.subarray(0, size));
        pending = pending.subarray(size);
      }
      if (broken || banded === false) {
        if (heldFlush) this.push(FLUSH);
        heldFlush = false;
        this.push(pending);
        pending = Buffer.alloc(0);
      }
      done();
    },
    flush(done) {
      lines(report.taken()).then(
        (found) => {
          if (banded) for (const line of found) this.push(remoteLine(line));
          if (heldFlush) this.push(FLUSH);
          if (pending.length > 0) this.push(pending);
          done();
        },
        () => {
          if (heldFlush) this.push(FLUSH);
          done();
        },
      );
    },
  });
}
