/** Reads of the assistant: the provider of a team, and what it has used. */
import { queryOptions } from '@tanstack/react-query';
import type { ConversationKind } from '../../../../schemas/api/pipelines/conversations.ts';
import { api } from '../client.ts';

/** Others of the team ask too: no event comes. */
const USAGE_MS = 30_000;

export const assistantQueries = {
  provider: (teamId: string) =>
    queryOptions({
      queryKey: ['ai.getProvider', teamId],
      queryFn: () => api.ai.getProvider.query({ teamId }),
    }),
  usage: (teamId: string) =>
    queryOptions({
      queryKey: ['ai.usage', teamId],
      queryFn: () => api.ai.usage.query({ teamId }),
      refetchInterval: USAGE_MS,
    }),
  conversation: (
    pipelineId: string,
    { kind, componentKey = '' }: { kind: ConversationKind; componentKey?: string },
  ) =>
    queryOptions({
      queryKey: ['ai.conversation', pipelineId, kind, componentKey],
      queryFn: () => {
        if (kind === 'vrl') return api.ai.getVrlConversation.query({ pipelineId, componentKey });
        if (kind === 'debug') return api.ai.getDebugConversation.query({ pipelineId });
        return api.ai.getConversation.query({ pipelineId });
      },
    }),
  /** What a question would send. */
  context: (
    pipelineId: string,
    { kind, componentKey }: { kind: ConversationKind; componentKey?: string },
    { message, event }: { message: string; event: string },
  ) =>
    queryOptions({
      queryKey: ['ai.previewContext', pipelineId, kind, componentKey ?? '', message, event],
      queryFn: () =>
        api.ai.previewContext.mutate({
          ...{ pipelineId, conversation: kind, componentKey },
          message: message.trim() || undefined,
          event: event.trim() || undefined,
        }),
      gcTime: 0,
    }),
};
