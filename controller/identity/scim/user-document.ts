/** The attributes of a SCIM user: how the account derives from them, and how a PATCH changes them. Pure. */
import { hash } from 'node:crypto';
import { EMAIL } from '../../../schemas/api/identity/people.ts';
import { SCIM_LIMITS } from '../../../schemas/scim/common.ts';
import type {
  EmailMatch,
  ScimEmail,
  UserAttributes,
  UserChange,
  UserInput,
} from '../../../schemas/scim/user.ts';
import { type Filter, parseWhere } from './filter/filter.ts';
import { matchesFilter } from './filter/filter-match.ts';
import { scimError } from './scim-errors.ts';

const ADDRESS = new RegExp(EMAIL, 'u');
const isAddress = (text: string): boolean => text.length <= SCIM_LIMITS.address && ADDRESS.test(text);

/** A domain that receives no mail: RFC 2606, section 2. */
const NO_ADDRESS = 'no-address.invalid';

/**
 * The address of the account: the user name if it is an address, else the primary e-mail address, else the first one. RFC 7643
 * requires none, so a user without any gets an undeliverable address that derives from the name.
 */
export function addressOf({ userName, emails }: Pick<UserAttributes, 'userName' | 'emails'>): string {
  if (isAddress(userName)) return userName;
  const address = (emails.find(({ primary }) => primary) ?? emails[0])?.value;
  if (address !== undefined && isAddress(address)) return address;
  return `${hash('sha256', userName.toLowerCase(), 'hex').slice(0, 24)}@${NO_ADDRESS}`;
}

