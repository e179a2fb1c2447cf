/** What SCIM keeps of a user: what it means for the account, and what PATCH makes of it. Pure. */
import { hash } from 'node:crypto';
import { EMAIL } from '../../../schemas/api/people.ts';
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
import { refused } from './refusals.ts';

const ADDRESS = new RegExp(EMAIL, 'u');
const isAddress = (text: string): boolean => text.length <= SCIM_LIMITS.address && ADDRESS.test(text);

/** Mail to it goes nowhere: RFC 2606, section 2. */
const NO_ADDRESS = 'no-address.invalid';

/**
 * The address of the account: the user name where it is one, else the primary e-mail address, else the first. An account
 * without any is taken, since RFC 7643 requires none: it gets one that cannot be written to, the same for the same name.
 */
export function addressOf({ userName, emails }: Pick<UserAttributes, 'userName' | 'emails'>): string {
  if (isAddress(userName)) return userName;
  const address = (emails.find(({ primary }) => primary) ?? emails[0])?.value;
  if (address !== undefined && isAddress(address)) return address;
  return `${hash('sha256', userName.toLowerCase(), 'hex').slice(0, 24)}@${NO_ADDRESS}`;
}

const NAME_LENGTH = 100;
/** Control characters, and what is not seen or turns the text around it. */
const UNSEEN = /[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** What people see: the first of several that says anything. */
export function displayNameOf({ userName, displayName, name }: UserAttributes): string {
  const parts = [name.givenName, name.familyName].filter((part) => part !== null).join(' ');
  const shown = [displayName, name.formatted, parts, userName].map((text) =>
    [...(text ?? '').replace(UNSEEN, '').trim()].slice(0, NAME_LENGTH).join('').trim(),
  );
  return shown.find((text) => text !== '') ?? 'Unnamed';
}

export function attributesOf(input: UserInput, known: UserAttributes | null): UserAttributes {
  const { active: _, externalId = known?.externalId ?? null, ...rest } = input;
  return { ...rest, externalId, emails: onePrimary(rest.emails) };
}

/** Of several primary ones the last that was said counts. */
function onePrimary(emails: readonly ScimEmail[], chosen?: ScimEmail): ScimEmail[] {
  const one = chosen ?? emails.findLast(({ primary }) => primary);
  return emails.map((email) => (email.primary && email !== one ? { ...email, primary: false } : email));
}

/** What the changes make of a user, one after the other, and whether they say that it is active. */
export function applyChanges(
  before: UserAttributes,
  changes: Iterable<UserChange>,
): { attributes: UserAttributes; active: boolean | undefined } {
  let attributes = before;
  let active: boolean | undefined;
  for (const change of changes) {
    if (change.kind === 'active') active = change.value;
    else attributes = applyChange(attributes, change);
    // New ones may come before old ones go; but each is compared with each, and changes may be thousands.
    refuseMoreEmails(attributes, 2 * SCIM_LIMITS.emails);
  }
  refuseMoreEmails(attributes, SCIM_LIMITS.emails);
  return { attributes, active };
}

function refuseMoreEmails({ emails }: UserAttributes, most: number): void {
  if (emails.length > most)
    throw refused('invalidValue', `A user may have ${SCIM_LIMITS.emails} e-mail addresses; remove some`);
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
        emails: change.how === 'set' ? onePrimary(change.value) : joined(before.emails, change.value),
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
      if (value === null) throw refused('mutability', 'userName is required and cannot be removed');
      return { ...before, userName: value };
    case 'externalId':
    case 'displayName':
      if (value !== null && value.length > SCIM_LIMITS.text)
        throw refused('invalidValue', `${attribute} is longer than ${SCIM_LIMITS.text} characters`);
      return { ...before, [attribute]: value };
    default:
      if (value !== null && value.length > SCIM_LIMITS.text)
        throw refused('invalidValue', `name.${attribute} is longer than ${SCIM_LIMITS.text} characters`);
      return { ...before, name: { ...before.name, [attribute]: value } };
  }
}

const same = (a: string | undefined, b: string | undefined): boolean =>
  (a ?? '').toLowerCase() === (b ?? '').toLowerCase();

/** Addresses that a path chooses. @throws BAD_REQUEST (invalidPath) for a part that no address has. */
function matcherOf(where: EmailMatch): (email: ScimEmail) => boolean {
  if (where === null) return () => true;
  const filter = parseWhere(where);
  return ({ value, type, display, primary = false }) =>
    matchesFilter(filter, { value, type, display, primary });
}

/** An address that is there already is not there twice. */
function joined(emails: readonly ScimEmail[], more: readonly ScimEmail[]): ScimEmail[] {
  const isNew = (email: ScimEmail) =>
    !more.some((other) => same(other.value, email.value) && same(other.type, email.type));
  return onePrimary(
    [...emails.filter(isNew), ...more],
    more.findLast(({ primary }) => primary),
  );
}

/**
 * RFC 7644, 3.5.2.3 wants `noTarget` where no address matches. Microsoft Entra ID is known to replace
 * `emails[type eq "work"].value` of users that have none, and to expect it to be made; so it is, where all that is asked
 * of it is a type.
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
    throw refused('noTarget', 'No e-mail address matches this path; add one with its value first');
  const made = merged({ value: fields.value, ...(type ? { type } : {}) }, fields);
  return onePrimary([...emails, made], made.primary ? made : undefined);
}

/** Of `type eq "…"` and nothing else. */
const typeOf = (filter: Filter): string | undefined =>
  filter.op === 'eq' && filter.attribute === 'type' && typeof filter.value === 'string'
    ? filter.value
    : undefined;

function merged(email: ScimEmail, fields: Extract<UserChange, { kind: 'email' }>['fields']): ScimEmail {
  const all = Object.entries({ ...email, ...fields }).filter(([, value]) => value !== null);
  return Object.fromEntries(all) as ScimEmail;
}
