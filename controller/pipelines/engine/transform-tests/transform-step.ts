/** What a transform does, for those that can be played without an engine. */
import type { TransformCase } from './test-case.ts';

export type Step =
  | { type: 'remap'; source: string; dropOnError: boolean; dropOnAbort: boolean; reroute: boolean }
  | { type: 'filter'; condition: string }
  | {
      type: 'route';
      routes: { name: string; condition: string }[];
      /** An event takes the first that is true, and no other. */
      exclusive: boolean;
      unmatched: boolean;
    };

/** Or why it cannot be played. */
export function stepOf({ type, options }: Pick<TransformCase, 'type' | 'options'>): Step | string {
  switch (type) {
    case 'remap': {
      const { source } = options;
      if (typeof source !== 'string') return 'its program is in a file on the nodes';
      return {
        type,
        source,
        dropOnError: options.drop_on_error === true,
        dropOnAbort: options.drop_on_abort !== false,
        reroute: options.reroute_dropped === true,
      };
    }
    case 'filter': {
      const condition = programOf(options.condition);
      return condition === null ? OTHER_LANGUAGE : { type, condition };
    }
    case 'route': {
      const routes = Object.entries(tableOf(options.route)).map(([name, condition]) => ({
        name,
        condition: programOf(condition),
      }));
      return routesOf(routes, false, options.reroute_unmatched !== false);
    }
    case 'exclusive_route': {
      const routes = (Array.isArray(options.routes) ? options.routes : []).map((route) => {
        const { name, condition } = tableOf(route);
        return { name: String(name), condition: programOf(condition) };
      });
      return routesOf(routes, true, true);
    }
    default:
      return `transforms of type ${type} run in the engine only`;
  }
}

const OTHER_LANGUAGE = 'its condition is in another language than VRL';

function routesOf(
  routes: readonly { name: string; condition: string | null }[],
  exclusive: boolean,
  unmatched: boolean,
): Step | string {
  const known = routes.flatMap(({ name, condition }) => (condition === null ? [] : [{ name, condition }]));
  return known.length < routes.length
    ? OTHER_LANGUAGE
    : { type: 'route', routes: known, exclusive, unmatched };
}

function tableOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function programOf(condition: unknown): string | null {
  if (typeof condition === 'string') return condition;
  const { type, source } = tableOf(condition);
  return type === 'vrl' && typeof source === 'string' ? source : null;
}
