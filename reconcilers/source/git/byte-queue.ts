/** Bytes as they arrive, taken off in other portions. They are joined only when a portion needs it. */
export class ByteQueue {
  length = 0;
  private chunks: Buffer[] = [];

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
  }

  clear(): void {
    this.chunks = [];
    this.length = 0;
  }

  /** The next so many bytes; there must be as many. */
  take(length: number): Buffer {
    const whole = this.joined();
    this.chunks = whole.length === length ? [] : [whole.subarray(length)];
    this.length -= length;
    return whole.subarray(0, length);
  }

  /** The next line without its end; null until it is whole. */
  takeLine(): string | null {
    const end = this.joined().indexOf(10);
    return end < 0 ? null : this.take(end + 1).toString('latin1', 0, end);
  }

  private joined(): Buffer {
    const [first] = this.chunks;
    if (this.chunks.length === 1 && first) return first;
    const whole = Buffer.concat(this.chunks);
    this.chunks = [whole];
    return whole;
  }
}
