/** Options of every component of a kind, read beside its own. */
import { acknowledgements } from './global-options.ts';
import { defaulted, optional, required, table, tagged } from './options.ts';
import { either, flag, integer, list, text, variants } from './shape.ts';

const inputs = required(list(text), 'The components that events come from. Globs may match several.', {
  examples: [['my-source-or-transform-id', 'prefix-*']],
});

const whenFull = variants(
  {
    block: 'Waits for room, and with it the components before.',
    drop_newest: 'Drops what comes.',
  },
  ['overflow'],
);
const buffer = tagged(
  'type',
  {
    memory: {
      about: 'Events wait in memory.',
      options: {
        max_events: defaulted(integer({ minimum: 1 }), 500, 'How many events may wait.', { unit: 'events' }),
        when_full: defaulted(whenFull, 'block', 'What happens when no more may wait.'),
      },
    },
  },
  {
    about: 'Where events wait.',
    fallback: 'memory',
    name: 'vector_buffers::config::BufferConfig',
    lackingCases: ['disk'],
    lacking: ['max_size'],
  },
);

const healthcheck = either(
  flag,
  table(
    {
      enabled: defaulted(flag, true, 'Whether the receiver is asked at the start whether it is well.'),
      uri: optional(text, 'What to ask. Without it there is nothing to check.'),
    },
    { lacking: ['timeout'], ignoresUnknown: true },
  ),
  'vector::config::sink::SinkHealthcheckOptions',
);

/** Those of every component of a kind that only Vector has. */
export const COMMON_LACKING = {
  sources: ['graph', 'proxy'],
  transforms: ['graph', 'measure_cpu_usage'],
  sinks: ['graph', 'proxy', 'healthcheck_uri'],
} as const;

export const COMMON_OPTIONS = {
  sources: { acknowledgements },
  transforms: { inputs },
  sinks: {
    inputs,
    buffer: defaulted(buffer, {}, 'How events wait for the sink.'),
    healthcheck: defaulted(healthcheck, true, 'How the sink is checked at the start.'),
    acknowledgements,
  },
};
