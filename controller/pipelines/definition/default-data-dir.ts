/** Whether a `data_dir` is the engine's default folder. The agent's folder overrides it, as if it were absent. */
export const isDefaultDataDir = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && value.replace(/\/+$/, '') === '/var/lib/vector');
