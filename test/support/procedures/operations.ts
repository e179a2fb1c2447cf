/** Every operation of the controller by its name, and what its output may hold. */
import type { TSchema } from 'typebox';
import { OPERATION_MODULES } from '../../../api/procedures/operations.ts';
import { pipelineConfigs, pipelineDeployments } from '../../../controller/pipelines/index.ts';
import type { RequiredAction } from '../../../controller/platform/operation/context.ts';
import type { Needs } from '../../../controller/platform/operation/operation.ts';

interface Described extends Needs {
  name: string;
  input: TSchema;
  output: TSchema;
  allowedBefore?: readonly RequiredAction[];
}
export type DescribedOperation = Described & ({ kind: 'query' } | { kind: 'mutation'; audit: string });

/** The last two modules are those of REST alone. */
export const OPERATIONS: ReadonlyMap<string, DescribedOperation> = new Map(
  [...OPERATION_MODULES, pipelineConfigs, pipelineDeployments]
    .flatMap((domain): DescribedOperation[] => Object.values(domain))
    .filter(({ kind }) => kind === 'query' || kind === 'mutation')
    .map((operation) => [operation.name, operation]),
);

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** Paths of fields that a schema does not name: what is not promised must not leak. */
export function unknownFields(schema: JsonSchema, value: unknown, path = ''): string[] {
  if (schema.anyOf) {
    const found = schema.anyOf.map((one) => unknownFields(one, value, path));
    return found.find((paths) => paths.length === 0) ?? found[0] ?? [];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => unknownFields(items, item, `${path}/${index}`)) : [];
  }
  const { properties } = schema;
  if (!properties || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const known = properties[key];
    return known ? unknownFields(known, item, `${path}/${key}`) : [`${path}/${key}`];
  });
}
