/** The body of a REST error: always `{error, code}`, and what else a program may need beside them. */
import { DomainError } from '../../controller/platform/operation/errors.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import { codeOfStatus, ERROR_CODES, type RestErrorCode } from '../../schemas/api/error-codes.ts';
import type { SchemaIssue } from '../../schemas/validate.ts';
import { type ErrorResponse, toErrorResponse } from '../middleware/request.ts';

/** A refusal that no use case knows of. */
export class RestError extends Error {
  readonly status: number;
  readonly code: RestErrorCode;
  readonly headers: Record<string, string>;
  constructor(code: RestErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'RestRefusal';
    this.code = code;
    this.status = ERROR_CODES[code][0];
    this.headers = headers;
  }
}

const MAX_DETAILS = 20;

export function restError(
  thrown: unknown,
  request: { requestId: string; path: string; log: Logger },
): ErrorResponse {
  const { status, headers, body } = shapedError(thrown, request);
  const { error, ...rest } = body;
  return { status, headers, body: { error, code: codeOf(thrown, status, body), ...rest } };
}

function codeOf(thrown: unknown, status: number, body: Record<string, unknown>): RestErrorCode {
  if (thrown instanceof RestError) return thrown.code;
  if (typeof body.code === 'string' && Object.hasOwn(ERROR_CODES, body.code))
    return body.code as RestErrorCode;
  if (status === 412 && body.managedBy === 'git') return 'MANAGED_BY_GIT';
  return codeOfStatus(status);
}

function shapedError(
  thrown: unknown,
  request: { requestId: string; path: string; log: Logger },
): ErrorResponse {
  const { status, headers, body } = toErrorResponse(thrown, request);
  if (thrown instanceof RestError) return { status, headers: { ...headers, ...thrown.headers }, body };
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
