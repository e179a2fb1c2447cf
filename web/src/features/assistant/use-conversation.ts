/** One conversation of the panel: what is stored of it, and the answer that is coming. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type {
  Conversation,
  ConversationMessage,
  Suggestion,
} from '../../../../schemas/api/pipelines/conversations.ts';
import { api } from '../../api/client.ts';
import { assistantQueries } from '../../api/queries/assistant.ts';
import type { Topic } from './assistant-text.ts';
import { askAssistant, ChatError, type ChatEvent } from './chat-stream.ts';

/** The question and the answer that are on their way. */
export interface LiveAnswer {
  question: string;
  event: string | undefined;
  content: string;
  suggestions: Suggestion[];
  isRunning: boolean;
  /** Why it was refused, where nothing of it is stored. */
  error: unknown;
}

export interface ConversationView {
  /** Of the server, apart from what `live` has. */
  messages: readonly ConversationMessage[];
  conversation: Conversation | null;
  isLoading: boolean;
  error: unknown;
  reload: () => void;
  live: LiveAnswer | null;
  /** An answer is being written, here or in another tab. */
  isBusy: boolean;
  ask: (question: string, event?: string) => void;
  stop: () => void;
  startNew: () => Promise<void>;
}

/** An answer that another tab waits for is looked at this often. */
const ELSEWHERE_MS = 2_000;

const isRunning = ({ state }: ConversationMessage): boolean => state === 'running';

/** `mayStart`: may start a new conversation by a procedure; others do so with their next question. */
export function useConversation(pipelineId: string, topic: Topic, mayStart: boolean): ConversationView {
  const queryClient = useQueryClient();
  const options = assistantQueries.conversation(pipelineId, topic);
  const [live, setLive] = useState<LiveAnswer | null>(null);
  const [liveIds, setLiveIds] = useState<readonly string[]>([]);
  const [isForgotten, setForgotten] = useState(false);
  const running = useRef<AbortController | null>(null);
  const stored = useQuery({
    ...options,
    refetchInterval: ({ state }) =>
      !running.current && state.data?.conversation?.messages.some(isRunning) ? ELSEWHERE_MS : false,
  });
  const conversation = isForgotten ? null : (stored.data?.conversation ?? null);
  const messages = (conversation?.messages ?? []).filter(({ id }) => !live || !liveIds.includes(id));
  // Closing the panel stops the answer: nobody would read it.
  useEffect(() => () => running.current?.abort(), []);
  const renew = () => queryClient.refetchQueries({ queryKey: options.queryKey, exact: true });
  const { kind, componentKey } = topic;

  async function ask(question: string, event?: string): Promise<void> {
    if (running.current) return;
    const own = new AbortController();
    running.current = own;
    setLiveIds([]);
    setLive({ question, event, content: '', suggestions: [], isRunning: true, error: null });
    let isStored = false;
    let error: unknown = null;
    try {
      const of = { conversation: kind, pipelineId, componentKey, message: question, event };
      for await (const next of askAssistant({ ...of, startNew: isForgotten || undefined }, own.signal)) {
        if (next.type === 'start') {
          isStored = true;
          setForgotten(false);
          setLiveIds([next.data.userMessageId, next.data.messageId]);
        } else if (next.type === 'error') error = new ChatError(next.data.message, next.data);
        else setLive((before) => before && withEvent(before, next));
      }
    } catch (thrown) {
      error = own.signal.aborted ? null : thrown;
    }
    running.current = null;
    await renew();
    void queryClient.invalidateQueries({ queryKey: ['ai.usage'] });
    // What is stored says itself how it ended.
    setLive((before) =>
      isStored || error === null ? null : before && { ...before, isRunning: false, error },
    );
  }

  return {
    messages,
    conversation,
    isLoading: stored.isPending,
    error: stored.isError && !stored.data ? stored.error : null,
    reload: () => void stored.refetch(),
    live,
    isBusy: live?.isRunning === true || messages.some(isRunning),
    ask: (question, event) => void ask(question, event),
    stop() {
      if (running.current) running.current.abort();
      else if (conversation)
        void api.ai.stop.mutate({ pipelineId, conversationId: conversation.id }).finally(renew);
    },
    async startNew() {
      running.current?.abort();
      setLive(null);
      if (!mayStart) return setForgotten(true);
      await api.ai.startNewConversation.mutate({ pipelineId, conversation: kind, componentKey });
      await renew();
    },
  };
}

function withEvent(answer: LiveAnswer, event: ChatEvent): LiveAnswer {
  if (event.type === 'delta') return { ...answer, content: answer.content + event.data.text };
  if (event.type === 'suggestion') return { ...answer, suggestions: [...answer.suggestions, event.data] };
  return answer;
}
