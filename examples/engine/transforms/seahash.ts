const SEEDS = [0x16f11fe89b0d677cn, 0xb480a793d8e6c86cn, 0x6fe2e5aaf078ebc9n, 0x14f994a4c5259381n] as const;
const PRIME = 0x6eed0e9da4d94a4fn;
const WORD_BYTES = 8;

/** SeaHash (64 bits), which Vector samples keys by: the same keys pass here as there. */
export function seahash(text: string): bigint {
  const length = Buffer.byteLength(text);
  const padded = Buffer.alloc(Math.ceil(length / WORD_BYTES) * WORD_BYTES);
  padded.write(text);
  let [a, b, c, d]: [bigint, bigint, bigint, bigint] = [...SEEDS];
  for (let at = 0; at < padded.length; at += WORD_BYTES) {
    [a, b, c, d] = [b, c, d, diffuse(a ^ padded.readBigUInt64LE(at))];
  }
  return diffuse(a ^ b ^ c ^ d ^ BigInt(length));
}

function diffuse(value: bigint): bigint {
  const mixed = BigInt.asUintN(64, value * PRIME);
  return BigInt.asUintN(64, (mixed ^ ((mixed >> 32n) >> (mixed >> 60n))) * PRIME);
}
