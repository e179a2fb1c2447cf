/** Runs a proposed VRL program on one event before anybody sees it. */
import type { ProgramTrial, SuggestedChange } from '../../../../schemas/api/pipelines/conversations.ts';
import { latestSample } from '../../../fleet/samples/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { DomainError } from '../../../platform/operation/errors.ts';
import { storableText } from '../../../platform/text/storable-text.ts';
import type { Drawn } from './apply-changes.ts';
import type { Baseline } from './evaluate.ts';
import { programsIn } from './programs.ts';

const MOST_DIAGNOSTICS = 10;
const MAX_OUTPUT = 16_384;
const MAX_MESSAGE = 2_000;

/** What feeds a component, as samples name it. */
export function inputsOf({ nodes, edges }: Drawn, componentKey: string): string[] {
  const target = nodes.find((node) => node.componentKey === componentKey);
  if (!target) return [];
  const ids = new Set([target.id, target.componentKey]);
  return edges
    .filter(({ targetNodeId }) => ids.has(targetNodeId))
    .flatMap(({ sourceNodeId, sourcePort }) => {
      const source = nodes.find((node) => node.id === sourceNodeId || node.componentKey === sourceNodeId);
      if (!source) return [];
      return sourcePort === undefined ? source.componentKey : `${source.componentKey}.${sourcePort}`;
    });
}

export async function findEvent(
  ctx: Context,
  { pipeline, event }: Pick<Baseline, 'pipeline' | 'event'>,
  componentKey: string,
): Promise<{ event: string | null; from: ProgramTrial['eventFrom'] }> {
  if (event !== null) return { event, from: 'given' };
  const keys = inputsOf(pipeline, componentKey);
  const sample = keys.length === 0 ? null : await latestSample(ctx, pipeline.id, keys);
  return sample === null || typeof sample !== 'object'
    ? { event: null, from: 'none' }
    : { event: JSON.stringify(sample), from: 'sample' };
}

/** Of the last program that changes; null where none does. */
export async function tryPrograms(
  ctx: Context,
  baseline: Baseline,
  { graph, changes }: { graph: Drawn; changes: readonly SuggestedChange[] },
): Promise<ProgramTrial | null> {
  const changed = changes.flatMap((change) => {
    if (change.type === 'setVrl') return [{ key: change.componentKey, output: change.output }];
    const isNew = change.type === 'addComponent' || change.type === 'setConfig';
    return isNew ? [{ key: change.componentKey, output: undefined }] : [];
  });
  for (const { key, output } of changed.reverse()) {
    const node = graph.nodes.find(({ componentKey }) => componentKey === key);
    const program = node && programsIn(node).find((one) => output === undefined || one.output === output);
    if (!program) continue;
    const { event, from } = await findEvent(
      ctx,
      { ...baseline, pipeline: { ...baseline.pipeline, ...graph } },
      key,
    );
    return event === null ? NOT_RUN : run(ctx, program, event, from);
  }
  return null;
}

/** An empty event would fail most programs. The checks of the graph have compiled it. */
const NOT_RUN: ProgramTrial = {
  ...{ event: null, eventFrom: 'none', success: true },
  ...{ output: null, dropped: false, error: null, diagnostics: [] },
};

async function run(
  ctx: Context,
  program: { source: string; purpose: 'program' | 'condition' },
  event: string,
  eventFrom: ProgramTrial['eventFrom'],
): Promise<ProgramTrial> {
  const caller = ctx.actor.type === 'user' ? ctx.actor.userId : ctx.actor.type;
  const nothing = { event, eventFrom, success: false, output: null, dropped: false, diagnostics: [] };
  try {
    const test = await ctx.services.engine.testProgram(program, event, caller);
    const shown = test.output ?? test.result;
    return {
      ...{ event, eventFrom, success: test.success, dropped: test.dropped },
      error: storableText(test.error, MAX_MESSAGE),
      output: shown === null ? null : storableText(shown, MAX_OUTPUT),
      diagnostics: test.diagnostics
        .slice(0, MOST_DIAGNOSTICS)
        .map(({ severity, message, line, column }) =>
          storableText(`${severity} at ${line}:${column}: ${message}`, MAX_MESSAGE),
        ),
    };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { ...nothing, error: error.message };
  }
}
