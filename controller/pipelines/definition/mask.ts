/** Masks config values that look like credentials, for users who may only read. */
import { isPair, isScalar, parseDocument, visit } from 'yaml';
import { MASK } from '../../../schemas/pipelines/mask.ts';

const SENSITIVE =
  /pass(word|wd|phrase)?$|pwd$|secret|token|(api|access|private|license|account|shared|signing|encryption|auth)[-_]?key|credential|authorization|cookie|connection[-_]?string/i;
/** A number under such a key is a credential too; `max_tokens` and `secret_count` do not match. */
const SENSITIVE_NUMBER = /(pass(word|wd|phrase)?|pwd|secret|token|key)$/i;
const URL_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:(?!\$\{[A-Za-z0-9_.]+\}@)[^/\s]+@/i;
const PLACEHOLDER = /^\$\{[A-Za-z0-9_.]+\}$/;

export { MASK };

/** Shorter values would also mask ordinary words of a text. */
const MIN_MASKED_CHARS = 4;

export function maskSensitive(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, maskValue(key, value)]));
}

function maskValue(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => maskValue(key, item));
  if (typeof value === 'object' && value !== null) return maskSensitive(value as Record<string, unknown>);
  return isSensitive(key, value) ? MASK : value;
}

/** Whether a value is a credential: under a key that names one, or a URL with a password. A reference to a secret is none. */
export function isSensitive(key: string, value: unknown): boolean {
  if (typeof value === 'number') return SENSITIVE.test(key) && SENSITIVE_NUMBER.test(key);
  if (typeof value !== 'string') return false;
  return (SENSITIVE.test(key) && !PLACEHOLDER.test(value)) || URL_WITH_PASSWORD.test(value);
}

/** Masks the credentials of a config in a text about it: a checker may quote what it refuses. */
export function maskSensitiveIn(config: unknown, text: string): string {
  let masked = text;
  const hide = (key: string, value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) hide(key, item);
    else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) hide(name, item);
    else if (isSensitive(key, value) && String(value).length >= MIN_MASKED_CHARS)
      masked = masked.replaceAll(String(value), MASK);
  };
  hide('', config);
  return masked;
}

/** Masks the credentials of an engine config; a config without any keeps its formatting. */
export function maskYaml(text: string): string {
  const document = parseDocument(text);
  let masked = false;
  visit(document, {
    Scalar(_, scalar, path) {
      const pair = path.findLast((node) => isPair(node));
      if (!isPair(pair) || pair.key === scalar || !isScalar(pair.key)) return;
      if (!isSensitive(String(pair.key.value), scalar.value)) return;
      scalar.value = MASK;
      masked = true;
    },
  });
  return masked ? document.toString() : text;
}
