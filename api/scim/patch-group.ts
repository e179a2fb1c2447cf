/** What PATCH says of a group. */
import { type Filter, scimError } from '../../controller/identity/scim/index.ts';
import { SCIM_LIMITS } from '../../schemas/scim/common.ts';
import type { GroupChange } from '../../schemas/scim/group.ts';
import { memberIdsOf, stringOf, textOf } from './json.ts';
import { type PatchPart, readPatch } from './read-patch.ts';

/** The service provider's own. */
const READ_ONLY: readonly string[] = ['id', 'meta', 'schemas'];

/** Each member may have an operation of its own, as authentik sends them and Okta removes them. */
export const readGroupPatch = (body: unknown): GroupChange[] =>
  readPatch(body, SCIM_LIMITS.members).flatMap(changesOf);

function changesOf(part: PatchPart): GroupChange[] {
  const { op, path, value, isNamed } = part;
  const { attribute, sub } = path;
  // Of an extension.
  if (attribute === null) return [];
  if (attribute === 'members') return memberChanges(part);
  const isWhole = path.where === null && sub === null;
  if (attribute === 'displayname' && isWhole) {
    if (op === 'remove') throw scimError('mutability', 'displayName is required and cannot be removed');
    const name = stringOf(value, 'displayName');
    if (name === null) throw scimError('invalidValue', 'displayName is required and cannot be empty');
    return [{ kind: 'displayName', value: name }];
  }
  if (attribute === 'externalid' && isWhole)
    return [{ kind: 'externalId', value: op === 'remove' ? null : textOf(value, 'externalId') }];
  if (!isNamed) return [];
  if (READ_ONLY.includes(attribute)) throw scimError('mutability', `${attribute} is not yours to change`);
  throw scimError('invalidPath', `A group has no attribute "${attribute}${sub === null ? '' : `.${sub}`}"`);
}

function memberChanges({ op, path, value }: PatchPart): GroupChange[] {
  if (path.where !== null) {
    // What a member is called follows the user.
    if (path.sub !== null && path.sub !== 'value' && op !== 'remove') return [];
    if (op === 'remove') {
      // By their ids, so that pending members are found as well.
      const ids = namedMembers(path.where);
      return ids === null
        ? [{ kind: 'membersGone', where: path.whereText ?? '' }]
        : [{ kind: 'members', how: 'remove', ids }];
    }
    throw scimError('invalidPath', 'Members are added by the path "members" with a list of values');
  }
  if (path.sub !== null && path.sub !== 'value')
    throw scimError('invalidPath', `members.${path.sub} is not yours to change`);
  switch (op) {
    case 'add':
      return [{ kind: 'members', how: 'add', ids: memberIdsOf(value) }];
    case 'replace':
      return [{ kind: 'members', how: 'set', ids: memberIdsOf(value) }];
    case 'remove':
      // Who leaves may stand in the value, as Microsoft documents of Entra ID; without one everybody does.
      return value === undefined || value === null
        ? [{ kind: 'members', how: 'set', ids: [] }]
        : [{ kind: 'members', how: 'remove', ids: memberIdsOf(value) }];
  }
}

/** The members that `value eq "…"` names, alone, or several with `or`; null for any other filter. */
function namedMembers(where: Filter): string[] | null {
  if (where.op === 'or') {
    const all = where.of.map(namedMembers);
    return all.every((one) => one !== null) ? all.flat() : null;
  }
  // Its type may be named: there are only users.
  if (where.op === 'and') {
    const others = where.of.filter((one) => !(one.op === 'eq' && one.attribute === 'type'));
    const [one] = others;
    return others.length === 1 && one ? namedMembers(one) : null;
  }
  const isNamed = where.op === 'eq' && where.attribute === 'value' && typeof where.value === 'string';
  if (!isNamed) return null;
  if (where.value === '') throw scimError('invalidPath', 'A member is chosen by members[value eq "…"]');
  return [String(where.value)];
}
