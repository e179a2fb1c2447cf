import { isDeepStrictEqual } from 'node:util';

/** Field to `[before, after]`. */
export type AuditDiff = Record<string, [unknown, unknown]>;

/** What a mutation says of itself; who, when and from where come from its context. Never a secret's value. */
export interface AuditEntry {
  /** For example `pipeline.deployed`. */
  action?: string;
  entityType: string;
  entityId: string | null;
  diff?: AuditDiff;
  metadata?: Record<string, unknown>;
  teamId?: string | null;
  environmentId?: string | null;
  commitSha?: string | null;
}

/** The fields of `after`, or those listed, whose values changed. What was not there before is null. */
export function diffOf<T extends object>(
  before: Partial<T> | null,
  after: T,
  fields: readonly (keyof T & string)[] = Object.keys(after) as (keyof T & string)[],
): AuditDiff {
  const changes = fields.map((field): [string, [unknown, unknown]] => [
    field,
    [before?.[field] ?? null, after[field] ?? null],
  ]);
  return Object.fromEntries(changes.filter(([, [was, is]]) => !isDeepStrictEqual(was, is)));
}
