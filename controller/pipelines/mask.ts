/** Config values that look like credentials, blanked for those who may only read. */
import { isPair, isScalar, parseDocument, visit } from 'yaml';

const SENSITIVE =
  /pass(word|wd|phrase)?$|secret|token|api_?key|access_?key|private_?key|credential|authorization/i;
const PLACEHOLDER = /^\$\{[A-Za-z0-9_.]+\}$/;

const BLANK = '••••••';

export function maskSensitive(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, maskValue(key, value)]));
}

function maskValue(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => maskValue(key, item));
  if (typeof value === 'object' && value !== null) return maskSensitive(value as Record<string, unknown>);
  return isSensitive(key, value) ? BLANK : value;
}

/** A text under a key that names a credential, and no mere reference to a secret. */
export const isSensitive = (key: string, value: unknown): boolean =>
  typeof value === 'string' && SENSITIVE.test(key) && !PLACEHOLDER.test(value);

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
