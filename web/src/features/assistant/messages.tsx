import type { ConversationMessage, Suggestion } from '../../../../schemas/api/pipelines/conversations.ts';
import { Notice } from '../../ui/feedback/notice.tsx';
import { Markdown } from '../../ui/text/markdown.ts';
import type { PanelPipeline } from './assistant-panel.tsx';
import type { Topic } from './assistant-text.ts';
import { SuggestionCard } from './suggestion-card.tsx';

interface Props {
  message: ConversationMessage;
  conversationId: string;
  pipeline: PanelPipeline;
  topic: Topic;
}

export const MessageItem = ({ message, conversationId, pipeline, topic }: Props) => {
  const { id, author, state, content, note, suggestions } = message;
  if (author === 'user') return <li className="assistant-question">{content}</li>;
  return (
    <li className="assistant-answer">
      <Answer
        content={content}
        suggestions={suggestions}
        isRunning={state === 'running'}
        apply={{ conversationId, messageId: id, pipeline, topic }}
      />
      {state === 'stopped' && <p className="muted">Stopped.</p>}
      {note && (
        <Notice tone={state === 'failed' ? 'failed' : 'held'} icon="warning">
          {note}
        </Notice>
      )}
    </li>
  );
};

/** What a suggestion needs to be applied. */
export interface ApplyTarget {
  conversationId: string;
  messageId: string;
  pipeline: PanelPipeline;
  topic: Topic;
}

interface AnswerProps {
  content: string;
  suggestions: readonly Suggestion[];
  isRunning: boolean;
  /** Absent while the answer is coming. */
  apply?: ApplyTarget;
}

export const Answer = ({ content, suggestions, isRunning, apply }: AnswerProps) => (
  <>
    {content !== '' && <Markdown text={content} plainLinks />}
    {suggestions.map((suggestion) => (
      <SuggestionCard key={suggestion.id} suggestion={suggestion} apply={apply} />
    ))}
    {isRunning && <p className="assistant-writing muted">Writing…</p>}
  </>
);
