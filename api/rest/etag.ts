/**
 * Entity tags (RFC 9110, 8.8.3). Where an answer also holds what is measured, its tag has two parts, `"<state>.<answer>"`:
 * `If-None-Match` compares both, so that a poll sees every change; `If-Match` compares the first, which stands for
 * what users and programs set, so that a running counter rejects no write.
 */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import { badRequest, notFound } from '../../controller/platform/operation/errors.ts';
import { RestError } from './rest-error.ts';
import { readState, type StateKind } from './state-store.ts';

const MAX_HEADER = 2_000;
/** RFC 9110, 8.8.3 and 13.1.1; without commas inside, which no tag of ours has. */
export const ENTITY_TAGS = '^([*]|(W/)?"[!#-+\\-./0-~]*"([ \t]*,[ \t]*(W/)?"[!#-+\\-./0-~]*")*)$';
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** `state` is what `stateTag` answered, null where the answer holds nothing else than what it stands for. */
export const entityTag = (body: string, state: string | null): string =>
  `"${state === null ? '' : `${state}.`}${digest(body)}"`;

/** Null where there is no such object. `lock`: nobody changes it until the transaction ends. */
export async function stateTag(
  db: Knex,
  kind: StateKind,
  of: { id: string; environmentId: string },
  { lock }: { lock: boolean },
): Promise<string | null> {
  const state = await readState(db, kind, of, lock);
  return state === null ? null : digest(state);
}

/** The tags of `If-Match` or `If-None-Match`; null without the header. */
export function tagsOf(header: string | undefined, name: string): string[] | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (text.length > MAX_HEADER || !new RegExp(ENTITY_TAGS).test(text))
    throw badRequest(`${name} takes entity tags, as ETag gave them, or *`);
  return text === '*' ? [text] : text.split(',').map((tag) => tag.trim());
}

/** RFC 9110, 13.1.2: compared weakly. */
export const isFresh = (tags: readonly string[] | null, etag: string): boolean =>
  tags?.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag) ?? false;

const stateOf = (tag: string): string => /^"([^".]*)/.exec(tag)?.[1] ?? '';

/** RFC 9110, 13.1.1. @throws 412 where none of the tags stands for the present state */
export async function assertMatch(
  db: Knex,
  kind: StateKind,
  of: { id: string; environmentId: string },
  tags: readonly string[],
  { lock }: { lock: boolean },
): Promise<void> {
  const state = await stateTag(db, kind, of, { lock });
  if (state === null) throw notFound(kind === 'alertRule' ? 'Alert rule' : 'Pipeline');
  if (tags.some((tag) => tag === '*' || stateOf(tag) === state)) return;
  throw new RestError(
    'ETAG_MISMATCH',
    'It was changed since it was read; read it again and repeat the change',
  );
}
