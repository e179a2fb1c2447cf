import type { SecretBackend } from './backend.ts';

/** The database is the store: the value is stored in our own table. */
export const builtinBackend: SecretBackend = {
  kind: 'BUILTIN',
  isExternal: false,
  check: async () => {},
  read: async () => new Map(),
  write: async () => {},
  close: () => {},
};
