import { badRequest, type DomainError } from '../../controller/platform/operation/errors.ts';
import { type SchemaIssue, sentences } from '../../schemas/validate.ts';

export function invalidBody(issues: readonly SchemaIssue[]): DomainError {
  return badRequest(sentences(issues), {
    details: issues.slice(0, 20).map(({ path, message }) => ({ path, message })),
  });
}
