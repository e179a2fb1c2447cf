/** Evaluates proposed changes on the graph as it is now: by the checks of a deploy, and its programs on an event. */
import { isDeepStrictEqual } from 'node:util';
import type { ProgramTrial, Proposal, Suggestion } from '../../../../schemas/api/pipelines/conversations.ts';
import type { ValidationError } from '../../../../schemas/api/pipelines/validation.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { DomainError } from '../../../platform/operation/errors.ts';
import { newId } from '../../../platform/operation/ids.ts';
import { storableText } from '../../../platform/text/storable-text.ts';
import {
  assertGraphSize,
  maskSensitiveIn,
  maskYaml,
  type PipelineRecord,
  unifiedDiff,
  type Validity,
  validateGraph,
} from '../../index.ts';
import { applyChanges, type Drawn, summarizeChange } from './apply-changes.ts';
import { tryPrograms } from './try-programs.ts';

const MOST_PROBLEMS = 20;
const MAX_DIFF = 20_000;
const MAX_PROBLEM = 2_000;

/** A pipeline as suggestions are made for it, with what the checks say of it before any of them. */
export interface Baseline {
  pipeline: PipelineRecord;
  validity: Validity;
  /** JSON of an event that the question gave. */
  event: string | null;
}

const settingsOf = ({ globalConfig, nodeSelector, logLevel, drainSeconds }: PipelineRecord) => ({
  ...{ globalConfig, nodeSelector, logLevel, drainSeconds },
});

export async function readBaseline(
  ctx: Context,
  pipeline: PipelineRecord,
  event: string | null,
): Promise<Baseline> {
  const { nodes, edges, environmentId } = pipeline;
  const validity = await validateGraph(ctx, environmentId, { nodes, edges, ...settingsOf(pipeline) });
  return { pipeline, validity, event };
}

export interface Outcome {
  graph: Drawn | null;
  problems: string[];
  warnings: string[];
  configYaml: string | null;
}

const refusedOutcome = (problem: string): Outcome => ({
  ...{ graph: null, problems: [problem], warnings: [], configYaml: null },
});

/** What the changes make of the graph, and what is wrong with that. Asks the engine: never in a transaction. */
export async function tryChanges(
  ctx: Context,
  { pipeline, validity }: Baseline,
  changes: Proposal['changes'],
): Promise<Outcome> {
  let graph: Drawn;
  try {
    graph = applyChanges(pipeline, changes);
    assertGraphSize({ ...graph, globalConfig: pipeline.globalConfig });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return refusedOutcome(error.message);
  }
  const after = await validateGraph(ctx, pipeline.environmentId, { ...graph, ...settingsOf(pipeline) });
  const config = [pipeline.nodes, pipeline.globalConfig, graph.nodes].map((one) => ({ one }));
  const say = (errors: readonly ValidationError[]) =>
    errors
      .slice(0, MOST_PROBLEMS)
      .map(({ message }) => storableText(maskSensitiveIn(config, message), MAX_PROBLEM));
  const remaining = newErrors(validity, after);
  return {
    graph,
    problems: say(remaining),
    warnings: say([...after.errors.filter((error) => !remaining.includes(error)), ...after.warnings]),
    configYaml: after.configYaml,
  };
}

/** An error that was there before is no fault of the changes, nor is one that a later check finds since they mended an earlier. */
function newErrors(before: Validity, after: Validity): ValidationError[] {
  const failedAt = ({ levels }: Validity) => {
    const index = levels.findIndex(({ status }) => status === 'failed');
    return index < 0 ? levels.length : index;
  };
  if (before.errors.length > 0 && failedAt(after) > failedAt(before)) return [];
  const known = new Set(before.errors.map(({ message, path }) => `${path} ${message}`));
  return after.errors.filter(({ message, path }) => !known.has(`${path} ${message}`));
}

/** `vrlOf`: the component of a conversation about VRL, to which changes are limited; empty for none. */
export async function evaluateProposal(
  ctx: Context,
  baseline: Baseline,
  { title, reason = '', changes }: Proposal,
  vrlOf = '',
): Promise<Suggestion> {
  const { pipeline, validity } = baseline;
  const isElsewhere =
    vrlOf !== '' && changes.some((one) => one.type !== 'setVrl' || one.componentKey !== vrlOf);
  const outcome = isElsewhere
    ? refusedOutcome(`In this conversation only the VRL of "${vrlOf}" is changed`)
    : await tryChanges(ctx, baseline, changes);
  const trial: ProgramTrial | null = outcome.graph
    ? await tryPrograms(ctx, baseline, { graph: outcome.graph, changes })
    : null;
  const diff =
    outcome.configYaml === null
      ? ''
      : unifiedDiff('now', 'suggested', maskYaml(validity.configYaml), maskYaml(outcome.configYaml));
  const isSame = outcome.graph !== null && isDeepStrictEqual(outcome.graph, applyChanges(pipeline, []));
  const problems = isSame ? ['It changes nothing'] : outcome.problems;
  return {
    ...{ id: newId(), title, reason, changes, summary: changes.map(summarizeChange) },
    verdict: problems.length === 0 ? 'valid' : 'invalid',
    ...{ problems, warnings: outcome.warnings, trial, appliedAt: null, became: null },
    diff: diff.length > MAX_DIFF ? `${storableText(diff, MAX_DIFF)}\n… the rest is left out` : diff,
    graphRevision: pipeline.graphRevision,
  };
}
