/** What every store of secrets looks like from here, and what all of them have in common: bounds, and what may be told. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SecretBackend as BackendKind } from '../../../schemas/api/secret-backends.ts';
import type { SecretRef } from './secret-ref.ts';

/** Of one secret: its value, or why there is none. */
export type Reading = { value: string } | { error: string };

export interface SecretBackend {
  readonly kind: BackendKind;
  /** False where the database itself is the store: there is nothing to fetch. */
  readonly outside: boolean;
  /** Asks once whether it answers and lets us in; throws BackendError. */
  check(signal: AbortSignal): Promise<void>;
  /** One reading by name. Throws BackendError, with what was read well, where the store as a whole does not work. */
  read(refs: readonly SecretRef[], signal: AbortSignal): Promise<ReadonlyMap<string, Reading>>;
  /** `create` refuses an entry that is there already. Throws BackendError. */
  write(ref: SecretRef, value: string, how: 'create' | 'replace', signal: AbortSignal): Promise<void>;
  /** Lets go of what it holds: connections, sessions. */
  close(): void;
}

/**
 * `entry`, `exists` and `forbidden` are about one name and say nothing of the others; `unreachable` may pass by itself, and
 * `throttled` does where less is asked; everything else is `refused`.
 */
export type BackendFault = 'unreachable' | 'throttled' | 'refused' | 'exists' | 'forbidden' | 'entry';

/** The message says what to do and holds neither a value nor a credential. */
export class BackendError extends Error {
  readonly fault: BackendFault;
  /** What was read well before the store as a whole failed. */
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

const OF_ONE_NAME: readonly BackendFault[] = ['entry', 'forbidden', 'exists'];
/** So many in a row that come to nothing mean the store, and not the entries. */
const GIVE_UP_AFTER = 4;
/** Between the tries of a name that a store asks to wait with: full jitter, so that environments do not come together. */
const THROTTLED_MS = [250, 1_000];

/**
 * Reads a few at once. An entry that cannot be read is that entry's fault; the others are read on.
 * @throws BackendError with what was read well, where the store as a whole does not work, or wants to be left alone.
 */
export async function readEach(
  refs: readonly SecretRef[],
  signal: AbortSignal,
  readOne: (ref: SecretRef) => Promise<Reading>,
): Promise<Map<string, Reading>> {
  const readings = new Map<string, Reading>();
  const waiting = refs.values();
  let answered = false;
  let inRow = 0;
  let last: BackendError | null = null;
  let stopped = false;

  async function take(ref: SecretRef): Promise<void> {
    const { name } = ref;
    try {
      readings.set(name, await withPauses(signal, () => readOne(ref)));
      answered = true;
      inRow = 0;
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      readings.set(name, { error: error.message });
      if (OF_ONE_NAME.includes(error.fault)) {
        answered = true;
        inRow = 0;
        return;
      }
      last = error;
      inRow += 1;
      stopped ||= error.fault === 'throttled' || inRow >= GIVE_UP_AFTER;
    }
  }
  const lane = async () => {
    for (const ref of waiting) {
      if (stopped) return;
      await take(ref);
    }
  };
  await Promise.all(Array.from({ length: BACKEND_LIMITS.parallel }, lane));
  const failed: BackendError | null = last;
  if (failed !== null && (stopped || !answered))
    throw new BackendError((failed as BackendError).fault, (failed as BackendError).message, { readings });
  return readings;
}

/** Once more, and again, where a store asks to wait. */
export async function withPauses<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
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
