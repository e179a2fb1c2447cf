/**
 * Everything that a question sends: instructions, the conversation before, and what a VIEWER may see of the pipeline, also
 * where an ADMIN asks. Values of secrets are taken out of all of it, as the last step.
 */
import type { ConversationKind, Suggestion } from '../../../../schemas/api/pipelines/conversations.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { getPipeline, pipelineOperations } from '../../index.ts';
import type { ConversationPlace, MessageRecord } from '../conversation/store.ts';
import type { ChatMessage, ModelTool } from '../provider/model-client.ts';
import { type Baseline, readBaseline } from '../suggestions/evaluate.ts';
import { programsIn } from '../suggestions/programs.ts';
import { SUGGESTION_TOOL } from '../suggestions/read-proposals.ts';
import { findEvent } from '../suggestions/try-programs.ts';
import { changeSection, counterSection, logSection, metricSection, statusSection } from './debug-sections.ts';
import {
  checksSection,
  configSection,
  optionsSection,
  pipelineSection,
  typesSection,
} from './pipeline-sections.ts';
import { systemPrompt } from './prompts.ts';
import { blankTyped, createScrubber, type Scrubber } from './scrub.ts';
import { renderSections, type Section } from './sections.ts';
import { vrlSections } from './vrl-sections.ts';

/** Of what was said before, the newest first. */
const HISTORY_BYTES = 24_000;

export interface BuiltContext {
  system: string;
  messages: ChatMessage[];
  tools: ModelTool[];
  baseline: Baseline;
  scrubber: Scrubber;
  /** For what a program of the pipeline may have written when it ran. */
  withoutTyped(text: string): string;
}

export interface ContextQuestion extends Pick<ConversationPlace, 'kind' | 'pipelineId' | 'componentKey'> {
  text: string;
  /** JSON of an event. */
  event: string | null;
  history: readonly MessageRecord[];
}

/** Reads with the rights of a VIEWER of this team. */
function asViewer(ctx: Context, teamId: string): Context {
  const { actor } = ctx;
  if (actor.type !== 'user') return ctx;
  return { ...ctx, actor: { ...actor, isSuperAdmin: false, roles: new Map([[teamId, 'VIEWER']]) } };
}

export async function buildContext(
  ctx: Context,
  teamId: string,
  question: ContextQuestion,
): Promise<BuiltContext> {
  const { pipelineId, kind, text } = question;
  const viewer = asViewer(ctx, teamId);
  const record = await getPipeline(ctx, pipelineId);
  const scrubber = await createScrubber(ctx, record.environmentId);
  const withoutTyped = blankTyped(record.nodes.flatMap(programsIn).map(({ source }) => source));
  const data = (text: string) => withoutTyped(scrubber.data(text));
  const event = question.event && data(question.event);
  const baseline = await readBaseline(ctx, record, event);
  const sections = await sectionsOf(viewer, kind, baseline, question.componentKey);
  const clean = sections.map((section) => ({
    ...section,
    text: section.isData ? data(section.text) : scrubber.values(section.text),
  }));
  const asked = data(text);
  return {
    system: systemPrompt(kind),
    messages: [
      ...historyOf(question.history, scrubber),
      { author: 'user', text: `# Context\n\n${renderSections(clean)}\n\n# Question\n\n${asked}` },
    ],
    ...{ tools: [SUGGESTION_TOOL], baseline, scrubber, withoutTyped },
  };
}

async function sectionsOf(
  ctx: Context,
  kind: ConversationKind,
  baseline: Baseline,
  componentKey: string,
): Promise<Section[]> {
  const { id, nodes, globalConfig } = baseline.pipeline;
  const pipeline = await pipelineOperations.get.run(ctx, { id });
  const checks = checksSection(
    baseline.validity,
    [nodes, globalConfig].map((config) => ({ config })),
  );
  const about = [pipelineSection(pipeline), configSection(pipeline), checks];
  switch (kind) {
    case 'pipeline':
      return [...about, await typesSection(ctx), await optionsSection(ctx, pipeline)];
    case 'vrl':
      return [...about, ...vrlSections(pipeline, componentKey, await findEvent(ctx, baseline, componentKey))];
    case 'debug':
      return [
        ...about,
        ...[statusSection(pipeline), counterSection(pipeline)],
        await metricSection(ctx, id),
        await changeSection(ctx, pipeline),
        await logSection(ctx, id),
      ];
  }
}

/** Questions with their answers, and a line for each suggestion. */
function historyOf(history: readonly MessageRecord[], scrubber: Scrubber): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let bytes = 0;
  for (const message of [...history].reverse()) {
    const { author, content, suggestions } = message;
    const proposed = suggestions.map(
      (suggestion) => `[proposed: ${suggestion.title}; ${outcomeOf(suggestion)}]`,
    );
    const text = [content.trim(), ...proposed].filter((part) => part !== '').join('\n');
    bytes += Buffer.byteLength(text);
    if (bytes > HISTORY_BYTES) break;
    messages.unshift({ author, text: scrubber.data(text === '' ? '(no answer)' : text) });
  }
  // A conversation begins with a question.
  while (messages[0]?.author === 'assistant') messages.shift();
  return messages;
}

function outcomeOf({ verdict, appliedAt, became }: Suggestion): string {
  if (became !== null && 'proposed' in became)
    return `put by the user into pull request #${became.proposed.number}, which may wait for its merge`;
  if (appliedAt !== null) return 'applied by the user';
  return verdict === 'valid' ? 'passed the checks, not applied' : 'refused by the checks';
}
