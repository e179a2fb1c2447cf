/** What a question would send, to be looked at before it is asked. */
import { ContextPreview, PreviewContext } from '../../../../schemas/api/pipelines/conversations.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { query } from '../../../platform/operation/operation.ts';
import { MOST_MESSAGES, ofPipeline, placeOf } from '../conversation/operations.ts';
import { findConversation, listMessages } from '../conversation/store.ts';
import { addressOf } from '../provider/connect.ts';
import { findProvider } from '../provider/store.ts';
import { estimateTokens } from '../usage/periods.ts';
import { type BuiltContext, buildContext } from './build-context.ts';
import { readEvent } from './read-event.ts';

export const previewContext = query({
  name: 'ai.previewContext',
  method: 'POST',
  summary: 'Everything that a question to the assistant would send to the AI provider, word for word',
  role: 'VIEWER',
  weight: 'heavy',
  input: PreviewContext,
  output: ContextPreview,
  scope: ofPipeline,
  async run(ctx, { conversation, message = '', event, ...input }) {
    const place = placeOf(ctx, { kind: conversation, ...input });
    const { teamId } = await ofPipeline(ctx, input);
    const before = await findConversation(ctx.db, place);
    const history = before ? await listMessages(ctx.db, before.id, MOST_MESSAGES) : [];
    const built = await buildContext(ctx, teamId ?? '', {
      ...{ ...place, history: history.filter(({ state }) => state !== 'running') },
      ...{ text: message, event: readEvent(event) },
    });
    const text = renderContext(built);
    return {
      ...{ text, bytes: Buffer.byteLength(text), estimatedTokens: estimateTokens(text) },
      provider: await destination(ctx, teamId ?? ''),
    };
  },
});

async function destination(ctx: Context, teamId: string) {
  const provider = await findProvider(ctx.db, teamId);
  return provider && { kind: provider.kind, model: provider.model, host: new URL(addressOf(provider)).host };
}

export const renderContext = ({ system, messages, tools }: BuiltContext): string =>
  [
    `system:\n${system}`,
    ...messages.map(({ author, text }) => `${author}:\n${text}`),
    ...tools.map((tool) => `tool:\n${JSON.stringify(tool, null, 2)}`),
  ].join('\n\n');
