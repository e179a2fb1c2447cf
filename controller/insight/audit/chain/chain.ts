/**
 * The chain of the audit log: each event's hash covers what it tells, its number, and the hash before it. Whoever changes,
 * removes or slips in a row breaks it from there on. Anybody can check the hashes, and anybody could compute them again: the
 * code beside each (MAC) takes a key that is not in the database.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { AuditEvent } from '../../../../schemas/api/audit.ts';

export interface ChainLink {
  seq: number;
  hash: string;
}

export interface ChainKey {
  /** 32 bytes. */
  key: Buffer;
  /** The last event before there was a key. Those that follow have a MAC. */
  after: ChainLink;
  /** Where the log began then. A later beginning has a MAC. */
  anchor: ChainLink;
}

/** The number of the first event whose hash takes the key; null where there is none. */
export const keyedFromOf = (key: ChainKey | null): number | null => key && key.after.seq + 1;

/** An event as it is stored. */
export interface ChainedEvent {
  event: AuditEvent;
  /** Null for events from before there was a key. */
  mac: string | null;
}

/** What the first event follows. */
export const GENESIS: ChainLink = { seq: 0, hash: '0'.repeat(64) };

/** Over the event as its JSON travels, so that whoever follows the log can check it too. */
export function hashEvent(event: Omit<AuditEvent, 'hash'>): string {
  return createHash('sha256').update(stringify(event)).digest('hex');
}

/** The events with the numbers and hashes that make them follow `head`. */
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

/** HMAC-SHA256 in hex. A code for an `event` is none for a `beginning`. */
export const macOf = ({ key }: ChainKey, what: 'event' | 'beginning', { seq, hash }: ChainLink): string =>
  createHmac('sha256', key).update(`${what}:${seq}:${hash}`).digest('hex');

function hasMac(key: ChainKey, what: 'event' | 'beginning', link: ChainLink, mac: string | null): boolean {
  const wanted = Buffer.from(macOf(key, what, link));
  const given = Buffer.from(mac ?? '');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Whether the event is the one that follows `before`, and tells what it told when it was numbered. */
export function follows(key: ChainKey | null, before: ChainLink, { event, mac }: ChainedEvent): boolean {
  const { hash, ...rest } = event;
  if (event.seq !== before.seq + 1 || event.prevHash !== before.hash || hashEvent(rest) !== hash)
    return false;
  // Without its key, an event that has a MAC proves nothing.
  if (key === null) return mac === null;
  if (event.seq < key.after.seq) return true;
  if (event.seq === key.after.seq) return hash === key.after.hash;
  return hasMac(key, 'event', event, mac);
}

/** Whether the retention has deleted the log up to here, and nobody else. */
export function isBeginning(key: ChainKey | null, anchor: ChainLink & { mac?: string }): boolean {
  if (key === null || anchor.seq === 0) return true;
  if (anchor.seq === key.anchor.seq) return anchor.hash === key.anchor.hash;
  return hasMac(key, 'beginning', anchor, anchor.mac ?? null);
}
