/** How configs refer to a secret: `SVC_SECRET_<UPPER_SNAKE>`. Several names may come to one variable; only one may exist. */
export function secretVariable(name: string): string {
  return `SVC_SECRET_${name.replaceAll(/[^a-zA-Z0-9]+/g, '_').toUpperCase()}`;
}

/**
 * `$$` is a literal dollar: what follows it is text. What follows the name is bounded, so that looking takes time linear to
 * the text.
 */
const REFERENCE = /\$\$|\$\{(SVC_SECRET_[A-Z0-9_]+)(:?-)?[^}]{0,1024}\}|\$(SVC_SECRET_[A-Z0-9_]+)/g;

export interface SecretReference {
  variable: string;
  /** Written with a default at every place, so that the engine starts without it. */
  optional: boolean;
}

/** The secrets that a text refers to, by variable, sorted. */
export function secretReferences(text: string): SecretReference[] {
  const found = new Map<string, boolean>();
  for (const match of text.matchAll(REFERENCE)) {
    const variable = match[1] ?? match[3];
    if (variable === undefined) continue;
    found.set(variable, (found.get(variable) ?? true) && match[2] !== undefined);
  }
  return [...found]
    .map(([variable, optional]) => ({ variable, optional }))
    .sort((a, b) => (a.variable < b.variable ? -1 : 1));
}

/** The text with `value` in the place of each reference, as an engine would expand them. */
export const withoutSecrets = (text: string, value: string): string =>
  text.replace(REFERENCE, (reference, braced?: string, _optional?: string, bare?: string) =>
    (braced ?? bare) === undefined ? reference : value,
  );
