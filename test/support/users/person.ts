/** People, as they come to the API: by a browser's session cookie, and raw, so that every status and body can be seen. */
import { expect } from 'chai';
import { insertUser } from '../../../controller/identity/access/users/users-store.ts';
import { addMember } from '../../../controller/identity/teams/members-store.ts';
import type { Role } from '../../../schemas/api/common.ts';
import { type HttpResponse, type SendOptions, send } from '../clients/http.ts';
import type { TestDb } from '../harness/test-db.ts';
import { cheapPasswords } from './passwords.ts';

export const PASSWORD = 'correct horse battery';
let hashed: Promise<string> | undefined;

export interface NewUser {
  email: string;
  isSuperAdmin?: boolean;
  /** Team id to role. */
  teams?: Record<string, Role>;
}

/** A user with `PASSWORD`; answers its id. */
export async function makeUser(db: TestDb, user: NewUser): Promise<string> {
  hashed ??= cheapPasswords.hash(PASSWORD);
  const id = await insertUser(db, {
    email: user.email,
    name: user.email.split('@')[0] ?? user.email,
    passwordHash: await hashed,
    isSuperAdmin: user.isSuperAdmin ?? false,
  });
  for (const [teamId, role] of Object.entries(user.teams ?? {})) await addMember(db, teamId, id, role);
  return id;
}

export interface ProcedureFault {
  message: string;
  code: number;
  data: { code: string; httpStatus: number; requestId: string | null; [detail: string]: unknown };
}

export interface ProcedureResponse<T> {
  status: number;
  /** The output as it travels, dates as ISO strings; null after an error. */
  output: T | null;
  /** superjson's notes: which values are dates. */
  meta: { values?: Record<string, unknown> } | undefined;
  fault: ProcedureFault | null;
  answer: HttpResponse;
}

export type Kind = 'query' | 'mutation';
/** For procedures whose input is left out altogether. */
export const NOTHING = Symbol('no input');

/** A call by the API's convention: queries by GET with `?input={"json":…}`, mutations by POST of `{"json":…}`. */
export async function callProcedure<T>(
  url: string,
  kind: Kind,
  name: string,
  input: unknown = NOTHING,
  headers: SendOptions['headers'] = {},
): Promise<ProcedureResponse<T>> {
  const address = `${url}/api/trpc/${name}`;
  const text = input === NOTHING ? null : JSON.stringify({ json: input });
  const answer =
    kind === 'query'
      ? await send(text === null ? address : `${address}?input=${encodeURIComponent(text)}`, { headers })
      : await send(address, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: text ?? '',
        });
  return readProcedureResponse(answer);
}

export function readProcedureResponse<T>(answer: HttpResponse): ProcedureResponse<T> {
  const body = answer.json<{
    result?: { data: { json: T; meta?: { values?: Record<string, unknown> } } };
    error?: { json: ProcedureFault };
  }>();
  return {
    status: answer.status,
    output: body.result?.data.json ?? null,
    meta: body.result?.data.meta,
    fault: body.error?.json ?? null,
    answer,
  };
}

export interface TestUser {
  /** Of the controller that they are signed in to. */
  url: string;
  email: string;
  /** As the browser sends it back: `name=value`. */
  cookie: string;
  call<T>(kind: Kind, name: string, input?: unknown): Promise<ProcedureResponse<T>>;
  /** The output; throws where there is none. */
  query<T>(name: string, input?: unknown): Promise<T>;
  mutate<T>(name: string, input?: unknown): Promise<T>;
}

export function trySignIn(
  url: string,
  email: string,
  password: string,
  headers: SendOptions['headers'] = {},
) {
  return send(`${url}/api/auth/sign-in`, { headers, body: { email, password } });
}

/** `name=value` of the cookies that an answer sets. */
export function cookieOf(answer: HttpResponse): string {
  return (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
}

export async function signIn(url: string, email: string, password: string = PASSWORD): Promise<TestUser> {
  const answer = await trySignIn(url, email, password);
  if (answer.status !== 200) throw new Error(`sign-in of ${email}: ${answer.status} ${answer.text}`);
  const cookie = cookieOf(answer);
  const call = <T>(kind: Kind, name: string, input?: unknown) =>
    callProcedure<T>(url, kind, name, input, { cookie });
  const wanted = async <T>(kind: Kind, name: string, input?: unknown): Promise<T> => {
    const { output, status, fault } = await call<T>(kind, name, input);
    if (output === null) throw new Error(`${name}: ${status} ${fault?.message}`);
    return output;
  };
  return {
    url,
    email,
    cookie,
    call,
    query: (name, input) => wanted('query', name, input),
    mutate: (name, input) => wanted('mutation', name, input),
  };
}

/** How a call was refused: `CONFLICT: the message`; `OK` where it was not. */
export const refusalOf = ({ fault }: { fault: ProcedureFault | null }): string =>
  fault ? `${fault.data.code}: ${fault.message}` : 'OK';

/** Fails unless the call was refused with this status, and a message that contains or matches all of these. */
export function expectRefused(
  { status, fault }: { status: number; fault: ProcedureFault | null },
  expected: number,
  ...says: readonly (string | RegExp)[]
): void {
  expect(status, fault?.message).to.equal(expected);
  for (const one of says)
    if (typeof one === 'string') expect(fault?.message).to.include(one);
    else expect(fault?.message).to.match(one);
}

/** A new user, signed in. */
export async function signUp(test: { db: TestDb; url: string }, user: NewUser): Promise<TestUser> {
  await makeUser(test.db, user);
  return signIn(test.url, user.email);
}
