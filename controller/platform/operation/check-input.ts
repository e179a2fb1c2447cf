/** Checks the input of every API surface before anything is done with it. */
import type { Static, TSchema } from 'typebox';
import { sentences, validator } from '../../../schemas/validate.ts';
import { badRequest } from './errors.ts';

/** `undefined`, `null` and `{}` are all "no input"; `Date` becomes ISO text, so that either form may come in. */
export function checkInput<I extends TSchema>(op: { input: I }, raw: unknown): Static<I> {
  const input = storable(raw ?? {}, []);
  const issues = validator(op.input).issues(input);
  if (issues.length > 0) throw badRequest(sentences(issues), { issues });
  return input as Static<I>;
}

/** Postgres keeps neither NUL nor half a surrogate pair, in a text as little as in JSON. */
const UNSTORABLE = /[\0\p{Cs}]/u;

/** Dates as text; refuses what JSON does not have, and what the database could not keep. */
function storable(value: unknown, path: readonly string[]): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (path.length > 64) throw badRequest('input is nested more than 64 levels deep');
  const refuse = (what: string) => {
    const where = path.join('.').slice(0, 200).toWellFormed() || 'input';
    return badRequest(`${where} ${what}`);
  };
  if (typeof value === 'string' && UNSTORABLE.test(value))
    throw refuse('holds a NUL or half a surrogate pair; leave such characters out');
  if ((typeof value === 'number' && !Number.isFinite(value)) || !isJson(value))
    throw refuse(
      'is nothing that JSON has; write texts, finite numbers, true, false, null, lists and objects',
    );
  if (Array.isArray(value)) return value.map((item, index) => storable(item, [...path, String(index)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      // Some of what reads objects would take it for their prototype.
      if (key === '__proto__') throw refuse('holds the key __proto__; use another name');
      return [storable(key, path), storable(item, [...path, key])];
    }),
  );
}

/** Apart from what is in it. An absent field may be there as `undefined`. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return !['bigint', 'symbol', 'function'].includes(typeof value);
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
