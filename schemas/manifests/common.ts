/** Pieces that the manifest schemas share. Every field has a description: editors show it beside the cursor. */
import Type, { type Static, type TProperties, type TSchema } from 'typebox';

export const API_VERSION = 'headgate/v1';
export const MANIFEST_KINDS = [
  'Pipeline',
  'AlertRule',
  'NodeGroup',
  'Silence',
  'WebhookEndpoint',
  'Environment',
  'Repository',
] as const;
export type ManifestKind = (typeof MANIFEST_KINDS)[number];

/** A component of a pipeline as its maps name it. */
export const COMPONENT_KEY = '^[a-zA-Z_][a-zA-Z0-9_]*$';

/** Unknown fields are refused: a misspelt option must not be ignored in silence. */
export const Strict = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false });

export const text = (description: string, maxLength: number) => Type.String({ description, maxLength });

export const labels = (description: string) =>
  Type.Record(Type.String({ pattern: '^.{1,128}$' }), Type.String({ maxLength: 256 }), {
    description,
    maxProperties: 64,
    additionalProperties: false,
  });

const PRUNE = Type.Enum(['auto', 'confirm', 'never'], {
  description: 'What becomes of the object when its manifest leaves git.',
});

/** Those that begin with `headgate/` are instructions: one that is misspelt must not be taken for none. */
const annotations = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    description,
    properties: { 'headgate/prune': PRUNE },
    patternProperties: { '^(?!headgate/).{1,128}$': { type: 'string', maxLength: 256 } },
    maxProperties: 64,
    additionalProperties: false,
  });

/** A map keyed by component key. */
export const byComponent = <S extends TSchema>(description: string, component: S) =>
  Type.Record(Type.String({ pattern: COMPONENT_KEY }), component, {
    description,
    maxProperties: 1000,
    additionalProperties: false,
    default: {},
  });

export const PrintableName = Type.String({
  description: 'Printable text that neither begins nor ends with a space, 1 to 100 characters.',
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\p{C}\\p{Z}](?:[^\\p{C}]*[^\\p{C}\\p{Z}])?$',
});

/** What every manifest says of itself; kinds differ in the rule for the name only. */
export const metadata = (name: typeof PrintableName) =>
  Strict('What identifies the object.', {
    name,
    uid: Type.Optional(
      Type.String({
        description:
          'Written by export; keeps the identity of the object through a rename. Leave it out of new manifests.',
        minLength: 1,
        maxLength: 64,
        pattern: '^[a-zA-Z0-9_-]+$',
      }),
    ),
    previousName: Type.Optional(
      text('The name before a rename, for the commit that renames. Not needed beside a uid.', 100),
    ),
    labels: Type.Optional(labels('Free labels of the object itself, for people and filters.')),
    annotations: Type.Optional(
      annotations('Instructions for the reconciler, such as headgate/prune: auto, confirm or never.'),
    ),
  });

export type ManifestMetadata = Static<ReturnType<typeof metadata>>;

/** As in Compose files: a place for anchors, which means nothing by itself. */
const ANCHORS = Type.Unknown({
  description: 'A place for what aliases in the spec repeat. By itself it means nothing.',
});

/** One YAML document. `kind` tells which spec it carries. */
export const manifest = <K extends ManifestKind, S extends TSchema>(
  kind: K,
  description: string,
  name: typeof PrintableName,
  spec: S,
) =>
  Type.Object(
    {
      apiVersion: Type.Literal(API_VERSION, { description: 'The format of this document.' }),
      kind: Type.Literal(kind, { description: 'What the document declares.' }),
      metadata: metadata(name),
      spec,
    },
    { description, patternProperties: { '^x-': ANCHORS }, additionalProperties: false },
  );

/** Fields that have a default are always there once a spec was read. */
export type WithDefaults<T, K extends keyof T> = Omit<T, K> & Required<Pick<T, K>>;

/** Names that differ in case or Unicode form only are one name. */
export const nameKeyOf = (name: string): string => name.normalize('NFC').toLowerCase();
