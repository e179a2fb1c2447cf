/** What every store of secrets looks like from here, and what all of them have in common: bounds, and what may be told. */
import type { SecretBackend as BackendKind } from '../../../schemas/api/secret-backends.ts';

/** Of one secret: its value, or why there is none. */
export type Reading = { value: string } | { error: string };

export interface SecretBackend {
  readonly kind: BackendKind;
  /** False where the database itself is the store: there is nothing to fetch. */
  readonly outside: boolean;
  /** Asks once whether it answers and lets us in; throws BackendError. */
  check(signal: AbortSignal): Promise<void>;
  /** One reading a name. Throws BackendError where the store as a whole does not work. */
  read(names: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Reading>>;
  /** `create` refuses a name that is there already. Throws BackendError. */
  write(name: string, value: string, how: 'create' | 'replace', signal: AbortSignal): Promise<void>;
  /** Lets go of what it holds: connections, sessions. */
  close(): void;
}

/** `unreachable` may pass by itself; `exists` and `forbidden` are about one name; everything else is `refused`. */
export type BackendFault = 'unreachable' | 'refused' | 'exists' | 'forbidden';

/** The message says what to do and holds neither a value nor a credential. */
export class BackendError extends Error {
  readonly fault: BackendFault;
  constructor(fault: BackendFault, message: string) {
    super(message);
    this.name = 'BackendError';
    this.fault = fault;
  }
}

export const BACKEND_LIMITS = {
  /** Of one call to a store. */
  deadlineMs: 10_000,
  valueBytes: 64 * 1024,
  replyBytes: 1024 * 1024,
  /** Characters of what a store says that are passed on. */
  quoted: 300,
  parallel: 4,
} as const;

/** Why a value cannot be used; null where it can. It travels to the engine as an environment variable. */
export function objectionTo(value: string): string | null {
  if (value === '') return 'the value is empty';
  if (Buffer.byteLength(value) > BACKEND_LIMITS.valueBytes) return 'the value is larger than 64 KiB';
  if (value.includes('\0')) {
    return 'the value holds NUL, and travels to the engine as an environment variable; keep it encoded (for example with base64) and decode it in the pipeline';
  }
  return value.isWellFormed() ? null : 'the value is no well-formed text';
}

export function readingOf(value: string): Reading {
  const objection = objectionTo(value);
  return objection === null ? { value } : { error: objection };
}

/** That one secret may not be read says nothing of the others. */
export function readingOfFault(error: unknown): Reading {
  if (error instanceof BackendError && error.fault === 'forbidden') return { error: error.message };
  throw error;
}

/** What a store said, for people: one line, bounded, without the given secrets. */
export function quoted(text: string, secrets: readonly (string | undefined)[]): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret && secret.length >= 4) shown = shown.replaceAll(secret, '[redacted]');
  }
  return shown
    .replaceAll(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, BACKEND_LIMITS.quoted);
}

/** A few at once; the first error stops the rest. */
export async function inParallel<T>(
  names: readonly string[],
  work: (name: string) => Promise<T>,
): Promise<Map<string, T>> {
  const results = new Map<string, T>();
  const waiting = names.values();
  const lane = async () => {
    for (const name of waiting) results.set(name, await work(name));
  };
  await Promise.all(Array.from({ length: BACKEND_LIMITS.parallel }, lane));
  return results;
}
