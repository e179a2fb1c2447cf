/** Values of SCIM resources, in the forms in which providers send them. Names of attributes come in any case: RFC 7643, 2.1. */
import { scimError, withoutCoreUrn } from '../../controller/identity/scim/index.ts';
import { SCIM_LIMITS } from '../../schemas/scim/common.ts';
import type { ScimEmail } from '../../schemas/scim/user.ts';

/** By names in lower case, without the URN of the core schema. */
export type Fields = ReadonlyMap<string, unknown>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws BAD_REQUEST (invalidSyntax) for what is no object. */
export function fieldsOf(value: unknown, what: string): Fields {
  if (!isObject(value)) throw scimError('invalidSyntax', `${what} is no JSON object`);
  return new Map(Object.entries(value).map(([name, one]) => [withoutCoreUrn(name).toLowerCase(), one]));
}

/**
 * The fields of a whole body. `schemas` may be left out, as some providers do; what is given names the schema of the request
 * (RFC 7644, 3.1 and 3.5.2). @throws BAD_REQUEST (invalidSyntax)
 */
export function bodyOf(body: unknown, urn: string): Fields {
  const fields = fieldsOf(body, 'The body');
  const given = fields.get('schemas');
  if (given === undefined || given === null) return fields;
  const names = (Array.isArray(given) ? given : [given]).map((one) => String(one).toLowerCase());
  // OneLogin's template for users names the schema of SCIM 1.
  if (!names.includes(urn.toLowerCase()) && !names.includes('urn:scim:schemas:core:1.0'))
    throw scimError('invalidSyntax', `schemas must name ${urn}, the schema of this request`);
  return fields;
}

const wrong = (what: string, wants: string) => scimError('invalidValue', `${what} must be ${wants}`);

/** Null for what is absent, null or empty. A library by Microsoft has texts as `[{"value": "…"}]`. */
export function textOf(given: unknown, what: string, limit: number = SCIM_LIMITS.text): string | null {
  const value = alone(given);
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' && typeof value !== 'number') throw wrong(what, 'a text');
  const text = String(value).trim();
  if (text.length > limit) throw wrong(what, `a text of at most ${limit} characters`);
  return text === '' ? null : text;
}

/** As `textOf`, for the names that people see: RFC 7643 types them as strings, and a number is a mistake of the mapping. */
export function stringOf(given: unknown, what: string, limit?: number): string | null {
  if (typeof alone(given) === 'number') throw wrong(what, 'a text');
  return textOf(given, what, limit);
}

function alone(value: unknown): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value;
  const [one] = value;
  return isObject(one) ? fieldsOf(one, 'a value').get('value') : one;
}

/** A text may say it: Microsoft documents `"False"` of Entra ID. Undefined for what is absent or null. */
export function booleanOf(given: unknown, what: string): boolean | undefined {
  const value = alone(given);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (word !== 'true' && word !== 'false') throw wrong(what, 'true or false');
  return word === 'true';
}

const KIND_LENGTH = 64;

/** Entries without an address say nothing and are left out. */
export function emailsOf(given: unknown): ScimEmail[] {
  if (given === undefined || given === null) return [];
  const entries = Array.isArray(given) ? given : [given];
  if (entries.length > SCIM_LIMITS.emails)
    throw wrong('emails', `a list of at most ${SCIM_LIMITS.emails} addresses`);
  return entries.flatMap((entry): ScimEmail[] => {
    const fields: Fields =
      typeof entry === 'string' ? new Map([['value', entry]]) : fieldsOf(entry, 'an entry of emails');
    const value = textOf(fields.get('value'), 'emails.value', SCIM_LIMITS.address);
    if (value === null) return [];
    const type = textOf(fields.get('type'), 'emails.type', KIND_LENGTH);
    const primary = booleanOf(fields.get('primary'), 'emails.primary');
    const display = textOf(fields.get('display'), 'emails.display');
    return [
      {
        value,
        ...(type === null ? {} : { type }),
        ...(primary === undefined ? {} : { primary }),
        ...(display === null ? {} : { display }),
      },
    ];
  });
}

/** One part of an e-mail address; null clears it. */
export function emailPartOf(part: string, given: unknown): string | boolean | null {
  if (part === 'primary') return booleanOf(given, 'emails.primary') ?? null;
  const limit = part === 'value' ? SCIM_LIMITS.address : part === 'type' ? KIND_LENGTH : SCIM_LIMITS.text;
  return textOf(given, `emails.${part}`, limit);
}

/** Ids of members: `[{"value": "…"}]`, one of them alone, or plain ids. */
export function memberIdsOf(given: unknown): string[] {
  if (given === undefined || given === null) return [];
  const entries = Array.isArray(given) ? given : [given];
  if (entries.length > SCIM_LIMITS.members)
    throw wrong('members', `a list of at most ${SCIM_LIMITS.members}; send the others in a further request`);
  const ids = entries.map((entry) => {
    const id = typeof entry === 'string' ? entry : fieldsOf(entry, 'an entry of members').get('value');
    const text = textOf(id, 'members.value', KIND_LENGTH);
    if (text === null) throw wrong('members.value', 'the id of a user');
    return text;
  });
  return [...new Set(ids)];
}
