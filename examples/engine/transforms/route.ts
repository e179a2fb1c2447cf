import { DEFAULT_OUTPUT, type Globals, type Transform } from '../component.ts';
import { isTable, type OptionReader } from '../config/option-reader.ts';
import { holds, readCondition } from './condition.ts';
import { toVrl } from './metric-view.ts';
import { PortBatches } from './port-batches.ts';

const UNMATCHED = '_unmatched';

/** `route`: sends each event to every port whose condition is true, and to `_unmatched` if none is. */
export function configureRoute(options: OptionReader, globals: Globals): Transform {
  const table = options.raw('route') ?? {};
  if (!isTable(table)) options.fail('invalid type: expected a map of conditions for `route`');
  const routes = Object.entries(table).map(([port, value]) => {
    if (port === DEFAULT_OUTPUT || port === UNMATCHED) {
      options.fail(`cannot have a named output with reserved name: \`${port}\``);
    }
    return { port, condition: readCondition(value, options.path, globals) };
  });
  const rerouteUnmatched = options.boolean('reroute_unmatched', true);
  options.finish();

  return {
    ports: [...routes.map((route) => route.port), ...(rerouteUnmatched ? [UNMATCHED] : [])],
    programs: routes.map((route) => route.condition),
    start: (context, programs) => (batch) => {
      const out = new PortBatches(batch.kind);
      let discarded = 0;
      for (const event of batch.events) {
        const view = toVrl(event, batch.kind);
        let matched = false;
        for (const [index, route] of routes.entries()) {
          if (!holds(programs[index]!, view, context)) continue;
          matched = true;
          out.add(route.port, event);
        }
        if (matched) continue;
        if (rerouteUnmatched) out.add(UNMATCHED, event);
        else discarded += 1;
      }
      if (discarded > 0) context.metrics.discarded(discarded, true);
      return out.finish();
    },
  };
}
