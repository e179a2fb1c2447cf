/** The interface of every secret backend, with the limits, the redaction and the bulk reading that all backends share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretBackend as BackendKind } from '../../../schemas/api/secrets/secret-backends.ts';
import type { SecretRef } from './secret-ref.ts';

/** The value of one secret, or the reason why it has none. */
export type Reading = { value: string } | { error: string };

export interface SecretBackend {
  readonly kind: BackendKind;
  /** False where the database itself is the store: there is nothing to fetch. */
  readonly isExternal: boolean;
  /** Tests once that the store answers and accepts our credentials; throws BackendError. */
  check(signal: AbortSignal): Promise<void>;
  /** Readings by name. Throws BackendError, with the readings that succeeded, where the store as a whole fails. */
  read(refs: readonly SecretRef[], signal: AbortSignal): Promise<ReadonlyMap<string, Reading>>;
  /** `create` rejects an entry that exists already. Throws BackendError. */
  write(ref: SecretRef, value: string, how: 'create' | 'replace', signal: AbortSignal): Promise<void>;
  /** Closes its connections and sessions. */
  close(): void;
}

/**
 * `entry`, `exists` and `forbidden` concern one secret only. `unreachable` may be temporary, and `throttled` ends when we send
 * fewer requests. Everything else is `refused`.
 */
export type BackendFault = 'unreachable' | 'throttled' | 'refused' | 'exists' | 'forbidden' | 'entry';

/** The message says what to do and contains neither a value nor a credential. */
export class BackendError extends Error {
  readonly fault: BackendFault;
  /** The readings that succeeded before the store as a whole failed. */
  readonly readings: ReadonlyMap<string, Reading>;
  constructor(
    fault: BackendFault,
    message: string,
    options: { readings?: ReadonlyMap<string, Reading> } = {},
  ) {
    super(message);
    this.name = 'BackendError';
    this.fault = fault;
    this.readings = options.readings ?? new Map();
  }
}

export const BACKEND_LIMITS = {
  /** For one call to a store. */
  deadlineMs: 10_000,
  valueBytes: 64 * 1024,
  replyBytes: 1024 * 1024,
  /** Characters of a store's own message that we pass on. */
  messageChars: 300,
  parallel: 4,
} as const;

/** Why a value cannot be used; null where it can. The engine gets the value as an environment variable. */
export function invalidValueReason(value: string): string | null {
  if (value === '') return 'the value is empty';
  if (Buffer.byteLength(value) > BACKEND_LIMITS.valueBytes) return 'the value is larger than 64 KiB';
  if (value.includes('\0')) {
    return 'the value contains NUL, which an environment variable of the engine cannot hold; store it encoded (for example with base64) and decode it in the pipeline';
  }
  return value.isWellFormed() ? null : 'the value is not well-formed text';
}

export function toReading(value: string): Reading {
  const reason = invalidValueReason(value);
  return reason === null ? { value } : { error: reason };
}

/** A message of a store, fit for users: one line, bounded, without the given secrets. */
export function redact(text: string, secrets: readonly (string | undefined)[]): string {
  let redacted = text;
  for (const secret of secrets) {
    if (secret && secret.length >= 4) redacted = redacted.replaceAll(secret, '[redacted]');
  }
  return redacted
    .replaceAll(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, BACKEND_LIMITS.messageChars);
}

const ENTRY_FAULTS: readonly BackendFault[] = ['entry', 'forbidden', 'exists'];
/** After so many failures in a row the store is at fault, not the entries. */
const MAX_FAILURES_IN_ROW = 4;
/** Pauses between attempts when a store throttles us: full jitter, so that environments do not retry together. */
const THROTTLED_MS = [250, 1_000];

/**
 * Reads a few entries at a time. When one entry cannot be read, the others are still read.
 * @throws BackendError with the readings that succeeded, where the store as a whole fails or throttles us.
 */
export async function readEach(
  refs: readonly SecretRef[],
  signal: AbortSignal,
  readOne: (ref: SecretRef) => Promise<Reading>,
): Promise<Map<string, Reading>> {
  const readings = new Map<string, Reading>();
  const remaining = refs.values();
  let answered = false;
  let failuresInRow = 0;
  let last: BackendError | null = null;
  let stopped = false;

  async function read(ref: SecretRef): Promise<void> {
    const { name } = ref;
    try {
      readings.set(name, await retryThrottled(signal, () => readOne(ref)));
      answered = true;
      failuresInRow = 0;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      readings.set(name, { error: error.message });
      if (ENTRY_FAULTS.includes(error.fault)) {
        answered = true;
        failuresInRow = 0;
        return;
      }
      last = error;
      failuresInRow += 1;
      stopped ||= error.fault === 'throttled' || failuresInRow >= MAX_FAILURES_IN_ROW;
    }
  }
  const worker = async () => {
    for (const ref of remaining) {
      if (stopped) return;
      await read(ref);
    }
  };
  await Promise.all(Array.from({ length: BACKEND_LIMITS.parallel }, worker));
  const failed: BackendError | null = last;
  if (failed !== null && (stopped || !answered))
    throw new BackendError((failed as BackendError).fault, (failed as BackendError).message, { readings });
  return readings;
}

/** Repeats the work twice where a store throttles us. */
export async function retryThrottled<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const pauseMs of THROTTLED_MS) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BackendError) || error.fault !== 'throttled') throw error;
      await sleep(Math.random() * pauseMs, undefined, { signal });
    }
  }
  return work();
}
