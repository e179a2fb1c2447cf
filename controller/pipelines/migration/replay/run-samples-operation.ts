/** Runs the same lines through the original and through what it became. Stores nothing. */
import {
  MAX_SAMPLE_BYTES,
  RunSamples,
  type SampleLine,
  SampleRun,
} from '../../../../schemas/api/pipelines/migrations.ts';
import type { Actor, Context } from '../../../platform/operation/context.ts';
import { badRequest, preconditionFailed } from '../../../platform/operation/errors.ts';
import { query } from '../../../platform/operation/operation.ts';
import { isRecord } from '../../../platform/text/is-record.ts';
import { EVENT_FIELD } from '../fluentd/event-form.ts';
import { componentsOf } from '../migrated-definition.ts';
import { getMigration, ofTeam } from '../operations.ts';
import { openOriginal } from '../presenter.ts';
import { assertTranslated } from '../translate-operations.ts';
import type { BlockTranslation } from '../translation.ts';
import { compareEvents, type TranslatedEvent } from './compare-events.ts';
import type { OriginalLine } from './fluentd/interpret.ts';
import { replayOriginal } from './fluentd/replay-original.ts';
import { type DeliveredByVector, replayTranslated, type TranslatedRun } from './vector/replay-translated.ts';

export const runSamples = query({
  name: 'migration.runSamples',
  method: 'POST',
  summary:
    'Run lines through the original and through what it became, and compare the events; nothing is stored',
  role: 'EDITOR',
  weight: 'heavy',
  input: RunSamples,
  output: SampleRun,
  scope: ofTeam,
  async run(ctx, { id, teamId, lines, blockId = null, tag = null }) {
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    if (bytes > MAX_SAMPLE_BYTES)
      throw badRequest(`lines have ${bytes} bytes together, the limit is ${MAX_SAMPLE_BYTES}; give fewer`);
    const record = await getMigration(ctx, { id, teamId });
    assertTranslated(record);
    const original = await replayOriginal(openOriginal(ctx, record), { lines, blockId, tag }, ctx.signal);
    if (original.status === 'refused') throw badRequest(original.reason);
    const translated = await runTranslated(ctx, record.translations, {
      ...{ blockId: original.blockId, lines, tag: original.tag },
    });
    const compared = lines.map((line, index) =>
      compareLine(line, index, original.lines[index], translated, record.translations),
    );
    const count = (verdict: SampleLine['verdict']) =>
      compared.filter((one) => one.verdict === verdict).length;
    return {
      ...{ blockId: original.blockId, tag: original.tag, lines: compared },
      counts: { equal: count('equal'), different: count('different'), unknown: count('unknown') },
    };
  },
});

async function runTranslated(
  ctx: Context,
  translations: readonly BlockTranslation[],
  { blockId, lines, tag }: { blockId: string; lines: readonly string[]; tag: string },
): Promise<TranslatedRun> {
  const source = translations
    .find((one) => one.blockId === blockId)
    ?.components.find(({ kind }) => kind === 'SOURCE');
  if (!source)
    throw preconditionFailed(
      `No source stands for the block ${blockId} yet; translate it before samples run through it`,
    );
  return replayTranslated({
    ...{ components: componentsOf(translations), source, now: ctx.clock.now() },
    lines: lines.map((line) => ({ line, tag })),
    blockOf: (key) =>
      translations.find(({ components }) => components.some((one) => one.componentKey === key))?.blockId ??
      '',
    run: (transform, events) => ctx.services.engine.runTransform(transform, events, callerOf(ctx.actor)),
  });
}

const callerOf = (actor: Actor): string => (actor.type === 'user' ? actor.userId : actor.type);

function compareLine(
  line: string,
  index: number,
  original: OriginalLine | undefined,
  translated: TranslatedRun,
  translations: readonly BlockTranslation[],
): SampleLine {
  const unknown: SampleLine['unknown'] = [
    ...(original?.unknown ?? []).map((one) => ({ side: 'original' as const, ...one })),
    ...translated.unknown
      .filter((one) => one.line === index)
      .map(({ at, reason }) => ({ side: 'translated' as const, at, reason })),
  ];
  const outputs = compareEvents(
    original?.delivered ?? [],
    translated.delivered.filter((one) => one.line === index).map((one) => presentEvent(one, translations)),
  );
  const verdict =
    unknown.length > 0 ? 'unknown' : outputs.every((one) => one.verdict === 'equal') ? 'equal' : 'different';
  return { line, outputs, unknown, verdict };
}

/** Without what carries the tag and the time between components. */
function presentEvent(
  { output, event, isBeforeText }: DeliveredByVector,
  translations: readonly BlockTranslation[],
): TranslatedEvent {
  const block = translations.find(({ components }) => components.some((one) => one.componentKey === output));
  const sinks = (block?.components ?? []).filter(({ kind }) => kind === 'SINK');
  const { [EVENT_FIELD]: carried, ...record } = event;
  const { tag, time } = isRecord(carried) ? carried : {};
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return {
    ...{ blockId: block?.blockId ?? '', output, record, isBeforeText },
    index: sinks.findIndex(({ componentKey }) => componentKey === output),
    tag: typeof tag === 'string' ? tag : null,
    time: Number.isNaN(at) ? null : at,
  };
}
