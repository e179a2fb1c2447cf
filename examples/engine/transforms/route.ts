import { component, DEFAULT_OUTPUT, type Transform } from '../component.ts';
import { ConfigError } from '../config/config-error.ts';
import { defaulted, mapOf } from '../config/options.ts';
import { flag } from '../config/shape.ts';
import { condition, conditionSource, holds } from './condition.ts';
import { toVrl } from './metric-view.ts';
import { PortBatches } from './port-batches.ts';

const UNMATCHED = '_unmatched';

export const route = component({
  title: 'Route',
  about: 'Sends each event to every output whose condition is true.',
  options: {
    route: defaulted(
      mapOf(condition),
      {},
      'The outputs and their conditions. Others take them as inputs by `<id>.<output>`.',
      { syntax: 'remap_boolean_expression', examples: [{ errors: '.level == "error"' }] },
    ),
    reroute_unmatched: defaulted(
      flag,
      true,
      'Sends events for which no condition is true to the output `_unmatched`. Otherwise they are dropped.',
    ),
  },
  configure(values, globals, path): Transform {
    const reserved: string[] = [];
    const routes = [...values.route].map(([port, text]) => {
      if (port === DEFAULT_OUTPUT || port === UNMATCHED) {
        reserved.push(port);
      }
      return { port, condition: conditionSource(text, globals) };
    });
    if (reserved.length > 0) {
      const id = path.slice(path.indexOf('.') + 1);
      throw new ConfigError(
        reserved.map((port) => `Transform ${id} cannot have a named output with reserved name: \`${port}\``),
      );
    }
    const rerouteUnmatched = values.reroute_unmatched;
    return {
      ports: [...routes.map(({ port }) => port), ...(rerouteUnmatched ? [UNMATCHED] : [])],
      programs: routes.map((one) => one.condition),
      start: (context, programs) => (batch) => {
        const out = new PortBatches(batch.kind);
        let discarded = 0;
        for (const event of batch.events) {
          const view = toVrl(event, batch.kind);
          let matched = false;
          for (const [index, { port }] of routes.entries()) {
            if (!holds(programs[index]!, view, context)) continue;
            matched = true;
            out.add(port, event);
          }
          if (matched) continue;
          if (rerouteUnmatched) out.add(UNMATCHED, event);
          else discarded += 1;
        }
        if (discarded > 0) context.metrics.discarded(discarded, true);
        return out.finish();
      },
    };
  },
});
