/** The operations of PATCH (RFC 7644, 3.5.2), in whatever case their names come. */
import { type Path, parsePath, scimError } from '../../controller/identity/scim/index.ts';
import { SCIM_LIMITS, SCIM_URNS } from '../../schemas/scim/common.ts';
import { bodyOf, fieldsOf, isObject } from './json.ts';

export type PatchName = 'add' | 'remove' | 'replace';

/** One attribute, and what is said of it. */
export interface PatchPart {
  op: PatchName;
  path: Path;
  /** Undefined where nothing was given. */
  value: unknown;
  /** Whether it stood in `path`. What a value without a path holds beside what is known here is left out. */
  isNamed: boolean;
}

const NAMES: readonly string[] = ['add', 'remove', 'replace'];

export function readPatch(body: unknown, limit: number = SCIM_LIMITS.operations): PatchPart[] {
  const operations = bodyOf(body, SCIM_URNS.patch).get('operations');
  if (!Array.isArray(operations) || operations.length === 0)
    throw scimError('invalidSyntax', 'Operations must be a list with at least one operation');
  if (operations.length > limit)
    throw scimError('invalidValue', `Send at most ${limit} operations in a request`);
  const parts = operations.flatMap(readOperation);
  if (parts.length > limit)
    throw scimError('invalidValue', `Change at most ${limit} attributes in a request`);
  return parts;
}

function readOperation(given: unknown): PatchPart[] {
  const fields = fieldsOf(given, 'An operation');
  const name = fields.get('op');
  const op = typeof name === 'string' ? name.toLowerCase() : '';
  if (!NAMES.includes(op)) throw scimError('invalidSyntax', 'op must be add, remove or replace');
  const [path, value] = [fields.get('path'), fields.get('value')];
  // Null empties; to say nothing must not.
  if (op !== 'remove' && value === undefined) throw scimError('invalidValue', `${op} needs a value`);
  if (typeof path === 'string' && path.trim() !== '')
    return [{ op: op as PatchName, path: parsePath(path), value, isNamed: true }];
  if (path !== undefined && path !== null && path !== '')
    throw scimError('invalidPath', 'path must be a text');
  if (op === 'remove') throw scimError('noTarget', 'remove needs a path: say what to remove');
  if (!isObject(value))
    throw scimError('invalidValue', `${op} without a path needs an object of attributes as its value`);
  return Object.entries(value).flatMap(([key, one]): PatchPart[] => {
    const known = pathOfKey(key);
    return known ? [{ op: op as PatchName, path: known, value: one, isNamed: false }] : [];
  });
}

/** Keys may be paths: Microsoft documents `name.givenName` of Entra ID. Null for those that are none. */
function pathOfKey(key: string): Path | null {
  try {
    return parsePath(key);
  } catch {
    return null;
  }
}
