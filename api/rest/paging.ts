/**
 * Pages of lists. Without `limit` and `cursor` a list is answered whole, as it was before there were pages. A page follows a
 * key of each item that never changes, so that what is made or deleted meanwhile moves nothing.
 */
import { badRequest } from '../../controller/platform/operation/errors.ts';

/** Where only a cursor is given. */
const DEFAULT_LIMIT = 100;

export interface Paged {
  /** The field of the answer that holds the list. */
  field: string;
  /** Of an item: unique, never changed, and in the order of the pages when compared as text. */
  key(item: never): string;
  /** The greatest key first. */
  descending?: boolean;
}

export const byId = ({ id }: { id: string }): string => id;

/** A key whose text orders as the number does. */
export const numberKey = (value: number): string => String(value).padStart(16, '0');

export const encodeCursor = (field: string, key: string): string =>
  Buffer.from(`${field}:${key}`).toString('base64url');

/** The key that `encodeCursor` was given. @throws BAD_REQUEST */
export function decodeCursor(field: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!text.startsWith(`${field}:`)) throw badRequest('cursor is not one that this list returned');
  return text.slice(field.length + 1);
}

/** `nextCursor` of a list that the database pages, where a page was asked for: null where this one is not full. */
export function nextOf<T>(
  field: string,
  items: readonly T[],
  { limit, cursor }: { limit?: number; cursor?: string },
  { otherwise, key }: { otherwise: number; key(item: T): string },
): { nextCursor?: string | null } {
  if (limit === undefined && cursor === undefined) return {};
  const last = items.at(-1);
  return { nextCursor: last && items.length >= (limit ?? otherwise) ? encodeCursor(field, key(last)) : null };
}

/** Exactly this name, where one is asked for; then the page, where one is asked for. */
export function pageOf(
  body: Record<string, unknown>,
  { field, key, descending = false }: Paged,
  query: { limit?: number; cursor?: string; name?: string },
): Record<string, unknown> {
  const all = body[field] as { name?: string }[];
  const { limit, cursor, name } = query;
  const named = name === undefined ? all : all.filter((item) => item.name === name);
  if (limit === undefined && cursor === undefined) return { ...body, [field]: named };
  const after = cursor === undefined ? null : decodeCursor(field, cursor);
  const isAfter = (one: string, other: string) => (descending ? one < other : one > other);
  const keyed = named
    .map((item) => ({ item, key: key(item as never) }))
    .filter((one) => after === null || isAfter(one.key, after))
    .sort((a, b) => (a.key === b.key ? 0 : isAfter(a.key, b.key) ? 1 : -1));
  const page = keyed.slice(0, limit ?? DEFAULT_LIMIT);
  const last = page.at(-1);
  return {
    ...body,
    [field]: page.map(({ item }) => item),
    nextCursor: last && keyed.length > page.length ? encodeCursor(field, last.key) : null,
  };
}
