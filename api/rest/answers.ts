/** What a REST client is told of what went wrong: always `{error}`, and beside it what a program may need. */
import { DomainError } from '../../controller/platform/errors.ts';
import type { Logger } from '../../controller/platform/logger.ts';
import type { SchemaIssue } from '../../schemas/validate.ts';
import { type ErrorAnswer, errorAnswer } from '../middleware/request.ts';

/** A refusal that no use case knows of. */
export class RestRefusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'RestRefusal';
    this.status = status;
    this.headers = headers;
  }
}

const MAX_DETAILS = 20;

export function restError(
  thrown: unknown,
  request: { requestId: string; path: string; log: Logger },
): ErrorAnswer {
  const { status, headers, body } = errorAnswer(thrown, request);
  if (thrown instanceof RestRefusal) return { status, headers: { ...headers, ...thrown.headers }, body };
  if (!(thrown instanceof DomainError)) return { status, headers, body };
  if (thrown.code === 'UNAUTHORIZED')
    return { status, headers: { ...headers, 'WWW-Authenticate': 'Bearer' }, body };
  const { issues, ...rest } = body;
  if (thrown.details?.validationErrors !== undefined) return { status: 422, headers, body: rest };
  if (issues === undefined) return { status, headers, body };
  const details = (issues as SchemaIssue[])
    .slice(0, MAX_DETAILS)
    .map(({ path, message }) => ({ path, message }));
  return { status, headers, body: { ...rest, details } };
}
