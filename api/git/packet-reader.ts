/** Takes git's pkt-lines (gitprotocol-common(5)) off a stream, in whatever chunks it comes. */

/** Of the four hexadecimal digits before each packet, which count themselves. */
const LENGTH_BYTES = 4;

export class PacketsTooLargeError extends Error {
  override readonly name = 'PacketsTooLargeError';
}

/**
 * What is whole with this chunk, packet by packet, without their lengths: each byte is copied once, however small the chunks
 * are. Nothing that comes after `broken` means anything.
 */
export type PacketReader = (chunk: Buffer) => Generator<Buffer | 'flush' | 'broken', void>;

/** `maxBytes`: of all packets together, lengths included. The reader throws PacketsTooLargeError beyond. */
export function createPacketReader(maxBytes: number): PacketReader {
  /** The length of the next packet, or the packet itself. */
  let wanted = Buffer.alloc(LENGTH_BYTES);
  let filled = 0;
  let isLength = true;
  let total = 0;

  function expect(bytes: number, length: boolean): void {
    wanted = Buffer.alloc(bytes);
    filled = 0;
    isLength = length;
  }

  return function* read(chunk) {
    for (let at = 0; ; ) {
      const copied = chunk.copy(wanted, filled, at);
      at += copied;
      filled += copied;
      if (filled < wanted.length) return;
      const whole = wanted;
      if (!isLength) {
        expect(LENGTH_BYTES, true);
        yield whole;
        continue;
      }
      const digits = whole.toString('latin1');
      const size = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
      total += Math.max(size, LENGTH_BYTES);
      if (total > maxBytes) throw new PacketsTooLargeError(`more than ${maxBytes} bytes of packets`);
      expect(size < LENGTH_BYTES ? LENGTH_BYTES : size - LENGTH_BYTES, size < LENGTH_BYTES);
      if (size === 0) yield 'flush';
      else if (size < LENGTH_BYTES) {
        yield 'broken';
        return;
      }
    }
  };
}
