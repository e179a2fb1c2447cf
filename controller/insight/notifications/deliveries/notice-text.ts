/** Notices as they are stored: the text of each is made once, however many endpoints are sent it. */
import { setImmediate } from 'node:timers/promises';
import type { AlertNotice } from '../notice.ts';

/** Notices of one message, and of one statement: neither its rendering nor its values hold the event loop for long. */
export const MAX_GROUP = 1_000;

export type NoticeTexts = ReadonlyMap<AlertNotice, string>;

/** What JSON writes for NUL and for half of a surrogate pair, neither of which PostgreSQL takes in jsonb. */
const REFUSED = /\\u(?:0000|d[89a-f])/;

function textOf(notice: AlertNotice): string {
  const text = JSON.stringify(notice);
  if (!REFUSED.test(text)) return text;
  return JSON.stringify(notice, (_, value) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value,
  );
}

/** Other requests are answered in between. */
export async function textsOf(notices: readonly AlertNotice[]): Promise<NoticeTexts> {
  const texts = new Map<AlertNotice, string>();
  for (const part of partsOf(notices)) {
    if (texts.size > 0) await setImmediate();
    for (const notice of part) texts.set(notice, textOf(notice));
  }
  return texts;
}

export function* partsOf<T>(all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += MAX_GROUP) yield all.slice(from, from + MAX_GROUP);
}
