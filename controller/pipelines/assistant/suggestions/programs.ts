/** Which VRL a component has, and how one of its programs is replaced. Pure. */
import type { GraphNode } from '../../../../schemas/api/pipelines/graph.ts';
import { badRequest } from '../../../platform/operation/errors.ts';
import { isRecord } from '../../../platform/text/is-record.ts';
import type { Program } from '../../engine/index.ts';

export interface ComponentProgram extends Program {
  /** The named output whose condition it is; undefined for the component's only program. */
  output: string | undefined;
}
type Configured = Pick<GraphNode, 'componentKey' | 'componentType' | 'config'>;

/** A condition is a text, or `{ type: vrl, source }`. */
const sourceOf = (value: unknown): string | null => {
  if (typeof value === 'string') return value;
  return isRecord(value) && value.type === 'vrl' && typeof value.source === 'string' ? value.source : null;
};

export function programsIn({ componentType, config }: Configured): ComponentProgram[] {
  const one = (value: unknown, purpose: Program['purpose'], output?: string): ComponentProgram[] => {
    const source = sourceOf(value);
    return source === null ? [] : [{ source, purpose, output }];
  };
  switch (componentType) {
    case 'remap':
      return one(config.source, 'program');
    case 'filter':
      return one(config.condition, 'condition');
    case 'route':
      return Object.entries(isRecord(config.route) ? config.route : {}).flatMap(([name, value]) =>
        one(value, 'condition', name),
      );
    case 'exclusive_route':
      return routesOf(config).flatMap((route) => one(route.condition, 'condition', String(route.name)));
    default:
      return [];
  }
}

const routesOf = (config: Readonly<Record<string, unknown>>): Record<string, unknown>[] =>
  Array.isArray(config.routes) ? config.routes.filter(isRecord) : [];

/** @throws BAD_REQUEST for a component that has no such program */
export function setProgram(
  { componentKey, componentType, config }: Configured,
  { program, output }: { program: string; output?: string | undefined },
): Record<string, unknown> {
  const isRouted = componentType === 'route' || componentType === 'exclusive_route';
  if (isRouted !== (output !== undefined))
    throw badRequest(
      isRouted
        ? `"${componentKey}" has a condition for each output; name the output`
        : `"${componentKey}" has no named outputs; leave the output out`,
    );
  switch (componentType) {
    case 'remap':
      return { ...config, source: program };
    case 'filter':
      return { ...config, condition: program };
    case 'route':
      return {
        ...config,
        route: { ...(isRecord(config.route) ? config.route : {}), [output ?? '']: program },
      };
    case 'exclusive_route': {
      const routes = routesOf(config);
      if (!routes.some(({ name }) => name === output))
        throw badRequest(`"${componentKey}" has no output "${output}"`);
      return {
        ...config,
        routes: routes.map((route) => (route.name === output ? { ...route, condition: program } : route)),
      };
    }
    default:
      throw badRequest(`"${componentKey}" is of the type ${componentType}, which has no VRL program`);
  }
}
