/** Suggestions that a user accepts. They are applied by the operation that saves a graph, with the rights of that user. */
import type { Static } from 'typebox';
import { becameOf, OrGit } from '../../../../schemas/api/delivery/git-words.ts';
import {
  AppliedSuggestions,
  ChosenSuggestions,
  type Conversation,
  type ConversationKind,
  ConversationState,
  type Suggestion,
} from '../../../../schemas/api/pipelines/conversations.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { conflict, notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation } from '../../../platform/operation/operation.ts';
import { getPipeline, type PipelineRecord, pipelineGraphs } from '../../index.ts';
import { ofPipeline, presentConversation, userIdOf } from '../conversation/operations.ts';
import {
  type ConversationRecord,
  findMessage,
  findOwnConversation,
  lockMessage,
  setSuggestions,
} from '../conversation/store.ts';
import { applyChanges } from './apply-changes.ts';
import { readBaseline, tryChanges } from './evaluate.ts';

type Chosen = ChosenSuggestions;

async function getConversation(
  ctx: Context,
  { conversationId: id, pipelineId }: Chosen,
  kinds: readonly ConversationKind[],
): Promise<ConversationRecord> {
  const found = await findOwnConversation(ctx.db, { id, pipelineId, userId: userIdOf(ctx) });
  if (!found || !kinds.includes(found.kind)) throw notFound('Conversation');
  return found;
}

/** @throws NOT_FOUND */
function choose(suggestions: readonly Suggestion[], { suggestionIds }: Chosen): Suggestion[] {
  return suggestionIds.map((id) => {
    const suggestion = suggestions.find((one) => one.id === id);
    if (!suggestion) throw notFound('Suggestion');
    return suggestion;
  });
}

/** Those that are marked already stay as they are. Null where the conversation was deleted. @throws NOT_FOUND */
async function markApplied(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  input: Chosen,
  became: Suggestion['became'] = null,
): Promise<Suggestion[] | null> {
  const { messageId: id, conversationId, suggestionIds } = input;
  const message = await lockMessage(db, { id, conversationId });
  if (!message) return null;
  const marked = choose(message.suggestions, input).filter(({ appliedAt }) => appliedAt === null);
  const appliedAt = new Date(clock.now());
  await setSuggestions(
    db,
    id,
    message.suggestions.map((one) =>
      suggestionIds.includes(one.id) && one.appliedAt === null ? { ...one, appliedAt, became } : one,
    ),
  );
  return marked;
}

async function mark(
  ctx: MutationContext,
  input: Chosen,
  kinds: readonly ConversationKind[],
): Promise<{ conversation: Conversation }> {
  const conversation = await getConversation(ctx, input, kinds);
  const marked = await markApplied(ctx, input);
  if (!marked) throw notFound('Message');
  if (marked.length === 0) ctx.unchanged();
  else audit(ctx, input, marked);
  return { conversation: await presentConversation(ctx, conversation) };
}

function audit(ctx: MutationContext, { pipelineId }: Chosen, suggestions: readonly Suggestion[]): void {
  ctx.audit({
    ...{ entityType: 'Pipeline', entityId: pipelineId },
    metadata: summariesOf(suggestions),
  });
}

const summariesOf = (suggestions: readonly Suggestion[]) => ({
  suggestions: suggestions.map(({ summary }) => summary.join('; ').slice(0, 500)),
});

const common = {
  role: 'EDITOR',
  input: ChosenSuggestions,
  output: ConversationState,
  scope: ofPipeline,
} as const;

export const markSuggestionsApplied = mutation({
  ...{ name: 'ai.markSuggestionsApplied', audit: 'ai.suggestionsMarked', ...common },
  summary: 'Mark suggestions about a pipeline as applied, as by an editor that has them in its graph',
  run: (ctx, input) => mark(ctx, input, ['pipeline', 'debug']),
});

