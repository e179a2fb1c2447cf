/**
 * The hash chain of the audit log. The hash of an event covers its content, its number and the previous hash, so a changed,
 * removed or inserted row breaks the chain from there on. Anybody can verify the hashes and could also recompute them; the code
 * beside each hash (MAC) needs a key that the database has only sealed.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { AuditEvent } from '../../../../schemas/api/insight/audit.ts';

export interface ChainLink {
  seq: number;
  hash: string;
}

export interface ChainKey {
  /** 32 bytes. */
  key: Buffer;
  /** The last event before the key was created. Every later event has a MAC. */
  after: ChainLink;
  /** The beginning of the log when the key was created. A later beginning has a MAC. */
  anchor: ChainLink;
}

/** The number of the first event with a MAC; null without a key. */
export const firstKeyedSeq = (key: ChainKey | null): number | null => key && key.after.seq + 1;

/** An event as it is stored. */
export interface ChainedEvent {
  event: AuditEvent;
  /** Null for events from before the key was created. */
  mac: string | null;
}

/** The link before the first event. */
export const GENESIS: ChainLink = { seq: 0, hash: '0'.repeat(64) };

/** Hashes the JSON that the API returns, so that a client that follows the log can verify it too. */
export function hashEvent(event: Omit<AuditEvent, 'hash'>): string {
  return createHash('sha256').update(stringify(event)).digest('hex');
}

/** Assigns to events the numbers and hashes that follow `head`. */
export function chainAfter(
  head: ChainLink,
  events: readonly Omit<AuditEvent, 'seq' | 'prevHash' | 'hash'>[],
): AuditEvent[] {
  let before = head;
  return events.map((event) => {
    const numbered = { ...event, seq: before.seq + 1, prevHash: before.hash };
    const chained = { ...numbered, hash: hashEvent(numbered) };
    before = chained;
    return chained;
  });
}

/** HMAC-SHA256 in hex. The MAC of an `event` is not valid for a `beginning`. */
export const macOf = ({ key }: ChainKey, what: 'event' | 'beginning', { seq, hash }: ChainLink): string =>
  createHmac('sha256', key).update(`${what}:${seq}:${hash}`).digest('hex');

function hasMac(key: ChainKey, what: 'event' | 'beginning', link: ChainLink, mac: string | null): boolean {
  const wanted = Buffer.from(macOf(key, what, link));
  const given = Buffer.from(mac ?? '');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Whether the event follows `before` and is unchanged since it was numbered. */
export function follows(key: ChainKey | null, before: ChainLink, { event, mac }: ChainedEvent): boolean {
  const { hash, ...rest } = event;
  if (event.seq !== before.seq + 1 || event.prevHash !== before.hash || hashEvent(rest) !== hash)
    return false;
  // Without the key, an event with a MAC cannot be verified.
  if (key === null) return mac === null;
  if (event.seq < key.after.seq) return true;
  if (event.seq === key.after.seq) return hash === key.after.hash;
  return hasMac(key, 'event', event, mac);
}

/** Whether the retention has deleted the log up to the anchor, and not an attacker. */
export function isBeginning(key: ChainKey | null, anchor: ChainLink & { mac?: string }): boolean {
  if (key === null || anchor.seq === 0) return true;
  if (anchor.seq === key.anchor.seq) return anchor.hash === key.anchor.hash;
  return hasMac(key, 'beginning', anchor, anchor.mac ?? null);
}
