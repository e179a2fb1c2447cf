/** Which of two browsers of a person keeps its choice: the one where it was made later. Knows nothing of storage. */

export interface Kept {
  value: string;
  /** Milliseconds since the epoch; 0 where it is not known. */
  at: number;
}

export interface Merge<K> {
  /** What this browser takes over. */
  take: [key: K, kept: Kept][];
  /** What this browser tells the others. */
  send: K[];
}

/** `own` are the choices of this person in this browser, and none of somebody else who used it before. */
export function mergeChoices<K>(own: ReadonlyMap<K, Kept>, server: ReadonlyMap<K, Kept>): Merge<K> {
  const take: Merge<K>['take'] = [];
  const send: K[] = [];
  for (const [key, kept] of server) {
    const at = own.get(key)?.at ?? 0;
    if (kept.at > at) take.push([key, kept]);
    else if (kept.at < at) send.push(key);
  }
  for (const [key, { at }] of own) if (!server.has(key) && at > 0) send.push(key);
  return { take, send };
}

/** As the server keeps it: text of at most 500 characters. */
export const keptText = (kept: Kept): string => JSON.stringify({ value: kept.value, at: kept.at });

/** Null for what something else has written. */
export function parseKept(text: string): Kept | null {
  try {
    const kept: Partial<Kept> | null = JSON.parse(text);
    return typeof kept?.value === 'string' && typeof kept.at === 'number' && kept.at > 0
      ? { value: kept.value, at: kept.at }
      : null;
  } catch {
    return null;
  }
}
