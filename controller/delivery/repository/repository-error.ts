/** Why a repository cannot be read or written, as a message for users. Never holds a credential. */

export type RepositoryFault =
  | 'credentials'
  | 'forbidden'
  | 'host-key'
  | 'certificate'
  | 'unreachable'
  | 'timeout'
  | 'not-found'
  | 'redirect'
  | 'asked-to-wait'
  | 'refused'
  | 'too-large'
  | 'disk'
  | 'program'
  | 'server'
  /** The local mirror or repository. */
  | 'copy';

/** Faults that a retry may resolve. */
export const TRANSIENT_FAULTS: readonly RepositoryFault[] = [
  'unreachable',
  'timeout',
  'asked-to-wait',
  'server',
];

export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
  readonly fault: RepositoryFault;
  /** How long the server asked to wait; null when it did not. */
  readonly retryAfterMs: number | null;

  constructor(fault: RepositoryFault, message: string, options: { retryAfterMs?: number } = {}) {
    super(message);
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
