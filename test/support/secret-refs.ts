import { refTo, type SecretRef } from '../../controller/secrets/backends/secret-ref.ts';

/** Secrets that their names alone say where they are. */
export const refs = (names: readonly string[]): SecretRef[] => names.map(refTo);
