/** Config values that look like credentials, blanked for those who may only read. */
import { isPair, isScalar, parseDocument, visit } from 'yaml';

const SENSITIVE =
  /pass(word|wd|phrase)?$|pwd$|secret|token|(api|access|private|license|account|shared|signing|encryption|auth)[-_]?key|credential|authorization|cookie|connection[-_]?string/i;
/** Under such a name a number is one too; `max_tokens` and `secret_count` are none. */
const SENSITIVE_NUMBER = /(pass(word|wd|phrase)?|pwd|secret|token|key)$/i;
const URL_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:(?!\$\{[A-Za-z0-9_.]+\}@)[^/\s]+@/i;
const PLACEHOLDER = /^\$\{[A-Za-z0-9_.]+\}$/;

const BLANK = '••••••';
/** Less would blank words that only happen to be in a text. */
const SHORTEST_HIDDEN = 4;

export function maskSensitive(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, maskValue(key, value)]));
}

function maskValue(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => maskValue(key, item));
  if (typeof value === 'object' && value !== null) return maskSensitive(value as Record<string, unknown>);
  return isSensitive(key, value) ? BLANK : value;
}

/** A value under a key that names a credential, or a URL with a password in it; no mere reference to a secret. */
export function isSensitive(key: string, value: unknown): boolean {
  if (typeof value === 'number') return SENSITIVE.test(key) && SENSITIVE_NUMBER.test(key);
  if (typeof value !== 'string') return false;
  return (SENSITIVE.test(key) && !PLACEHOLDER.test(value)) || URL_WITH_PASSWORD.test(value);
}

/** For what is said about a config: a checker may quote what it refuses. */
export function withoutSensitive(config: unknown, text: string): string {
  let shown = text;
  const hide = (key: string, value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) hide(key, item);
    else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) hide(name, item);
    else if (isSensitive(key, value) && String(value).length >= SHORTEST_HIDDEN)
      shown = shown.replaceAll(String(value), BLANK);
  };
  hide('', config);
  return shown;
}

/** The same for an engine config; one without such values stays as it is written. */
export function maskYaml(text: string): string {
  const document = parseDocument(text);
  let masked = false;
  visit(document, {
    Scalar(_, scalar, path) {
      const pair = path.findLast((node) => isPair(node));
      if (!isPair(pair) || pair.key === scalar || !isScalar(pair.key)) return;
      if (!isSensitive(String(pair.key.value), scalar.value)) return;
      scalar.value = BLANK;
      masked = true;
    },
  });
  return masked ? document.toString() : text;
}
