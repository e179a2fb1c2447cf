/**
 * `${value.name}` in strings. A string that is nothing but one placeholder takes the value with its type, so a number
 * stays a number; inside of a longer string the value stands as text. `$$` is the engine's own escape and is left to
 * it: `$${value.name}` is not replaced. Values are not replaced within values, nor in included files.
 */

import { didYouMean } from '../../../controller/platform/text/nearest-name.ts';
import type { Finding } from '../finding.ts';

export type Scalar = string | number | boolean;

const PLACEHOLDER = /\$\$|\$\{value\.([^{}\n]{0,200})\}/g;

/** The sections of a Pipeline in which placeholders are replaced. */
export const VALUE_SECTIONS: ReadonlySet<string> = new Set(['sources', 'transforms', 'sinks', 'global']);

export function hasPlaceholder(text: string): boolean {
  return text.includes('${value.');
}

export function replaceValues(
  text: string,
  values: Readonly<Record<string, unknown>>,
  report: (finding: Omit<Finding, 'line' | 'column'>) => void,
): Scalar {
  let whole: Scalar | undefined;
  const replaced = text.replace(PLACEHOLDER, (match, name: string | undefined) => {
    if (name === undefined) return match;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      if (match === text) whole = value;
      return String(value);
    }
    const known = Object.keys(values);
    const otherwise =
      known.length === 0
        ? `Add it: values: { ${name}: … }.`
        : `Known values: ${known.slice(0, 10).join(', ')}.`;
    report({
      stage: 'references',
      message: `there is no value named ${name} in spec.values`,
      hint: didYouMean(name, known, otherwise),
    });
    return match;
  });
  return whole ?? replaced;
}
