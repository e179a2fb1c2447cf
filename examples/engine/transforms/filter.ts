import { DEFAULT_OUTPUT, type Globals, type Transform } from '../component.ts';
import type { OptionReader } from '../config/option-reader.ts';
import { holds, readCondition } from './condition.ts';
import { toVrl } from './metric-view.ts';
import { PortBatches } from './port-batches.ts';

/** `filter`: passes the events for which the condition is true; one that fails counts as false. */
export function configureFilter(options: OptionReader, globals: Globals): Transform {
  const value = options.raw('condition');
  if (value === undefined) options.fail('missing field `condition`');
  const condition = readCondition(value, options.path, globals);
  options.finish();

  return {
    ports: [DEFAULT_OUTPUT],
    programs: [condition],
    start:
      (context, [program]) =>
      (batch) => {
        const out = new PortBatches(batch.kind);
        let discarded = 0;
        for (const event of batch.events) {
          if (holds(program!, toVrl(event, batch.kind), context)) out.add(DEFAULT_OUTPUT, event);
          else discarded += 1;
        }
        if (discarded > 0) context.metrics.discarded(discarded, true);
        return out.finish();
      },
  };
}
