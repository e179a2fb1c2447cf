/** Answers of forges, believed only as far as they fit a schema, and cut to what is kept of them. */
import Type, { type Static, type TSchema } from 'typebox';
import { validator } from '../../schemas/validate.ts';
import { type ForgePullRequest, type LeftOut, UnreadableAnswer } from './forge.ts';

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
  throw new UnreadableAnswer(
    'unavailable',
    `${label} answers otherwise than expected: ${issue.path.slice(1, 100) || 'the answer'} ${issue.message}; is forge.url the address of its API, and the name of the forge the right one?`,
  );
}

/** One entry that cannot be read does not keep the others out. @throws ForgeError where the answer is no list of pull requests */
export async function readPulls(
  label: string,
  values: unknown,
  toPull: (value: unknown) => ForgePullRequest | Promise<ForgePullRequest>,
  leftOut: LeftOut = () => {},
): Promise<ForgePullRequest[]> {
  const pulls: ForgePullRequest[] = [];
  const unread: { name: string | null; error: UnreadableAnswer }[] = [];
  for (const value of read(label, Type.Array(Type.Unknown()), values)) {
    try {
      pulls.push(await toPull(value));
    } catch (error) {
      if (!(error instanceof UnreadableAnswer)) throw error;
      unread.push({ name: nameOf(value), error });
    }
  }
  // What has no number is no pull request at all: another API, or a page of a proxy.
  const strange = unread.find(({ name }) => name === null);
  if (strange) throw strange.error;
  for (const { name, error } of unread) leftOut(`${name} is left out: ${error.message}`);
  return pulls;
}

/** `#12`, by whichever of the names that forges have for it. */
function nameOf(value: unknown): string | null {
  const { number, iid, pullRequestId, id } = (value ?? {}) as Record<string, unknown>;
  const found = [number, iid, pullRequestId, id].find((one) => typeof one === 'number');
  return found === undefined ? null : `#${found}`;
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
export const userName = (name: string | null | undefined) => cleaned(name ?? '', NAME) || 'somebody';
export const branch = (name: string) => cleaned(name.replace(/^refs\/heads\//, ''), BRANCH);

/** @throws ForgeError */
export function time(label: string, text: string): Date {
  const at = new Date(text);
  if (!Number.isNaN(at.getTime())) return at;
  throw new UnreadableAnswer(
    'unavailable',
    `${label} answers with a time that is none; is forge.url the address of its API?`,
  );
}

/** The most characters of one line that are shown with a status. */
export const DESCRIPTION = 140;
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`.toWellFormed();
