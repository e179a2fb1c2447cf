/**
 * `$$` is a literal dollar, so what follows it is text. The length after the name is limited, so that the search takes
 * linear time.
 */
const REFERENCE = /\$\$|\$\{(SVC_SECRET_[A-Z0-9_]+)(:?-)?[^}]{0,1024}\}|\$(SVC_SECRET_[A-Z0-9_]+)/g;

export interface SecretReference {
  variable: string;
  /** Every reference has a default, so the engine starts without the secret. */
  optional: boolean;
}

/**
 * The suffix of a second variable, which holds the value escaped for a VRL string in double quotes. The variable of a secret
 * never has two underscores in a row, so the two kinds cannot collide.
 */
const VRL_FORM = '__VRL';

export const vrlVariable = (variable: string): string => `${variable}${VRL_FORM}`;

const baseOf = (variable: string): string =>
  variable.endsWith(VRL_FORM) ? variable.slice(0, -VRL_FORM.length) : variable;

/** Turns the references of a rendered config back into the form that users write. */
export const withPlainVariables = (text: string): string =>
  text.replace(REFERENCE, (reference, braced?: string, _optional?: string, bare?: string) => {
    const variable = braced ?? bare;
    return variable?.endsWith(VRL_FORM) ? reference.replace(variable, baseOf(variable)) : reference;
  });

/** The secrets that a text refers to in the form for VRL, by their plain variable, sorted. */
export const vrlReferences = (text: string): string[] =>
  [
    ...new Set(
      [...text.matchAll(REFERENCE)].flatMap((match) => {
        const variable = match[1] ?? match[3];
        return variable?.endsWith(VRL_FORM) ? [baseOf(variable)] : [];
      }),
    ),
  ].sort();

/** The secrets that a text refers to in either form, by variable, sorted. */
export function secretReferences(text: string): SecretReference[] {
  const found = new Map<string, boolean>();
  for (const match of text.matchAll(REFERENCE)) {
    const name = match[1] ?? match[3];
    if (name === undefined) continue;
    const variable = baseOf(name);
    found.set(variable, (found.get(variable) ?? true) && match[2] !== undefined);
  }
  return [...found]
    .map(([variable, optional]) => ({ variable, optional }))
    .sort((a, b) => (a.variable < b.variable ? -1 : 1));
}

/** The text with `value` in place of each reference, as an engine expands it. */
export const replaceSecrets = (text: string, value: string): string =>
  text.replace(REFERENCE, (reference, braced?: string, _optional?: string, bare?: string) =>
    (braced ?? bare) === undefined ? reference : value,
  );

/** The text with each known reference replaced by its value, as an engine expands it; other references stay. */
export const expandSecrets = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replace(
    REFERENCE,
    (reference, braced?: string, _optional?: string, bare?: string) =>
      values.get(braced ?? bare ?? '') ?? reference,
  );
