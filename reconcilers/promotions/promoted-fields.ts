/** Which fields of a manifest are promoted, and which belong to its environment. */
import type { Fields, Promotable } from './merge-promotion.ts';
import { isMap } from './merge-promotion.ts';

export const PROMOTED_FIELDS = [
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

/** Never changed in an existing manifest. The same holds for name, uid, previousName and annotations. */
export const LOCAL_FIELDS = [
  'deployed',
  'nodeSelector',
  'values',
  'rollout',
  'autoRevert',
  'suspend',
] as const;

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The promoted fields without those that equal their default. `document` is the parsed YAML of a manifest. */
export function promotableOf(document: unknown): Promotable {
  const { metadata, spec } = isMap(document) ? document : {};
  const written = isMap(spec) ? spec : {};
  const labels = isMap(metadata) && isMap(metadata.labels) ? metadata.labels : {};
  return {
    labels,
    spec: Object.fromEntries(
      PROMOTED_FIELDS.map((field): [string, unknown] => [field, written[field]]).filter(
        ([field, value]) => !isEmpty(value) && !(field === 'logLevel' && value === 'info'),
      ),
    ),
  };
}

/** The fields that belong to the environment. */
export function localFieldsOf(document: unknown): Fields {
  const { spec } = isMap(document) ? document : {};
  const written = isMap(spec) ? spec : {};
  return Object.fromEntries(
    LOCAL_FIELDS.flatMap((field) => (written[field] === undefined ? [] : [[field, written[field]]])),
  );
}
