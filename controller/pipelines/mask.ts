/** Config values that look like credentials, blanked for those who may only read. */
const SENSITIVE =
  /pass(word|wd|phrase)?$|secret|token|api_?key|access_?key|private_?key|credential|authorization/i;
const PLACEHOLDER = /^\$\{[A-Za-z0-9_.]+\}$/;

export function maskSensitive(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, maskValue(key, value)]));
}

function maskValue(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => maskValue(key, item));
  if (typeof value === 'object' && value !== null) return maskSensitive(value as Record<string, unknown>);
  return typeof value === 'string' && SENSITIVE.test(key) && !PLACEHOLDER.test(value) ? '••••••' : value;
}
