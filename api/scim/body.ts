import type { IncomingMessage } from 'node:http';
import { scimError } from '../../controller/identity/scim/index.ts';
import { DomainError } from '../../controller/platform/operation/errors.ts';
import { SCIM_LIMITS } from '../../schemas/scim/common.ts';
import { readJson } from '../middleware/body.ts';
import { ScimError } from './errors.ts';

const TYPES: readonly string[] = ['application/scim+json', 'application/json'];

/** RFC 7644, 3.1: `application/scim+json`, and plain JSON. 415 for anything else, 413 for what is too large. */
export async function readScimBody(message: IncomingMessage): Promise<unknown> {
  const { headers } = message;
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type === undefined || !TYPES.includes(type))
    throw new ScimError(415, 'Send the body with Content-Type: application/scim+json');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new ScimError(415, 'Send the body without Content-Encoding');
  try {
    return await readJson(message, SCIM_LIMITS.bodyBytes);
  } catch (error) {
    if (error instanceof DomainError && error.code === 'BAD_REQUEST')
      throw scimError('invalidSyntax', error.message);
    throw error;
  }
}