const NAME_LENGTH = 100;
/** Control characters, and characters that are invisible or change the direction of text. */
const INVISIBLE = /[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** The name that users see: the first candidate that is not empty. */
export function displayNameOf({ userName, displayName, name }: UserAttributes): string {
  const parts = [name.givenName, name.familyName].filter((part) => part !== null).join(' ');
  const candidates = [displayName, name.formatted, parts, userName].map((text) =>
    [...(text ?? '').replace(INVISIBLE, '').trim()].slice(0, NAME_LENGTH).join('').trim(),
  );
  return candidates.find((text) => text !== '') ?? 'Unnamed';
}

export function attributesOf(input: UserInput, known: UserAttributes | null): UserAttributes {
  const { active: _, externalId = known?.externalId ?? null, ...rest } = input;
  return { ...rest, externalId, emails: onePrimary(rest.emails) };
}

/** Of several primary addresses the last one counts. */
function onePrimary(emails: readonly ScimEmail[], chosen?: ScimEmail): ScimEmail[] {
  const one = chosen ?? emails.findLast(({ primary }) => primary);
  return emails.map((email) => (email.primary && email !== one ? { ...email, primary: false } : email));
}

/** Applies the changes in order. `active` is undefined where they do not set it. */
export function applyChanges(
  before: UserAttributes,
  changes: Iterable<UserChange>,
): { attributes: UserAttributes; active: boolean | undefined } {
  let attributes = before;
  let active: boolean | undefined;
  for (const change of changes) {
    if (change.kind === 'active') active = change.value;
    else attributes = applyChange(attributes, change);
    // Additions may precede removals, so twice the limit is allowed meanwhile. Without a limit, thousands of changes would be slow.
    assertEmailCount(attributes, 2 * SCIM_LIMITS.emails);
  }
  assertEmailCount(attributes, SCIM_LIMITS.emails);
  return { attributes, active };
}

function assertEmailCount({ emails }: UserAttributes, max: number): void {
  if (emails.length > max)
    throw scimError('invalidValue', `A user may have ${SCIM_LIMITS.emails} e-mail addresses; remove some`);
}

function applyChange(
  before: UserAttributes,
  change: Exclude<UserChange, { kind: 'active' }>,
): UserAttributes {
  switch (change.kind) {
    case 'text':
      return withText(before, change.attribute, change.value);
    case 'emails':
      return {
        ...before,
        emails: change.how === 'set' ? onePrimary(change.value) : mergeEmails(before.emails, change.value),
      };
    case 'emailsGone': {
      const isMeant = matcherOf(change.where);
      return { ...before, emails: before.emails.filter((email) => !isMeant(email)) };
    }
    case 'email':
      return { ...before, emails: withFields(before.emails, change.where, change.fields) };
  }
}

function withText(
  before: UserAttributes,
  attribute: Extract<UserChange, { kind: 'text' }>['attribute'],
  value: string | null,
): UserAttributes {
  switch (attribute) {
    case 'userName':
      if (value === null) throw scimError('mutability', 'userName is required and cannot be removed');
      return { ...before, userName: value };
    case 'externalId':
    case 'displayName':
      if (value !== null && value.length > SCIM_LIMITS.text)
        throw scimError('invalidValue', `${attribute} is longer than ${SCIM_LIMITS.text} characters`);
      return { ...before, [attribute]: value };
    default:
      if (value !== null && value.length > SCIM_LIMITS.text)
        throw scimError('invalidValue', `name.${attribute} is longer than ${SCIM_LIMITS.text} characters`);
      return { ...before, name: { ...before.name, [attribute]: value } };
  }
}

const same = (a: string | undefined, b: string | undefined): boolean =>
  (a ?? '').toLowerCase() === (b ?? '').toLowerCase();

/** Matches the addresses of a path. @throws BAD_REQUEST (invalidPath) for an unknown sub-attribute. */
function matcherOf(where: EmailMatch): (email: ScimEmail) => boolean {
  if (where === null) return () => true;
  const filter = parseWhere(where);
  return ({ value, type, display, primary = false }) =>
    matchesFilter(filter, { value, type, display, primary });
}

/** Adds addresses; an existing one is replaced, not repeated. */
function mergeEmails(emails: readonly ScimEmail[], more: readonly ScimEmail[]): ScimEmail[] {
  const isNew = (email: ScimEmail) =>
    !more.some((other) => same(other.value, email.value) && same(other.type, email.type));
  return onePrimary(
    [...emails.filter(isNew), ...more],
    more.findLast(({ primary }) => primary),
  );
}

/**
 * RFC 7644, 3.5.2.3 requires `noTarget` where no address matches. But Microsoft Entra ID replaces `emails[type eq "work"].value`
 * of users without such an address and expects that it is created. So it is, where the filter compares only the type.
 */
function withFields(
  emails: readonly ScimEmail[],
  where: EmailMatch,
  fields: Extract<UserChange, { kind: 'email' }>['fields'],
): ScimEmail[] {
  const changed = new Map(emails.filter(matcherOf(where)).map((email) => [email, merged(email, fields)]));
  if (changed.size > 0) {
    const chosen = fields.primary === true ? [...changed.values()].at(-1) : undefined;
    return onePrimary(
      emails.map((email) => changed.get(email) ?? email),
      chosen,
    );
  }
  const type = where === null ? null : typeOf(parseWhere(where));
  if (fields.value === undefined || type === undefined)
    throw scimError('noTarget', 'No e-mail address matches this path; add one with its value first');
  const made = merged({ value: fields.value, ...(type ? { type } : {}) }, fields);
  return onePrimary([...emails, made], made.primary ? made : undefined);
}

/** The type in the filter `type eq "…"`; undefined for any other filter. */
const typeOf = (filter: Filter): string | undefined =>
  filter.op === 'eq' && filter.attribute === 'type' && typeof filter.value === 'string'
    ? filter.value
    : undefined;

function merged(email: ScimEmail, fields: Extract<UserChange, { kind: 'email' }>['fields']): ScimEmail {
  const all = Object.entries({ ...email, ...fields }).filter(([, value]) => value !== null);
  return Object.fromEntries(all) as ScimEmail;
}
