import { component, DEFAULT_OUTPUT, type Transform } from '../component.ts';
import { required } from '../config/options.ts';
import { CONDITION_HINTS, condition, conditionSource, holds } from './condition.ts';
import { toVrl } from './metric-view.ts';
import { PortBatches } from './port-batches.ts';

export const filter = component({
  title: 'Filter',
  about: 'Passes the events for which the condition is true; one that fails counts as false.',
  options: { condition: required(condition, 'What is true of the events that pass.', CONDITION_HINTS) },
  configure(values, globals): Transform {
    return {
      ports: [DEFAULT_OUTPUT],
      programs: [conditionSource(values.condition, globals)],
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
  },
});
