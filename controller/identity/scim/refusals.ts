/** Refusals with the word that SCIM has for them (RFC 7644, table 9); null where it has none. */
import { DomainError } from '../../platform/operation/errors.ts';

export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness';

export const refused = (scimType: ScimType, message: string): DomainError =>
  new DomainError('BAD_REQUEST', message, { scimType });

export const taken = (message: string): DomainError =>
  new DomainError('CONFLICT', message, { scimType: 'uniqueness' });

/** What stands in the way is no other resource of the same name. */
export const inTheWay = (message: string): DomainError =>
  new DomainError('CONFLICT', message, { scimType: null });
