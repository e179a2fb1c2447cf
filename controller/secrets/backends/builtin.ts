import type { SecretBackend } from './backend.ts';

/** The database itself: what stands there is the value. */
export const builtinBackend: SecretBackend = {
  kind: 'BUILTIN',
  outside: false,
  check: async () => {},
  read: async () => new Map(),
  write: async () => {},
  close: () => {},
};
