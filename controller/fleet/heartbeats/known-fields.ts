import type { TObject } from 'typebox';

/** The fields of `value` that `schema` names and that are not null: what agents of others send beside costs nothing. */
export const knownFields = (schema: TObject, value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(schema.properties)
      .map((name): [string, unknown] => [name, (value as Record<string, unknown>)[name]])
      .filter(([, one]) => one !== null && one !== undefined),
  );
