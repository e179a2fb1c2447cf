/** Why a repository elsewhere cannot be read or written, in words for people. Never holds a credential. */

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
  /** Our own copy of it. */
  | 'copy';

export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
  readonly fault: RepositoryFault;
  /** What the other side asked us to wait; null where it did not. */
  readonly retryAfterMs: number | null;

  constructor(fault: RepositoryFault, message: string, options: { retryAfterMs?: number } = {}) {
    super(message);
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
