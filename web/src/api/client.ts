import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client';
import superjson, { type SuperJSONResult } from 'superjson';
import type { AppRouter } from '../../../api/procedures/router.ts';
import type { Me } from '../../../schemas/api/identity/people.ts';
import { obligationOf } from './required-action.ts';

export { TRPCClientError };

/** Without a copy of what was just read: a list of thousands of nodes has megabytes. */
const transformer = {
  serialize: superjson.serialize,
  deserialize: (written: SuperJSONResult): unknown => superjson.deserialize(written, { inPlace: true }),
};

/** One request a call: the browser multiplexes, and each answer can be cached and retried alone. */
export const api = createTRPCClient<AppRouter>({
  links: [httpLink({ url: '/api/trpc', transformer })],
});

/** For calls that are to arrive although the page is being left. */
export const partingApi = createTRPCClient<AppRouter>({
  links: [
    httpLink({
      url: '/api/trpc',
      transformer,
      fetch: (url, init) => fetch(url, { ...(init as RequestInit), keepalive: true }),
    }),
  ],
});

/** What went wrong, in words for people. */
export interface Failure {
  /** The procedure's error code, or `NETWORK` when no answer came. */
  code: string;
  message: string;
  /** What to do about it; empty where the message says so itself. */
  advice: string;
  requestId: string | null;
}

const ADVICE: Record<string, string> = {
  NETWORK: 'Check that the controller is running and that this machine can reach it, then try again.',
  UNAUTHORIZED: 'Your session has ended. Sign in again.',
  FORBIDDEN: 'Your role does not allow this. Ask an administrator of the team.',
  NOT_FOUND: 'It may have been removed, or the link may belong to another team. Go back to the list.',
  BAD_REQUEST: 'Correct the input that the message names and send it again.',
  CONFLICT: 'The message says what stands in the way.',
  PRECONDITION_FAILED: 'The message says what has to be true first.',
  SERVICE_UNAVAILABLE:
    'The controller runs, but what stands behind it does not answer. Try again in a moment.',
  TOO_MANY_REQUESTS: 'Wait a moment and try again.',
};

const NAME_TAKEN = 'Choose another name.';

/** What stands here for a whole code is for messages that say only what is wrong. */
const saysWhatToDo = (message: string): boolean => /[.;:]\s+\S/.test(message);
const MESSAGE_MAY_SAY_IT: ReadonlySet<string> = new Set([
  'FORBIDDEN',
  'NOT_FOUND',
  'BAD_REQUEST',
  'CONFLICT',
  'PRECONDITION_FAILED',
  'SERVICE_UNAVAILABLE',
  'TOO_MANY_REQUESTS',
]);

function adviceFor(code: string, message: string): string {
  if (MESSAGE_MAY_SAY_IT.has(code) && saysWhatToDo(message)) return '';
  if (code === 'CONFLICT' && message.includes('exists already')) return NAME_TAKEN;
  return ADVICE[code] ?? 'Try again. If it stays, look in the controller’s log for the request id.';
}

/** Turns anything thrown by a call into a `Failure`. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof TRPCClientError) {
    const data: unknown = error.data;
    const code = textOf(data, 'code') ?? 'NETWORK';
    return {
      code,
      message: code === 'NETWORK' ? 'The controller did not answer.' : error.message,
      advice: adviceFor(code, error.message),
      requestId: textOf(data, 'requestId'),
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'UNEXPECTED', message, advice: 'Reload the page and try again.', requestId: null };
}

/** Answers that come back wrong for a reason that stays are not asked for again. */
const RETRY_CODES = [
  'NETWORK',
  'INTERNAL_SERVER_ERROR',
  'TIMEOUT',
  'SERVICE_UNAVAILABLE',
  'TOO_MANY_REQUESTS',
];
const RETRIES = 2;

/** Whether a read that has failed `count` times before is repeated without being asked to. */
export function mayRetry(count: number, error: unknown): boolean {
  const tookTooLong = error instanceof TRPCClientError && detailOf(error.data, 'tookTooLong') === true;
  return count < RETRIES && !tookTooLong && RETRY_CODES.includes(describeFailure(error).code);
}

/** Milliseconds: what the server asks for, else 1 s, 2 s … */
export function retryDelayMs(count: number, error: unknown): number {
  const seconds = error instanceof TRPCClientError ? detailOf(error.data, 'retryAfterSeconds') : undefined;
  return 1_000 * (typeof seconds === 'number' ? seconds : 2 ** count);
}

function textOf(value: unknown, key: string): string | null {
  const field = detailOf(value, key);
  return typeof field === 'string' ? field : null;
}

const detailOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

/** What the person has to do before anything else, where that is why a call was refused. */
export function requiredActionOf(error: unknown): Me['owes'] {
  return obligationOf(error instanceof TRPCClientError ? textOf(error.data, 'owes') : null);
}

/** The call needs a session whose user has given the password a moment ago: `user.confirmPassword`. */
export const asksToConfirm = (error: unknown): boolean =>
  error instanceof TRPCClientError && textOf(error.data, 'confirmWith') !== null;

export const isUnauthorized = (error: unknown): boolean =>
  error instanceof TRPCClientError && textOf(error.data, 'code') === 'UNAUTHORIZED';
