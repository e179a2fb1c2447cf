/** Bytes that come in small portions, in one buffer: a portion of one byte costs one byte, and no object of its own. */
export interface GrowingBuffer {
  readonly length: number;
  append(chunk: Buffer): void;
  bytes(): Buffer;
}

const FIRST_BYTES = 4_096;

/** Doubles when it is full, so that all copies together cost no more than twice what was appended. */
export function createGrowingBuffer(): GrowingBuffer {
  let held = Buffer.alloc(FIRST_BYTES);
  let length = 0;
  return {
    get length() {
      return length;
    },
    append(chunk) {
      if (length + chunk.length > held.length) {
        const larger = Buffer.alloc(Math.max(held.length * 2, length + chunk.length));
        held.copy(larger, 0, 0, length);
        held = larger;
      }
      chunk.copy(held, length);
      length += chunk.length;
    },
    bytes: () => held.subarray(0, length),
  };
}