export const markVrlSuggestionsApplied = mutation({
  ...{ name: 'ai.markVrlSuggestionsApplied', audit: 'ai.suggestionsMarked', ...common },
  summary: 'Mark suggestions about a VRL program as applied, as by an editor that has them in its text',
  run: (ctx, input) => mark(ctx, input, ['vrl']),
});

const ANY: readonly ConversationKind[] = ['pipeline', 'debug', 'vrl'];

/** All of them in their order, on the graph as it is now. */
async function prepareGraph(ctx: Context, input: Chosen) {
  const { id } = await getConversation(ctx, input, ANY);
  const message = await findMessage(ctx.db, { id: input.messageId, conversationId: id });
  if (!message) throw notFound('Message');
  const chosen = choose(message.suggestions, input);
  if (chosen.some(({ appliedAt }) => appliedAt !== null))
    throw conflict('A suggestion among them is applied already; load the conversation again');
  const pipeline = await getPipeline(ctx, input.pipelineId);
  const changes = chosen.flatMap((one) => one.changes);
  const baseline = await readBaseline(ctx, pipeline, null);
  const { problems } = await tryChanges(ctx, baseline, changes);
  if (problems.length > 0)
    throw preconditionFailed(
      `The suggestion does not fit the pipeline as it is now: ${problems.join('; ')}. Ask again`,
      { problems },
    );
  return { graph: applyChanges(pipeline, changes), pipeline, chosen };
}

/** A policy that refuses edits by hand refuses no proposal: nothing changes before somebody merges it. */
async function whereRefused(
  { onlyProposals, services: { git }, db }: Context,
  { managedBy, environmentId }: PipelineRecord,
): Promise<string | undefined> {
  const isRefused = managedBy === 'git' && (await git.editsBecome(db, environmentId)) === 'refuse';
  return isRefused ? 'Change the pipeline in git' : onlyProposals;
}

/** Marks them also where the saved graph is rolled back and goes to git, with what it became there. */
function markWithRollback(
  ctx: MutationContext,
  input: Chosen,
  chosen: readonly Suggestion[],
): MutationContext['rollBack'] {
  return (of, plan) =>
    ctx.rollBack(of, async (inside) => {
      const goToGit = await plan(inside);
      return async (outside) => {
        const { entry, ...outcome } = await goToGit(outside);
        const became = 'output' in outcome.result ? becameOf(outcome.result.output) : null;
        return {
          ...outcome,
          entry: { ...entry, metadata: { ...entry.metadata, ...summariesOf(chosen) } },
          store: async (db) => {
            if (became !== null) await markApplied({ ...outside, db }, input, became);
          },
        };
      };
    });
}

export const applySuggestions = mutation({
  name: 'ai.applySuggestions',
  summary:
    'Save the graph of a pipeline with suggestions applied; where git describes it, a pull request or a commit',
  role: 'EDITOR',
  audit: 'ai.suggestionsApplied',
  input: ChosenSuggestions,
  output: OrGit(AppliedSuggestions),
  scope: ofPipeline,
  prepare: prepareGraph,
  async run(ctx, input, { graph, pipeline, chosen }): Promise<Static<typeof AppliedSuggestions>> {
    const saving: MutationContext = {
      ...ctx,
      onlyProposals: await whereRefused(ctx, pipeline),
      rollBack: markWithRollback(ctx, input, chosen),
      // Its own row of the audit log is that of every saved graph.
      audit: (entry) => ctx.audit({ action: pipelineGraphs.saveGraph.audit, ...entry }),
    };
    const saved = await pipelineGraphs.saveGraph.run(
      saving,
      {
        ...{ pipelineId: input.pipelineId, nodes: graph.nodes, edges: graph.edges },
        graphRevision: pipeline.graphRevision,
      },
      undefined,
    );
    if (!(await markApplied(ctx, input))) throw notFound('Message');
    audit(ctx, input, chosen);
    return { applied: saved as Static<typeof AppliedSuggestions>['applied'] };
  },
});
