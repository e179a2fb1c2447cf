/** A Headgate that runs elsewhere, asked over REST with the key of a service account. */
import { readClientConfig } from '../config.ts';
import { messageOf } from '../platform/operation/errors.ts';
import { CannotRun, type Io, type OptionSpec, type ParsedOptions, UsageError } from './command.ts';

export const SERVER_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  env: { value: '<name>', help: 'the environment that is meant; refused where the key is for another one' },
  url: { value: '<address>', help: 'of the server, such as https://headgate.example.com [HEADGATE_URL]' },
};
export const KEY_HELP =
  'HEADGATE_API_KEY holds the key of a service account of the environment, with the permission gitops.read. It is read from the\nenvironment only, so that no list of processes shows it.';

/** Longer than a server may take for a plan. */
const DEADLINE_MS = 60_000;
const ANSWER_BYTES = 64 * 1024 * 1024;

export interface Server {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
}

export function serverOf(given: ParsedOptions, { env }: Io): Server {
  const { url, apiKey } = readClientConfig(env);
  const address = given.value('url') ?? url;
  if (address === null) throw new UsageError('say where the server is: --url https://… or HEADGATE_URL');
  const base = URL.parse(address);
  if (!base || !/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '')
    throw new UsageError('--url must be like https://headgate.example.com');
  if (apiKey === null)
    throw new UsageError('set HEADGATE_API_KEY to the key of a service account of the environment');
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new UsageError('HEADGATE_API_KEY holds signs that no key has');
  const call = (method: string, path: string, body?: object) => ask(base, apiKey, method, path, body);
  return {
    get: <T>(path: string) => call('GET', path) as Promise<T>,
    post: <T>(path: string, body: object) => call('POST', path, body) as Promise<T>,
  };
}

async function ask(base: URL, apiKey: string, method: string, path: string, body?: object): Promise<unknown> {
  const address = new URL(`${base.pathname.replace(/\/+$/, '')}/api/v1${path}`, base);
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(address, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      // The key is for this server and no other.
      redirect: 'manual',
      signal: AbortSignal.timeout(DEADLINE_MS),
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    text = await boundedText(answer);
  } catch (error) {
    throw new CannotRun(`${base.origin} does not answer: ${reasonOf(error)}`);
  }
  if (answer.status >= 300 && answer.status < 400)
    throw new CannotRun(
      `${base.origin} leads elsewhere (${answer.status}); give the address that it leads to`,
    );
  const value = parsed(text);
  if (answer.ok && value !== undefined) return value;
  const reason = (value as { error?: unknown } | undefined)?.error;
  const what = typeof reason === 'string' ? reason : `${answer.status} ${answer.statusText}`;
  throw new CannotRun(`${base.origin} refuses: ${printable(what)}${advice(answer.status)}`);
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES) throw new Error(`the answer is larger than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no answer within ${DEADLINE_MS / 1_000} s`;
  const cause = error instanceof Error ? error.cause : undefined;
  const inner = cause instanceof AggregateError ? cause.errors[0] : cause;
  return printable(messageOf(inner ?? error));
}

/** What comes from elsewhere goes to a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\ufffd').slice(0, 2_000);

function advice(status: number): string {
  if (status === 401) return '; look at HEADGATE_API_KEY';
  if (status === 404) return '; is the address that of a Headgate, and is it new enough for this command?';
  return '';
}

/** A key is for one environment: a command that names another one must not act on this one. */
export function rejectOtherOptions(given: ParsedOptions, environmentName: string): void {
  const wanted = given.value('env');
  if (wanted !== undefined && wanted !== environmentName)
    throw new CannotRun(
      `the key in HEADGATE_API_KEY is for the environment "${environmentName}", not for "${wanted}"`,
    );
}
