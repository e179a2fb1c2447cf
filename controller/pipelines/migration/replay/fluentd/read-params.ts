/** Values of parameters, as plugins of Fluentd read them. */
import type { ConfigDirective } from '../../fluentd/config-tree.ts';
import { paramOf } from '../../fluentd/params.ts';
import { NotInterpreted } from './event.ts';

export function textParam(directive: ConfigDirective, key: string): string | null {
  const param = paramOf(directive, key);
  if (!param) return null;
  if (param.embeddedRuby.length > 0) throw new NotInterpreted(`${key} holds Ruby`);
  return param.value;
}

export function boolParam(directive: ConfigDirective, key: string, standard: boolean): boolean {
  const value = textParam(directive, key)?.trim().toLowerCase();
  // A key alone means true.
  return value === undefined ? standard : value === 'true' || value === 'yes' || value === '';
}

/** `["a", "b"]` or `a,b`. */
export function listParam(directive: ConfigDirective, key: string): string[] {
  const value = textParam(directive, key)?.trim() ?? '';
  if (value.startsWith('[')) {
    try {
      return (JSON.parse(value) as unknown[]).map(String);
    } catch {
      throw new NotInterpreted(`${key} is no list`);
    }
  }
  return value === '' ? [] : value.split(',').map((one) => one.trim());
}

export const sectionOf = (directive: ConfigDirective, name: string): ConfigDirective | undefined =>
  directive.children.find((child) => child.name === name);

export const typeOf = (directive: ConfigDirective): string =>
  textParam(directive, '@type') ?? textParam(directive, 'type') ?? '';

/** Reads and deletes a field by its name, or by `$.a.b` and `$["a"]["b"]`. */
export function accessorOf(key: string): {
  get(record: Record<string, unknown>): unknown;
  remove(record: Record<string, unknown>): void;
} {
  const path = pathOf(key);
  const parentOf = (record: Record<string, unknown>): Record<string, unknown> | null => {
    let at: unknown = record;
    for (const name of path.slice(0, -1)) at = isObject(at) ? at[name] : undefined;
    return isObject(at) ? at : null;
  };
  const last = path.at(-1) ?? '';
  return {
    get: (record) => {
      const parent = parentOf(record);
      return parent && Object.hasOwn(parent, last) ? parent[last] : undefined;
    },
    remove: (record) => {
      const parent = parentOf(record);
      if (parent) delete parent[last];
    },
  };
}

function pathOf(key: string): string[] {
  if (key.startsWith('$.')) return key.slice(2).split('.');
  if (!key.startsWith('$[')) return [key];
  const names = [...key.matchAll(/\[(?:"([^"]*)"|'([^']*)'|(\d+))\]/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
  if (names.length === 0) throw new NotInterpreted(`the path ${key}`);
  return names;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
