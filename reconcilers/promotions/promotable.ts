/** Which fields of a manifest travel, and which belong to its environment. */
import type { Fields, Promotable } from './merge.ts';
import { isMap } from './merge.ts';

export const TRAVELS = [
  'description',
  'logLevel',
  'drainSeconds',
  'sources',
  'transforms',
  'sinks',
  'global',
  'components',
  'tests',
  'dependsOn',
] as const;

/** Never touched in a manifest that is there. Beside these: name, uid, previousName and annotations. */
export const LOCAL = ['deployed', 'nodeSelector', 'values', 'rollout', 'autoRevert', 'suspend'] as const;

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The fields that travel, without those that say what absence says. `document` is a manifest as it is written. */
export function promotableOf(document: unknown): Promotable {
  const { metadata, spec } = isMap(document) ? document : {};
  const written = isMap(spec) ? spec : {};
  const labels = isMap(metadata) && isMap(metadata.labels) ? metadata.labels : {};
  return {
    labels,
    spec: Object.fromEntries(
      TRAVELS.map((field): [string, unknown] => [field, written[field]]).filter(
        ([field, value]) => !isEmpty(value) && !(field === 'logLevel' && value === 'info'),
      ),
    ),
  };
}

/** What a manifest says of its environment alone. */
export function localOf(document: unknown): Fields {
  const { spec } = isMap(document) ? document : {};
  const written = isMap(spec) ? spec : {};
  return Object.fromEntries(
    LOCAL.flatMap((field) => (written[field] === undefined ? [] : [[field, written[field]]])),
  );
}
