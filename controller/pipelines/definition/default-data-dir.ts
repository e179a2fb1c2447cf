/** The folder that an engine uses where none is set. Written out, it yields to that of the agent as if it were absent. */
export const isDefaultDataDir = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && value.replace(/\/+$/, '') === '/var/lib/vector');
