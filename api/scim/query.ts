/** What a request asks for: a page, a filter, some of the attributes. RFC 7644, 3.4.2 and 3.9. */
import { scimError, withoutCoreUrn } from '../../controller/identity/scim/index.ts';
import { SCIM_LIMITS, SCIM_URNS } from '../../schemas/scim/common.ts';
import { rejectRepeatedParameters } from '../middleware/query.ts';
import { bodyOf } from './json.ts';

/** Which attributes are returned, in lower case, sub-attributes as `name.givenname`. */
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
  rejectRepeatedParameters(querystring);
  const given = [...new URLSearchParams(querystring)];
  const of = (parameter: string) => {
    const values = given.filter(([name]) => name.toLowerCase() === parameter.toLowerCase());
    if (values.length > 1)
      throw scimError('invalidValue', `${parameter} is given more than once; give it once`);
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
    throw scimError('invalidFilter', 'filter must be a text');
  if (typeof filter === 'string' && filter.length > SCIM_LIMITS.filterLength)
    throw scimError('invalidFilter', `The filter is longer than ${SCIM_LIMITS.filterLength} characters`);
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
    throw scimError('invalidValue', `${name} must be a whole number`);
  return Math.min(MOST, Math.max(-MOST, value));
}

const MOST_NAMES = 200;

/** Comma-separated, or a list. */
function namesOf(given: unknown): string[] {
  if (given === undefined || given === null) return [];
  const names = (Array.isArray(given) ? given : [given]).flatMap((one) => {
    if (typeof one !== 'string') throw scimError('invalidValue', 'attributes must be names');
    return one.split(',');
  });
  if (names.length > MOST_NAMES) throw scimError('invalidValue', `Name at most ${MOST_NAMES} attributes`);
  return names.map((name) => withoutCoreUrn(name.trim()).toLowerCase()).filter(Boolean);
}

/** Whether an attribute that is expensive to read is returned. */
export const asksFor = ({ only, but }: Selection, attribute: string): boolean =>
  !but.has(attribute) &&
  (only === null || [...only].some((name) => name === attribute || name.startsWith(`${attribute}.`)));
