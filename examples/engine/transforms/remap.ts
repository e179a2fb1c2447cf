import { readFileSync } from 'node:fs';
import {
  type ComponentContext,
  component,
  DEFAULT_OUTPUT,
  type Process,
  type Transform,
} from '../component.ts';
import { defaulted, optional } from '../config/options.ts';
import { flag, text } from '../config/shape.ts';
import type { LogEvent } from '../event.ts';
import { systemErrorText } from '../system-error.ts';
import type { VrlProgram } from '../vrl/program.ts';
import { fromVrl, toVrl } from './metric-view.ts';
import { PortBatches } from './port-batches.ts';

const DROPPED = 'dropped';

export const remap = component({
  title: 'Remap with VRL',
  about: 'Changes events as they pass, by a program in the Vector Remap Language (VRL).',
  options: {
    source: optional(text, 'The program that runs on each event. Required where `file` is missing.', {
      syntax: 'remap_program',
      examples: ['. = parse_json!(.message)\n.level = downcase(string!(.level))'],
    }),
    file: optional(text, 'The path of a file with the program. Required where `source` is missing.', {
      examples: ['./my/program.vrl'],
    }),
    drop_on_error: defaulted(
      flag,
      false,
      'Drops events on which the program fails. Otherwise they pass as they came.',
    ),
    drop_on_abort: defaulted(flag, true, 'Drops events for which the program calls `abort`.'),
    reroute_dropped: defaulted(
      flag,
      false,
      'Sends dropped events to the output `<id>.dropped`, with the reason.',
    ),
  },
  lacking: ['files', 'metric_tag_values', 'timezone', 'runtime'],
  configure(values, { logSchema }): Transform {
    const { source, file, reroute_dropped: reroute } = values;
    const read = programOf(source, file);
    const options = { dropOnError: values.drop_on_error, dropOnAbort: values.drop_on_abort, reroute };
    return {
      ports: reroute ? [DEFAULT_OUTPUT, DROPPED] : [DEFAULT_OUTPUT],
      programs:
        'text' in read ? [{ text: read.text, purpose: 'program', timestampKey: logSchema.timestamp }] : [],
      check: () => ('text' in read ? [] : [read.error]),
      start: (context, [program]) => processor(context, program!, options),
    };
  },
});

interface RemapOptions {
  dropOnError: boolean;
  dropOnAbort: boolean;
  reroute: boolean;
}

function processor(context: ComponentContext, program: VrlProgram, options: RemapOptions): Process {
  const { log, metrics, globals } = context;
  return (batch) => {
    const out = new PortBatches(batch.kind);
    let discardedByAbort = 0;
    let discardedByError = 0;
    let errors = 0;
    for (const event of batch.events) {
      const outcome = program.run(toVrl(event, batch.kind));
      if (outcome.type === 'done') {
        for (const result of Array.isArray(outcome.event) ? outcome.event : [outcome.event]) {
          out.add(DEFAULT_OUTPUT, fromVrl(result, event, batch.kind, globals.logSchema.message));
        }
        continue;
      }
      if (outcome.type === 'error') {
        errors += 1;
        log.limited('error', 'Mapping failed with event.', {
          error: outcome.message,
          error_type: 'conversion_failed',
          stage: 'processing',
        });
      }
      const drop = outcome.type === 'abort' ? options.dropOnAbort : options.dropOnError;
      if (!drop) out.add(DEFAULT_OUTPUT, event);
      else if (options.reroute && batch.kind === 'log') {
        out.add(DROPPED, annotate(event as LogEvent, outcome.type, outcome.message, context));
      } else if (options.reroute) out.add(DROPPED, event);
      else if (outcome.type === 'abort') discardedByAbort += 1;
      else discardedByError += 1;
    }
    if (errors > 0) metrics.error('conversion_failed', 'processing', errors);
    if (discardedByAbort > 0) metrics.discarded(discardedByAbort, true);
    if (discardedByError > 0) metrics.discarded(discardedByError, false);
    return out.finish();
  };
}

/** A dropped event says who dropped it and why, under the metadata field. */
function annotate(event: LogEvent, reason: string, message: string, context: ComponentContext): LogEvent {
  const { id, kind, type } = context.metrics.component;
  const dropped = { component_id: id, component_kind: kind, component_type: type, message, reason };
  return { ...event, [context.globals.logSchema.metadata]: { dropped } };
}

const MAX_PROGRAM_BYTES = 1024 * 1024;

/** The text of the program, or why there is none. */
function programOf(
  source: string | undefined,
  file: string | undefined,
): { text: string } | { error: string } {
  if ((source === undefined) === (file === undefined)) {
    return { error: 'must provide exactly one of `source` or `file` or `files` configuration' };
  }
  if (source !== undefined) return { text: source };
  try {
    const text = readFileSync(file!, 'utf8');
    if (text.length <= MAX_PROGRAM_BYTES) return { text };
  } catch (error) {
    return {
      error: `Could not open vrl program "${file}": ${systemErrorText(error as NodeJS.ErrnoException)}`,
    };
  }
  return { error: `The vrl program "${file}" is larger than ${MAX_PROGRAM_BYTES} bytes` };
}
