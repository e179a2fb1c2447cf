/** Errors with the `scimType` of RFC 7644, table 9; null where the RFC has none. */
import { DomainError } from '../../platform/operation/errors.ts';

export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness';

export const scimError = (scimType: ScimType, message: string): DomainError =>
  new DomainError('BAD_REQUEST', message, { scimType });

export const uniquenessConflict = (message: string): DomainError =>
  new DomainError('CONFLICT', message, { scimType: 'uniqueness' });

/** A conflict with something else than a resource of the same name. */
export const scimConflict = (message: string): DomainError =>
  new DomainError('CONFLICT', message, { scimType: null });
