import type { TObject } from 'typebox';

/** The fields of `value` that `schema` defines and that are not null. Additional fields of third-party agents are ignored. */
export const knownFields = (schema: TObject, value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(schema.properties)
      .map((name): [string, unknown] => [name, (value as Record<string, unknown>)[name]])
      .filter(([, one]) => one !== null && one !== undefined),
  );
