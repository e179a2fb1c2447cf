/** From a request's text to values that fit the schemas of its row. */
import type { IncomingMessage } from 'node:http';
import type { TObject, TSchema } from 'typebox';
import { badRequest } from '../../controller/platform/operation/errors.ts';
import { sentences, validator } from '../../schemas/validate.ts';
import { readJson } from '../middleware/body.ts';
import { RestError } from './rest-error.ts';

const BODY_BYTES = 256 * 1024;

function checked(schema: TSchema, value: unknown): unknown {
  const issues = validator(schema).issues(value);
  if (issues.length > 0) throw badRequest(sentences(issues), { issues });
  return value;
}

/** Lists are repeated parameters; numbers are read where the schema wants one. Unknown and repeated ones are refused. */
export function readQuery(schema: TObject | undefined, text: string): unknown {
  const given = new URLSearchParams(text);
  const properties: Record<string, { type?: string }> = schema?.properties ?? {};
  const values: Record<string, unknown> = {};
  for (const name of new Set(given.keys())) {
    const all = given.getAll(name);
    if (!Object.hasOwn(properties, name))
      throw badRequest(`${name.slice(0, 100)} is not a known query parameter`);
    // A list of words has no type of its own.
    const type = properties[name]?.type;
    if (type === 'array') values[name] = all;
    else if (all.length > 1) throw badRequest(`${name} is given more than once`);
    else values[name] = type === 'integer' && /^-?\d{1,15}$/.test(all[0] ?? '') ? Number(all[0]) : all[0];
  }
  return schema ? checked(schema, values) : values;
}

/** 415 for anything but plain JSON, 413 for what is too large, 400 for what does not fit. */
export async function readBody(
  schema: TObject | undefined,
  request: IncomingMessage,
  limit = BODY_BYTES,
): Promise<unknown> {
  const { headers } = request;
  const empty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (empty) {
    if (schema) throw badRequest('The body is empty; send JSON');
    return {};
  }
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new RestError('UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new RestError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding');
  const body = await readJson(request, limit);
  if (schema) return checked(schema, body);
  if (typeof body !== 'object' || body === null || Object.keys(body).length > 0)
    throw badRequest('This takes no body; leave it out');
  return {};
}
