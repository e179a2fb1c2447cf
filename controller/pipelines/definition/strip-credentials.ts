/** Removes the plain-text credentials from configs that are copied to another environment or team. */
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { pointerTo } from '../../platform/yaml/pointer.ts';
import { isSensitive } from './mask.ts';

/** Returns the config without credentials, and their JSON pointers below `at`. */
export function withoutCredentials(
  config: Record<string, unknown>,
  at = '',
): { config: Record<string, unknown>; stripped: string[] } {
  const stripped: string[] = [];
  const clean = (value: unknown, key: string, pointer: string): unknown => {
    if (Array.isArray(value)) {
      const retained = value.filter((item) => !isSensitive(key, item));
      if (retained.length < value.length) stripped.push(pointer);
      return retained.map((item, index) => clean(item, key, pointerTo(pointer, index)));
    }
    if (typeof value !== 'object' || value === null) return value;
    return cleanRecord(value as Record<string, unknown>, pointer);
  };
  const cleanRecord = (record: Record<string, unknown>, pointer: string) =>
    Object.fromEntries(
      Object.entries(record).flatMap(([key, value]): [string, unknown][] => {
        const here = pointerTo(pointer, key);
        if (isSensitive(key, value)) {
          stripped.push(here);
          return [];
        }
        return [[key, clean(value, key, here)]];
      }),
    );
  return { config: cleanRecord(config, at), stripped };
}

/** `stripped` holds pointers that begin with the component's key: `/out/auth/password`. */
export function stripCredentials(nodes: readonly GraphNode[]): { nodes: GraphNode[]; stripped: string[] } {
  const stripped: string[] = [];
  const clean = nodes.map((node): GraphNode => {
    const found = withoutCredentials(node.config, `/${node.componentKey}`);
    stripped.push(...found.stripped);
    return { ...node, config: found.config };
  });
  return { nodes: clean, stripped };
}
