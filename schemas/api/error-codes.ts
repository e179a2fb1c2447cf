/** The codes that errors of REST carry beside their sentence. They are stable: none is renamed or used for something else. */
import Type, { type Static } from 'typebox';

/** By code: the status that it comes with, and when. */
export const ERROR_CODES = {
  BAD_REQUEST: [400, 'the input is wrong; `details` names each field'],
  UNAUTHORIZED: [401, 'no key, or one that is not known, has expired or was revoked'],
  FORBIDDEN: [403, 'the key lacks the permission'],
  NOT_FOUND: [404, 'there is no such object in the environment of the key'],
  METHOD_NOT_SUPPORTED: [405, 'the address does not take this method; `Allow` names those that it takes'],
  CONFLICT: [409, 'the name is taken, or somebody changed it meanwhile'],
  REQUEST_IN_PROGRESS: [409, 'the first request with this `Idempotency-Key` is still running'],
  PRECONDITION_FAILED: [412, 'not in the present state; the message says why'],
  ETAG_MISMATCH: [412, '`If-Match` names another state than the present one: read it again'],
  MANAGED_BY_GIT: [412, 'git describes it; `path` and `line` say where'],
  PAYLOAD_TOO_LARGE: [413, 'the body is over its limit'],
  REQUEST_TIMEOUT: [408, 'the request took too long to arrive; send it again'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'the body is not plain `application/json`'],
  VALIDATION_FAILED: [422, 'the pipeline is not valid; `validationErrors` says where'],
  IDEMPOTENCY_KEY_REUSED: [422, 'the `Idempotency-Key` came with another request before'],
  TOO_MANY_REQUESTS: [429, 'try again after `Retry-After`'],
  HEADERS_TOO_LARGE: [431, 'the address and the headers are too long together'],
  INTERNAL_SERVER_ERROR: [500, 'a fault of the server; `requestId` leads to it in its log'],
  SERVICE_UNAVAILABLE: [503, 'the database does not answer at the moment; try again'],
} as const satisfies Record<string, readonly [number, string]>;

export type RestErrorCode = keyof typeof ERROR_CODES;
export const ErrorCode = Type.Enum(Object.keys(ERROR_CODES) as RestErrorCode[]);
export type ErrorCode = Static<typeof ErrorCode>;

/** The code of a refusal that has none of its own: the first of its status. */
export function codeOfStatus(status: number): RestErrorCode {
  const found = Object.entries(ERROR_CODES).find(([, [one]]) => one === status);
  if (found) return found[0] as RestErrorCode;
  return status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR';
}
