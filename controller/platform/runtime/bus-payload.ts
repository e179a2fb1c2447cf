/** How signals travel in the payload of a NOTIFY, which has less than 8,000 bytes. */
import type { Signal } from './bus.ts';

/** Some bytes below the limit of Postgres. */
const PAYLOAD_BYTES = 7_900;

export interface Payload {
  /** The bus that published it; absent where something else did. */
  origin?: string | undefined;
  signals: Signal[];
}

/**
 * As few payloads as possible. One signal travels as itself, which controllers of the version before understand too;
 * several travel as a list.
 */
export function encodePayloads(origin: string, signals: readonly Signal[]): string[] {
  const lists: Signal[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const signal of signals) {
    const more = Buffer.byteLength(JSON.stringify(signal)) + 1;
    if (bytes + more > PAYLOAD_BYTES) {
      lists.push([]);
      bytes = Buffer.byteLength(encode(origin, []));
    }
    lists.at(-1)?.push(signal);
    bytes += more;
  }
  return lists.map((list) => encode(origin, list));
}

function encode(origin: string, signals: readonly Signal[]): string {
  const [first] = signals;
  return JSON.stringify(
    first && signals.length === 1 ? { ...first, origin } : { type: 'list', origin, signals },
  );
}

/** No signals for what is none. */
export function decodePayload(payload: string | undefined): Payload {
  try {
    const { origin, ...value } = JSON.parse(payload ?? '') as Signal & { origin?: string };
    const signals = (value as { type: string }).type === 'list' ? listOf(value) : [value as Signal];
    return { origin, signals: signals.filter((signal) => typeof signal?.type === 'string') };
  } catch {
    return { signals: [] };
  }
}

const listOf = (value: object): Signal[] => {
  const { signals } = value as { signals?: unknown };
  return Array.isArray(signals) ? signals : [];
};
