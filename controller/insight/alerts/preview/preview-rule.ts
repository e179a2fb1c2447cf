/** What a rule would have done in the last days, by the recorded minutes. */
import {
  MAX_PREVIEWED_FIRINGS,
  PREVIEW_DAYS,
  type PreviewRule,
  type RulePreview,
} from '../../../../schemas/api/insight/alerts.ts';
import { readCells } from '../../../fleet/status/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { type Breach, type BreachQuery, MAX_BREACHES } from '../../telemetry/index.ts';
import { type Subject, seriesOf, subjectKey } from '../evaluation/series.ts';
import { clearAfterMs, holds } from '../evaluation/step.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Nodes, or pipelines: a week of minutes of each is read. */
const MAX_SUBJECTS = 200;
/** The newest minutes may not be recorded yet. */
const SETTLE_MINUTES = 2;

export type PreviewedRule = Omit<PreviewRule, 'environmentId' | 'days'> & { durationSeconds: number };

export async function previewRule(
  ctx: Context,
  environmentId: string,
  rule: PreviewedRule,
  days = PREVIEW_DAYS,
): Promise<RulePreview> {
  const cells = await readCells(ctx, environmentId);
  const watched = { metric: rule.metric, pipelineId: rule.pipelineId ?? null };
  const observation = {
    ...{ cells, rateOnNode: () => null, ratesSettled: true, windowsFull: true, listeningSince: 0 },
  };
  const subjects = new Map<string, Subject>();
  for (const { subject } of seriesOf(watched, observation)) subjects.set(subjectKey(subject), subject);
  const nodes = limited([...subjects.values()].flatMap(({ node }) => node?.id ?? []));
  const pipelines = limited([...subjects.values()].flatMap(({ pipeline }) => pipeline?.id ?? []));
  const to = Math.floor(ctx.clock.now() / MINUTE_MS) * MINUTE_MS;
  const query: BreachQuery = {
    ...{ metric: rule.metric, condition: rule.condition, threshold: rule.threshold },
    minutes: Math.max(1, Math.ceil(rule.durationSeconds / 60)),
    ...{ nodeIds: nodes.ids, pipelineIds: pipelines.ids, from: to - days * DAY_MS, to },
  };
  const answersOnly = rule.metric === 'node_unreachable' && !holds(rule, 1);
  const { series, breaches } = answersOnly
    ? { series: 0, breaches: [] }
    : await ctx.services.minutes.readBreaches(ctx.db, query);
  const firings = breaches
    .map((breach) => firingOf(breach, rule, to))
    .filter(({ firedAt }) => firedAt.getTime() < to);
  const subjectOf = (breach: Breach) =>
    [...subjects.values()].find(
      ({ node, pipeline }) =>
        (node?.id ?? null) === breach.nodeId && (pipeline?.id ?? null) === breach.pipelineId,
    );
  return {
    ...{ from: new Date(query.from), to: new Date(to), series },
    firings: firings.length,
    subjects: new Set(breaches.map(({ nodeId, pipelineId }) => `${nodeId} ${pipelineId}`)).size,
    firingNow: firings.filter(({ resolvedAt }) => resolvedAt === null).length,
    events: firings
      .sort((a, b) => b.firedAt.getTime() - a.firedAt.getTime())
      .slice(0, MAX_PREVIEWED_FIRINGS)
      .map(({ breach, firedAt, resolvedAt }) => {
        const subject = subjectOf(breach);
        const { nodeId, pipelineId, peak } = breach;
        const names = {
          nodeName: subject?.node?.name ?? null,
          pipelineName: subject?.pipeline?.name ?? null,
        };
        return { nodeId, pipelineId, ...names, firedAt, resolvedAt, peak };
      }),
    note: noteOf(rule, {
      answersOnly,
      cut: nodes.isCut || pipelines.isCut,
      isFull: breaches.length >= MAX_BREACHES,
    }),
  };
}

function limited(all: readonly string[]): { ids: string[]; isCut: boolean } {
  const ids = [...new Set(all)];
  return { ids: ids.slice(0, MAX_SUBJECTS), isCut: ids.length > MAX_SUBJECTS };
}

function firingOf(breach: Breach, { durationSeconds }: PreviewedRule, to: number) {
  const isOpen = breach.to >= to - SETTLE_MINUTES * MINUTE_MS;
  return {
    breach,
    firedAt: new Date(breach.from + durationSeconds * 1_000),
    resolvedAt: isOpen ? null : new Date(breach.to + clearAfterMs(1)),
  };
}

function noteOf(
  { metric }: PreviewedRule,
  { answersOnly, cut, isFull }: { answersOnly: boolean; cut: boolean; isFull: boolean },
): string | null {
  if (answersOnly) return 'A rule on nodes that answer cannot be previewed.';
  if (cut) return `Only the first ${MAX_SUBJECTS} nodes and pipelines were looked at.`;
  if (isFull) return `Only the newest ${MAX_BREACHES} firings were looked at.`;
  if (metric === 'node_unreachable')
    return 'Silences of less than two minutes leave no trace; the time in which Headgate was down counts as silence.';
  if (metric === 'pipeline_crashed')
    return 'Crashes on single nodes are recorded for 48 hours, by the minute: a crash counts for the minute in which the engine ended.';
  return null;
}
