/** Whether an environment's store is still the one that was looked at, and how its faults are told to whoever asked. */
import type { SecretBackend as BackendKind } from '../../../schemas/api/secret-backends.ts';
import {
  conflict,
  type DomainError,
  preconditionFailed,
  unavailable,
} from '../../platform/operation/errors.ts';
import { BackendError } from '../backends/backend.ts';

/** What the database holds of it; two that are equal are the same store. */
export interface BackendState {
  kind: BackendKind;
  sealed: string | null;
}

export const sameStore = (a: BackendState, b: BackendState): boolean =>
  a.kind === b.kind && a.sealed === b.sealed;

export const changedMeanwhile = (): DomainError =>
  conflict('Where this environment keeps its secrets was changed meanwhile; look at it and try again');

/** For whoever asked; anything else that was thrown stays what it is. */
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
