/** Reads the parameters of directives, in the types that plugins of Fluentd declare for them. */
import type { ConfigDirective, ConfigParam } from './config-tree.ts';

/** The last of a name counts, as in Fluentd. */
export const paramOf = (directive: ConfigDirective, key: string): ConfigParam | undefined =>
  directive.params.findLast((param) => param.key === key);

/** A parameter without a value is true. Null for what is no boolean. */
export function readBool(text: string): boolean | null {
  if (['true', 'yes', ''].includes(text)) return true;
  return ['false', 'no'].includes(text) ? false : null;
}

const SIZES: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** In bytes. */
export function readSize(text: string): number | null {
  const match = /^(\d{1,15})([kmgt]?)b?$/i.exec(text.trim());
  return match ? Number(match[1]) * (SIZES[(match[2] ?? '').toLowerCase()] ?? 1) : null;
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** In seconds. */
export function readTime(text: string): number | null {
  const match = /^(-?\d{1,12}(?:\.\d{1,9})?)([smhd]?)$/.exec(text.trim());
  return match ? Number(match[1]) * (SECONDS[match[2] ?? ''] ?? 1) : null;
}

export function readInteger(text: string): number | null {
  const match = /^-?\d{1,15}$/.exec(text.trim());
  return match ? Number(match[0]) : null;
}

/** JSON, or texts with commas between. */
export function readArray(text: string): string[] {
  const json = readJson(text);
  if (Array.isArray(json))
    return json.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** JSON, or `key:value` with commas between. */
export function readHash(text: string): Record<string, unknown> {
  const json = readJson(text);
  if (typeof json === 'object' && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>;
  return Object.fromEntries(
    text.split(',').flatMap((pair): [string, string][] => {
      const at = pair.indexOf(':');
      return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]];
    }),
  );
}

export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
