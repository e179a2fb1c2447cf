import { matchesGlob } from 'node:path';
import { DEFAULT_OUTPUT } from '../component.ts';
import type { DataType } from '../event.ts';
import { ConfigError } from './config-error.ts';

/** One output of one component, as in `{id: 'split', port: 'errors'}`. */
export interface Input {
  id: string;
  port: string;
}

export interface Producer {
  id: string;
  kind: 'source' | 'transform';
  ports: string[];
  /** Undefined for a transform: it gives what it gets. */
  types: DataType[] | undefined;
}

export interface Consumer {
  id: string;
  kind: 'transform' | 'sink';
  patterns: string[];
  accepts: readonly DataType[];
}

/**
 * Resolves `inputs`, which are names or globs over `id` and `id.port`, and checks the graph that they make:
 * unknown and repeated inputs, cycles, types. Throws ConfigError with Vector's texts.
 */
export function connect(
  producers: Producer[],
  consumers: Consumer[],
  relaxedWildcards: boolean,
  /** What was found in the components before. */
  found: readonly string[] = [],
): { inputs: Map<string, Input[]>; warnings: string[] } {
  const outputs = producers.flatMap(({ id, ports }) =>
    ports.map((port) => ({ id, port, name: port === DEFAULT_OUTPUT ? id : `${id}.${port}` })),
  );
  const inputs = new Map<string, Input[]>();
  const errors: string[] = [...found];

  for (const { id, kind, patterns } of consumers) {
    const title = `${kind === 'sink' ? 'Sink' : 'Transform'} "${id}"`;
    if (patterns.length === 0) errors.push(`${title} has no inputs`);
    const resolved = new Map<string, Input>();
    for (const pattern of new Set(patterns)) {
      const count = patterns.filter((other) => other === pattern).length;
      if (count > 1) errors.push(`${title} has input "${pattern}" duplicated ${count} times`);
      const exact = outputs.find((output) => output.name === pattern);
      const isGlob = /[*?[{]/.test(pattern);
      const matches = exact
        ? [exact]
        : isGlob
          ? outputs.filter((output) => output.id !== id && matchesGlob(output.name, pattern))
          : [];
      for (const { id: from, port, name } of matches) resolved.set(name, { id: from, port });
      if (matches.length === 0 && !(isGlob && relaxedWildcards)) {
        errors.push(`Input "${pattern}" for ${kind} "${id}" doesn't match any components.`);
      }
    }
    inputs.set(id, [...resolved.values()]);
  }
  if (errors.length > 0) throw new ConfigError(errors);

  const cycle = findCycle(inputs);
  if (cycle) throw new ConfigError(`Cyclic dependency detected in the chain [ ${cycle.join(' -> ')} ]`);
  checkTypes(producers, consumers, inputs);

  const used = new Set([...inputs.values()].flat().map(({ id, port }) => `${id}\u0000${port}`));
  const unused = outputs.filter(({ id, port }) => !used.has(`${id}\u0000${port}`));
  const kinds = new Map(producers.map((producer) => [producer.id, producer.kind]));
  const warnings = unused.map(
    ({ id, name }) => `${kinds.get(id) === 'source' ? 'Source' : 'Transform'} "${name}" has no consumers`,
  );
  return { inputs, warnings };
}

/** Whether an entry of `inputs` stands for the output of that name. */
export const standsFor = (pattern: string, name: string): boolean =>
  pattern === name || (/[*?[{]/.test(pattern) && matchesGlob(name, pattern));

function findCycle(inputs: Map<string, Input[]>): string[] | undefined {
  const done = new Set<string>();
  const walk = (id: string, path: string[]): string[] | undefined => {
    const at = path.indexOf(id);
    if (at >= 0) return [id, ...path.slice(at + 1).reverse(), id];
    if (done.has(id)) return undefined;
    for (const input of inputs.get(id) ?? []) {
      const cycle = walk(input.id, [...path, id]);
      if (cycle) return cycle;
    }
    done.add(id);
    return undefined;
  };
  for (const id of inputs.keys()) {
    const cycle = walk(id, []);
    if (cycle) return cycle;
  }
  return undefined;
}

const TYPE_NAMES: Record<DataType, string> = { log: 'Log', metric: 'Metric' };

function checkTypes(producers: Producer[], consumers: Consumer[], inputs: Map<string, Input[]>): void {
  const known = new Map<string, Set<DataType>>();
  const typesOf = (id: string): Set<DataType> => {
    const cached = known.get(id);
    if (cached) return cached;
    const own = producers.find((producer) => producer.id === id)?.types;
    const types = new Set(own ?? (inputs.get(id) ?? []).flatMap((input) => [...typesOf(input.id)]));
    known.set(id, types);
    return types;
  };
  const errors = consumers.flatMap(({ id, accepts }) =>
    (inputs.get(id) ?? [])
      .filter((input) => ![...typesOf(input.id)].some((type) => accepts.includes(type)))
      .map((input) => {
        const given = [...typesOf(input.id)].map((type) => `"${TYPE_NAMES[type]}"`).join(', ');
        const wanted = accepts.map((type) => `"${TYPE_NAMES[type]}"`).join(', ');
        return `Data type mismatch between ${input.id} ([${given}]) and ${id} ([${wanted}])`;
      }),
  );
  if (errors.length > 0) throw new ConfigError(errors);
}
