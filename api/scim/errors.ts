/** Errors of SCIM, in the schema of RFC 7644, 3.12. */
import { DomainError } from '../../controller/platform/operation/errors.ts';
import type { Logger } from '../../controller/platform/runtime/logger.ts';
import { SCIM_URNS } from '../../schemas/scim/common.ts';
import { toErrorResponse } from '../middleware/request.ts';

/** A refusal that no use case knows of. */
export class ScimError extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'ScimRefusal';
    this.status = status;
    this.headers = headers;
  }
}

export interface ScimErrorResponse {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

export function scimError(
  thrown: unknown,
  request: { requestId: string; path: string; log: Logger },
): ScimErrorResponse {
  // 501 is a refusal like another, and no fault of the server.
  const { status, headers, body } =
    thrown instanceof ScimError
      ? { status: thrown.status, headers: {}, body: { error: thrown.message } }
      : toErrorResponse(thrown, request);
  const own = thrown instanceof ScimError ? thrown.headers : {};
  const asks: Record<string, string> = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  const scimType = scimTypeOf(thrown);
  // An internal error reveals nothing but the request id to look it up by.
  const detail = status === 500 ? `${String(body.error)}; request ${request.requestId}` : String(body.error);
  return {
    status,
    headers: { ...headers, ...asks, ...own },
    body: {
      schemas: [SCIM_URNS.error],
      status: String(status),
      ...(scimType === null ? {} : { scimType }),
      detail,
    },
  };
}

/** RFC 7644, table 9. A use case may say which, or null for none. */
function scimTypeOf(thrown: unknown): string | null {
  if (!(thrown instanceof DomainError)) return null;
  const scimType = thrown.details?.scimType;
  if (scimType === null || typeof scimType === 'string') return scimType;
  if (thrown.code === 'CONFLICT') return 'uniqueness';
  return thrown.code === 'BAD_REQUEST' ? 'invalidValue' : null;
}
