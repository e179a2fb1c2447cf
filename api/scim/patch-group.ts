/** What PATCH says of a group. */
import { refused } from '../../controller/scim/index.ts';
import { SCIM_LIMITS } from '../../schemas/scim/common.ts';
import type { GroupChange } from '../../schemas/scim/group.ts';
import type { Comparison } from './filter.ts';
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
    if (op === 'remove') throw refused('mutability', 'displayName is required and cannot be removed');
    const name = stringOf(value, 'displayName');
    if (name === null) throw refused('invalidValue', 'displayName is required and cannot be empty');
    return [{ kind: 'displayName', value: name }];
  }
  if (attribute === 'externalid' && isWhole)
    return [{ kind: 'externalId', value: op === 'remove' ? null : textOf(value, 'externalId') }];
  if (!isNamed) return [];
  if (READ_ONLY.includes(attribute)) throw refused('mutability', `${attribute} is not yours to change`);
  throw refused('invalidPath', `A group has no attribute "${attribute}${sub === null ? '' : `.${sub}`}"`);
}

function memberChanges({ op, path, value }: PatchPart): GroupChange[] {
  if (path.where !== null) {
    // What a member is called follows the user.
    if (path.sub !== null && path.sub !== 'value' && op !== 'remove') return [];
    if (op === 'remove') return [{ kind: 'members', how: 'remove', ids: [memberOf(path.where)] }];
    throw refused('invalidPath', 'Members are added by the path "members" with a list of values');
  }
  if (path.sub !== null && path.sub !== 'value')
    throw refused('invalidPath', `members.${path.sub} is not yours to change`);
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

function memberOf(where: readonly Comparison[]): string {
  // Its type may be named: there are only users.
  const [one, ...others] = where.filter(({ attribute }) => attribute !== 'type');
  if (others.length > 0 || one?.attribute !== 'value' || typeof one.value !== 'string' || one.value === '')
    throw refused('invalidPath', 'A member is chosen by members[value eq "…"]');
  return one.value;
}
