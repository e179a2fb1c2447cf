/** Runs lines through translated components: programs, routes and filters by the VRL compiler at hand, nothing else. */
import { isRecord } from '../../../../platform/text/is-record.ts';
import type { EventRun, TransformRun, TypedEvent } from '../../../engine/index.ts';
import type { TranslatedComponent } from '../../translation.ts';
import { sourceEvent } from './source-event.ts';

export interface DeliveredByVector {
  line: number;
  /** The sink. */
  output: string;
  event: Record<string, unknown>;
  /** The sink writes a text that the block has made: this is the event from which it was made. */
  isBeforeText: boolean;
}

export interface TranslatedRun {
  delivered: DeliveredByVector[];
  unknown: { line: number; at: string; reason: string }[];
}

export type RunTransform = (
  transform: { key: string; type: string; options: Record<string, unknown> },
  events: readonly TypedEvent[],
) => Promise<TransformRun>;

interface Moving {
  line: number;
  event: TypedEvent;
}

export interface TranslatedRequest {
  components: readonly TranslatedComponent[];
  source: TranslatedComponent;
  lines: readonly { line: string; tag: string }[];
  now: number;
  run: RunTransform;
  /** The block of a component. */
  blockOf(componentKey: string): string;
}

export async function replayTranslated(request: TranslatedRequest): Promise<TranslatedRun> {
  const { components, source, run } = request;
  const result: TranslatedRun = { delivered: [], unknown: [] };
  /** Events by output: `key`, or `key.port`. */
  const left = new Map<string, Moving[]>();
  left.set(source.componentKey, await readLines(request, result));
  for (const component of inOrder(components)) {
    const { componentKey: key, kind, componentType: type, config } = component;
    const moving = component.inputs.flatMap((input) => left.get(input) ?? []);
    if (moving.length === 0) continue;
    // What goes nowhere is no output, as `null` of Fluentd.
    if (kind === 'SINK' && type === 'blackhole') continue;
    if (kind === 'SINK') {
      const isBeforeText = isText(config);
      const arriving = isBeforeText ? beforeText(component, request, left) : moving;
      for (const { line, event } of arriving)
        result.delivered.push({ line, output: key, event: encoded(config, event.event), isBeforeText });
      continue;
    }
    const ran = await run(
      { key, type, options: config },
      moving.map(({ event }) => event),
    );
    if (ran.status === 'unknown') {
      for (const line of new Set(moving.map((one) => one.line)))
        result.unknown.push({ line, at: key, reason: ran.reason });
      continue;
    }
    for (const [index, { outputs }] of ran.events.entries())
      leave(left, key, moving[index]?.line ?? 0, outputs);
  }
  for (const { componentKey } of cyclic(components))
    result.unknown.push({ line: 0, at: componentKey, reason: 'the components form a cycle' });
  return result;
}

const isText = ({ encoding }: Record<string, unknown>): boolean =>
  isRecord(encoding) && (encoding.codec === 'text' || encoding.codec === 'raw_message');

/** Goes back over the programs of the sink's own block. */
function beforeText(
  sink: TranslatedComponent,
  { components, blockOf }: TranslatedRequest,
  left: ReadonlyMap<string, Moving[]>,
): Moving[] {
  const block = blockOf(sink.componentKey);
  let inputs = sink.inputs;
  for (let steps = 0; steps < components.length; steps += 1) {
    const [only, ...others] = inputs;
    const before = components.find(({ componentKey }) => componentKey === only);
    if (!before || others.length > 0 || before.componentType !== 'remap') break;
    if (blockOf(before.componentKey) !== block) break;
    inputs = before.inputs;
  }
  return inputs.flatMap((input) => left.get(input) ?? []);
}

function leave(left: Map<string, Moving[]>, key: string, line: number, outputs: EventRun['outputs']): void {
  for (const { port, events } of outputs) {
    const name = port === null ? key : `${key}.${port}`;
    const made = left.get(name) ?? [];
    made.push(...events.map((event) => ({ line, event })));
    left.set(name, made);
  }
}

async function readLines(
  { source, lines, now, run }: TranslatedRequest,
  result: TranslatedRun,
): Promise<Moving[]> {
  const read: Moving[] = [];
  for (const [index, { line, tag }] of lines.entries()) {
    const made = sourceEvent(source, { line, tag, now });
    if ('unknown' in made) {
      result.unknown.push({ line: index, at: source.componentKey, reason: made.unknown });
      continue;
    }
    if (made.program === null) {
      read.push({ line: index, event: made.event });
      continue;
    }
    const options = { source: made.program, drop_on_error: true };
    const ran = await run({ key: source.componentKey, type: 'remap', options }, [made.event]);
    if (ran.status === 'unknown')
      result.unknown.push({ line: index, at: source.componentKey, reason: ran.reason });
    else
      for (const { events } of ran.events[0]?.outputs ?? [])
        read.push(...events.map((event) => ({ line: index, event })));
  }
  return read;
}

const keyOf = (input: string): string => input.split('.')[0] ?? '';

/** Each after all of its inputs. Those in a cycle are left out. */
function inOrder(components: readonly TranslatedComponent[]): TranslatedComponent[] {
  const done = new Set(
    components.filter(({ kind }) => kind === 'SOURCE').map(({ componentKey }) => componentKey),
  );
  const known = new Set(components.map(({ componentKey }) => componentKey));
  const ordered: TranslatedComponent[] = [];
  let waiting = components.filter(({ kind }) => kind !== 'SOURCE');
  for (let found = true; found; ) {
    const ready = waiting.filter(({ inputs }) =>
      inputs.every((input) => done.has(keyOf(input)) || !known.has(keyOf(input))),
    );
    found = ready.length > 0;
    for (const one of ready) done.add(one.componentKey);
    ordered.push(...ready);
    waiting = waiting.filter((one) => !done.has(one.componentKey));
  }
  return ordered;
}

function cyclic(components: readonly TranslatedComponent[]): TranslatedComponent[] {
  const ordered = new Set(inOrder(components));
  return components.filter((one) => one.kind !== 'SOURCE' && !ordered.has(one));
}

/** What a sink's `encoding` leaves of the fields at the top. */
function encoded(config: Record<string, unknown>, event: Record<string, unknown>): Record<string, unknown> {
  const encoding = isRecord(config.encoding) ? config.encoding : {};
  const names = (value: unknown): string[] =>
    Array.isArray(value) ? value.map((name) => String(name).replace(/^\.|"/g, '')) : [];
  const except = new Set(names(encoding.except_fields));
  const only = names(encoding.only_fields);
  return Object.fromEntries(
    Object.entries(event).filter(([name]) => !except.has(name) && (only.length === 0 || only.includes(name))),
  );
}
