/** What a request asks for: a page, a filter, some of the attributes. RFC 7644, 3.4.2 and 3.9. */
import { refused } from '../../controller/scim/index.ts';
import { SCIM_LIMITS, SCIM_URNS } from '../../schemas/scim/common.ts';
import type { ListScimGroups } from '../../schemas/scim/group.ts';
import type { ListScimUsers } from '../../schemas/scim/user.ts';
import { refuseRepeated } from '../middleware/query.ts';
import { parseFilter, type Term, withoutCoreUrn } from './filter.ts';
import { bodyOf } from './json.ts';

/** Which attributes are told, in lower case, parts as `name.givenname`. */
export interface Selection {
  only: ReadonlySet<string> | null;
  but: ReadonlySet<string>;
}

export interface Query {
  page: { startIndex: number; count: number };
  /** Null where everything is asked for. */
  filter: string | null;
  selection: Selection;
}

const PARAMETERS = ['filter', 'startIndex', 'count', 'attributes', 'excludedAttributes'] as const;
type Given = Partial<Record<(typeof PARAMETERS)[number], unknown>>;

/** Of the parameters of an address. Others are left aside: Microsoft has flags written behind the tenant URL. */
export function readQuery(querystring: string): Query {
  refuseRepeated(querystring);
  const given = [...new URLSearchParams(querystring)];
  const of = (parameter: string) => {
    const values = given.filter(([name]) => name.toLowerCase() === parameter.toLowerCase());
    if (values.length > 1)
      throw refused('invalidValue', `${parameter} is given more than once; give it once`);
    return values.map(([, value]) => [parameter, value]);
  };
  return queryOf(Object.fromEntries(PARAMETERS.flatMap(of)));
}

/** Of the body of `POST …/.search`: RFC 7644, 3.4.3. */
export function readSearch(body: unknown): Query {
  const fields = bodyOf(body, SCIM_URNS.search);
  return queryOf(Object.fromEntries(PARAMETERS.map((name) => [name, fields.get(name.toLowerCase())])));
}

function queryOf(given: Given): Query {
  const { filter } = given;
  if (filter !== undefined && filter !== null && typeof filter !== 'string')
    throw refused('invalidFilter', 'filter must be a text');
  const selected = namesOf(given.attributes);
  return {
    page: {
      startIndex: Math.max(1, integer(given.startIndex, 'startIndex', 1)),
      count: Math.min(
        SCIM_LIMITS.count.maximum,
        Math.max(0, integer(given.count, 'count', SCIM_LIMITS.count.default)),
      ),
    },
    // A blank one is no filter that could be meant.
    filter: filter === undefined || filter === null ? null : filter,
    selection: {
      only: selected.length > 0 ? new Set(selected) : null,
      but: new Set(namesOf(given.excludedAttributes)),
    },
  };
}

const MOST = 1_000_000_000;

function integer(given: unknown, name: string, usual: number): number {
  if (given === undefined || given === null || given === '') return usual;
  const value = typeof given === 'string' && /^[+-]?\d{1,15}$/.test(given.trim()) ? Number(given) : given;
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw refused('invalidValue', `${name} must be a whole number`);
  return Math.min(MOST, Math.max(-MOST, value));
}

const MOST_NAMES = 200;

/** Comma-separated, or a list. */
function namesOf(given: unknown): string[] {
  if (given === undefined || given === null) return [];
  const names = (Array.isArray(given) ? given : [given]).flatMap((one) => {
    if (typeof one !== 'string') throw refused('invalidValue', 'attributes must be names');
    return one.split(',');
  });
  if (names.length > MOST_NAMES) throw refused('invalidValue', `Name at most ${MOST_NAMES} attributes`);
  return names.map((name) => withoutCoreUrn(name.trim()).toLowerCase()).filter(Boolean);
}

/** Whether an attribute that costs something to read is told. */
export const asksFor = ({ only, but }: Selection, attribute: string): boolean =>
  !but.has(attribute) &&
  (only === null || [...only].some((name) => name === attribute || name.startsWith(`${attribute}.`)));

type ByName<T extends string> = ReadonlyMap<string, T>;
const OF_USERS: ByName<'id' | 'userName' | 'externalId' | 'displayName'> = new Map([
  ['id', 'id'],
  ['username', 'userName'],
  ['externalid', 'externalId'],
  ['displayname', 'displayName'],
]);
const OF_GROUPS: ByName<'id' | 'externalId' | 'displayName'> = new Map([
  ['id', 'id'],
  ['externalid', 'externalId'],
  ['displayname', 'displayName'],
]);

const notFiltered = (what: string, by: string) =>
  refused('invalidFilter', `${what} are filtered by ${by}, each with eq and a text`);

function textOfTerm(term: Term): string | null {
  return typeof term.value === 'string' ? term.value : null;
}

export function userFilter(filter: string | null): ListScimUsers['filter'] {
  if (filter === null) return [];
  const wrong = () => notFiltered('Users', 'userName, externalId, id, displayName and emails');
  return parseFilter(filter).map((term): ListScimUsers['filter'][number] => {
    const { attribute, sub, where } = term;
    if (attribute === 'emails') return emailTerm(term) ?? refuse(wrong);
    const value = textOfTerm(term);
    // Microsoft's guide: Entra ID asks so whether somebody has a manager before it sets one.
    if (attribute === 'manager' && (sub === null || sub === 'value') && !where && value !== null)
      return { attribute, value };
    const known = attribute === null ? undefined : OF_USERS.get(attribute);
    if (known === undefined || sub !== null || where || value === null) throw wrong();
    return { attribute: known, value };
  });
}

function refuse(wrong: () => Error): never {
  throw wrong();
}

/** `emails eq "…"`, `emails.value eq "…"`, `emails[type eq "work"].value eq "…"`, `emails[type eq "work" and value eq "…"]`. */
function emailTerm(term: Term): ListScimUsers['filter'][number] | null {
  const inner = term.where ?? [];
  const of = (name: string) => inner.filter(({ attribute }) => attribute === name);
  const values = [...of('value').map(({ value }) => value)];
  if (term.where === null || term.sub !== null) {
    if (term.sub !== null && term.sub !== 'value') return null;
    values.push(term.value);
  }
  const types = of('type').map(({ value }) => value);
  const [value] = values;
  const [type] = types;
  if (values.length !== 1 || typeof value !== 'string' || types.length > 1) return null;
  if (inner.length !== of('value').length + types.length) return null;
  if (type === undefined) return { attribute: 'email', value };
  return typeof type === 'string' ? { attribute: 'email', value, type } : null;
}

export function groupFilter(filter: string | null): ListScimGroups['filter'] {
  if (filter === null) return [];
  const wrong = () => notFiltered('Groups', 'displayName, externalId, id and members');
  return parseFilter(filter).map((term): ListScimGroups['filter'][number] => {
    const { attribute, sub, where } = term;
    const inner = where?.length === 1 && where[0]?.attribute === 'value' && sub === null ? where[0] : null;
    const value = inner ? inner.value : term.value;
    if (typeof value !== 'string' || (where && !inner)) throw wrong();
    if (attribute === 'members' && (sub === null || sub === 'value')) return { attribute: 'member', value };
    const known = attribute === null ? undefined : OF_GROUPS.get(attribute);
    if (known === undefined || sub !== null || where) throw wrong();
    return { attribute: known, value };
  });
}
