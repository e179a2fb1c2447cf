/** Compares the store of an environment with the one that was read before, and maps the faults of a store to API errors. */
import type { SecretBackend as BackendKind } from '../../../schemas/api/secrets/secret-backends.ts';
import {
  conflict,
  type DomainError,
  preconditionFailed,
  unavailable,
} from '../../platform/operation/errors.ts';
import { BackendError } from '../backends/backend.ts';

/** The store as the database has it; two equal states are the same store. */
export interface BackendState {
  kind: BackendKind;
  sealed: string | null;
}

export const sameStore = (a: BackendState, b: BackendState): boolean =>
  a.kind === b.kind && a.sealed === b.sealed;

export const storeChanged = (): DomainError =>
  conflict('The secret backend of this environment has just been changed; check it and try again');

/** Maps a BackendError to an API error and returns any other error unchanged. */
export function toDomainError(error: unknown): unknown {
  if (!(error instanceof BackendError)) return error;
  switch (error.fault) {
    case 'unreachable':
    case 'throttled':
      return unavailable(error.message);
    case 'exists':
      return conflict(error.message);
    case 'entry':
    case 'forbidden':
    case 'refused':
      return preconditionFailed(error.message);
  }
}
