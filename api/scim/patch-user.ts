/** What PATCH says of a user. */
import { scimError } from '../../controller/identity/scim/index.ts';
import { SCIM_LIMITS } from '../../schemas/scim/common.ts';
import type { EmailMatch, UserChange } from '../../schemas/scim/user.ts';
import { booleanOf, emailPartOf, emailsOf, fieldsOf, stringOf, textOf } from './json.ts';
import { type PatchPart, readPatch } from './read-patch.ts';

const NAME_PARTS = { formatted: 'formatted', givenname: 'givenName', familyname: 'familyName' } as const;
const TEXTS = { username: 'userName', externalid: 'externalId', displayname: 'displayName' } as const;
const EMAIL_PARTS: readonly string[] = ['value', 'type', 'primary', 'display'];
/** The service provider's own. */
const READ_ONLY: readonly string[] = ['id', 'meta', 'groups', 'schemas'];
/** Attributes of the core schema (RFC 7643, 4.1) that are not stored: ignored, and no error. */
const NOT_KEPT: readonly string[] = [
  ...['nickname', 'profileurl', 'title', 'usertype', 'preferredlanguage', 'locale', 'timezone', 'password'],
  ...['phonenumbers', 'ims', 'photos', 'addresses', 'entitlements', 'roles', 'x509certificates'],
  // Of enterprises (RFC 7643, 4.3): Microsoft's guide for SCIM endpoints sets `manager` without the name of its schema.
  ...['employeenumber', 'costcenter', 'organization', 'division', 'department', 'manager'],
];

export const readUserPatch = (body: unknown): UserChange[] => readPatch(body).flatMap(changesOf);

const has = <T extends object>(table: T, key: string | null): key is Extract<keyof T, string> =>
  key !== null && Object.hasOwn(table, key);

function changesOf(part: PatchPart): UserChange[] {
  const { op, path, value, isNamed } = part;
  const { attribute, sub } = path;
  // Of an extension, for example that for enterprises.
  if (attribute === null) return [];
  if (attribute === 'emails') return emailChanges(part);
  if (attribute === 'name') return nameChanges(part);
  if (path.where === null && sub === null) {
    if (has(TEXTS, attribute)) return [textChange(TEXTS[attribute], op === 'remove' ? null : value)];
    if (attribute === 'active') return activeChanges(part);
  }
  if (NOT_KEPT.includes(attribute) || !isNamed) return [];
  if (READ_ONLY.includes(attribute)) throw scimError('mutability', `${attribute} is not yours to change`);
  throw scimError('invalidPath', `A user has no attribute "${attribute}${sub === null ? '' : `.${sub}`}"`);
}

function textChange(
  attribute: Extract<UserChange, { kind: 'text' }>['attribute'],
  value: unknown,
): UserChange {
  const limit = attribute === 'userName' ? SCIM_LIMITS.address : SCIM_LIMITS.text;
  const read = attribute === 'externalId' ? textOf : stringOf;
  return { kind: 'text', attribute, value: read(value, attribute, limit) };
}

function activeChanges({ op, value }: PatchPart): UserChange[] {
  // It has no value to go back to that would not unlock somebody.
  if (op === 'remove')
    throw scimError('mutability', 'active is always there; set it to false to lock the account');
  const active = booleanOf(value, 'active');
  if (active === undefined) throw scimError('invalidValue', 'active must be true or false');
  return [{ kind: 'active', value: active }];
}

function nameChanges({ op, path, value, isNamed }: PatchPart): UserChange[] {
  const { sub } = path;
  if (has(NAME_PARTS, sub)) return [textChange(NAME_PARTS[sub], op === 'remove' ? null : value)];
  // A middle name and the like.
  if (sub !== null) return [];
  if (op === 'remove') return Object.values(NAME_PARTS).map((attribute) => textChange(attribute, null));
  if (!isNamed && (value === null || value === undefined)) return [];
  const fields = fieldsOf(value, 'name');
  return Object.entries(NAME_PARTS).flatMap(([key, attribute]) =>
    fields.has(key) ? [textChange(attribute, fields.get(key))] : [],
  );
}

function emailChanges({ op, path, value }: PatchPart): UserChange[] {
  const { sub } = path;
  const where = path.whereText;
  if (sub !== null && !EMAIL_PARTS.includes(sub)) return [];
  if (op === 'remove') return removedEmails(where, sub, value);
  if (sub !== null) {
    const part = emailPartOf(sub, value);
    // An address without a value is none.
    if (sub === 'value' && part === null) return [{ kind: 'emailsGone', where }];
    return [{ kind: 'email', where, fields: { [sub]: part } }];
  }
  if (where === null) return [{ kind: 'emails', how: op === 'add' ? 'add' : 'set', value: emailsOf(value) }];
  const fields = fieldsOf(value, 'the value of emails');
  const given = EMAIL_PARTS.flatMap((part) =>
    fields.has(part) ? [[part, emailPartOf(part, fields.get(part))] as const] : [],
  ).filter(([part, one]) => part !== 'value' || one !== null);
  return [{ kind: 'email', where, fields: Object.fromEntries(given) }];
}

/** What to remove may stand in the value, as Microsoft Entra ID has it for members of groups. */
function removedEmails(where: EmailMatch | null, sub: string | null, value: unknown): UserChange[] {
  if (sub !== null && sub !== 'value') return [{ kind: 'email', where, fields: { [sub]: null } }];
  if (where !== null || sub !== null || value === undefined || value === null)
    return [{ kind: 'emailsGone', where }];
  return emailsOf(value).map((email) => ({
    kind: 'emailsGone',
    where: [
      `value eq ${JSON.stringify(email.value)}`,
      ...(email.type === undefined ? [] : [`type eq ${JSON.stringify(email.type)}`]),
    ].join(' and '),
  }));
}
