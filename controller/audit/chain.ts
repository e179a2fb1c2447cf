/**
 * The chain of the audit log: each event's hash covers what it tells, its number, and the hash before it. Whoever changes,
 * removes or slips in a row breaks it from there on.
 */
import { createHash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import type { AuditEvent } from '../../schemas/api/audit.ts';

export interface ChainLink {
  seq: number;
  hash: string;
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

/** Whether `event` is the one that follows `before`, and tells what it told when it was numbered. */
export function follows(before: ChainLink, event: AuditEvent): boolean {
  const { hash, ...rest } = event;
  return event.seq === before.seq + 1 && event.prevHash === before.hash && hashEvent(rest) === hash;
}
