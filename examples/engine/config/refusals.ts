/** Why a component's options are refused, in the words of Vector's parser: each ends with the component's path. */
import { ConfigError } from './config-error.ts';

/** `path` as in `sinks.out`. */
export function refusal(message: string, path: string): ConfigError {
  return new ConfigError(`${message}\nin \`${path}\``);
}

export function missingField(name: string, path: string): ConfigError {
  return refusal(`missing field \`${name}\``, path);
}

export function unknownField(name: string, known: readonly string[], path: string): ConfigError {
  return refusal(`unknown field \`${name}\`, expected ${oneOfList(known)}`, path);
}

export function unknownVariant(value: string, variants: readonly string[], path: string): ConfigError {
  return refusal(`unknown variant \`${value.slice(0, 100)}\`, expected ${oneOfList(variants)}`, path);
}

/** What Vector has and this engine has not. */
export function unavailable(name: string, path: string): ConfigError {
  return refusal(`option "${name}" is not available in headgate-engine`, path);
}

/** Names the kind of a value and not the value: it may be an expanded secret. */
export function mismatch(value: unknown, expected: string, path: string): ConfigError {
  return refusal(`invalid type: ${kindOf(value)}, expected ${expected}`, path);
}

function oneOfList(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length === 0) return 'no field';
  return quoted.length <= 2 ? quoted.join(' or ') : `one of ${quoted.join(', ')}`;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'unit value';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'number')
    return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  return typeof value === 'string' ? 'string' : 'map';
}
