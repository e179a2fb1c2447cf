/** A spec in its one form: defaults filled in from the schema; and the hash of what it means. */
import { hash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import { MANIFESTS, type ManifestKind, type ManifestSpec } from '../../../schemas/manifests/index.ts';

interface ObjectSchema {
  properties?: Record<string, ObjectSchema>;
  patternProperties?: Record<string, ObjectSchema>;
  default?: unknown;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Most defaults are empty, and a structured clone takes as long as all of the rest. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value) && value.length === 0) return [];
  if (isRecord(value) && Object.keys(value).length === 0) return {};
  return typeof value === 'object' ? structuredClone(value) : value;
}

function withDefaults(schema: ObjectSchema, value: unknown): unknown {
  if (!isRecord(value)) return value;
  if (!schema.properties) return value;
  const out: Record<string, unknown> = { ...value };
  for (const [key, field] of Object.entries(schema.properties)) {
    if (out[key] !== undefined) out[key] = withDefaults(field, out[key]);
    else if (field.default !== undefined) out[key] = copyOf(field.default);
  }
  return out;
}

/** A valid spec with its defaults. The given one is not changed; parts of it are shared. */
export function normaliseSpec<K extends ManifestKind>(kind: K, spec: object): ManifestSpec<K> {
  return withDefaults(MANIFESTS[kind].properties.spec as ObjectSchema, spec) as ManifestSpec<K>;
}

/** Of `components` only a component that is switched off changes what runs; titles and positions are for the editor. */
function withoutEditorData(spec: Record<string, unknown>): Record<string, unknown> {
  const { components, ...meaning } = spec;
  if (!isRecord(components)) return meaning;
  const disabled = Object.keys(components)
    .filter((key) => {
      const component = components[key];
      return isRecord(component) && component.disabled === true;
    })
    .sort();
  return disabled.length === 0 ? meaning : { ...meaning, components: disabled };
}

/** The semantic hash of a normalised spec: sha256, hex. */
export function specHash<K extends ManifestKind>(kind: K, spec: ManifestSpec<K>): string {
  const meaning: Record<string, unknown> = { ...spec };
  const canonical = stringify(kind === 'Pipeline' ? withoutEditorData(meaning) : meaning);
  return hash('sha256', canonical, 'hex');
}
