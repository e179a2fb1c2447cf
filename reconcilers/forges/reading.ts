/** Answers of forges, believed only as far as they fit a schema, and cut to what is kept of them. */
import Type, { type Static, type TSchema } from 'typebox';
import { validator } from '../../schemas/validate.ts';
import { ForgeError } from './forge.ts';

/** Null or nothing at all. */
export const Maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
export const Sha = Type.String({ pattern: '^[0-9a-f]{40,64}$' });
/** People follow it from our pages: nothing but the web. */
export const WebAddress = Type.String({ pattern: '^https?://', maxLength: 2_048 });
export const Time = Type.String({ maxLength: 64 });

/** @throws ForgeError that names the field. */
export function read<S extends TSchema>(label: string, schema: S, value: unknown): Static<S> {
  const [issue] = validator(schema).issues(value);
  if (!issue) return value as Static<S>;
  throw new ForgeError(
    'unavailable',
    `${label} answers otherwise than expected: ${issue.path.slice(1, 100) || 'the answer'} ${issue.message}; is forge.url the address of its API, and the name of the forge the right one?`,
  );
}

const TITLE = 300;
const BODY = 20_000;
const NAME = 255;
const BRANCH = 1_000;

/** Without NUL, which the database does not keep. */
const cleaned = (text: string, length: number): string =>
  text.replaceAll('\0', '').slice(0, length).toWellFormed();

export const title = (text: string) => cleaned(text, TITLE);
export const body = (text: string | null | undefined) => cleaned(text ?? '', BODY);
export const person = (name: string | null | undefined) => cleaned(name ?? '', NAME) || 'somebody';
export const branch = (name: string) => cleaned(name.replace(/^refs\/heads\//, ''), BRANCH);

/** @throws ForgeError */
export function time(label: string, text: string): Date {
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw new ForgeError(
    'unavailable',
    `${label} answers with a time that is none; is forge.url the address of its API?`,
  );
}

/** The most characters of one line that are shown with a status. */
export const DESCRIPTION = 140;
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`.toWellFormed();
