/** A conversation: its messages, the question, and what is sent with it. */
import { useEffect, useRef, useState } from 'react';
import type { ConversationMessage } from '../../../../schemas/api/pipelines/conversations.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { ErrorState, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import type { PanelPipeline } from './assistant-panel.tsx';
import { describeProblem, TEXTS, type Topic } from './assistant-text.ts';
import { Composer } from './composer.tsx';
import { ContextPreview } from './context-preview.tsx';
import { Answer, MessageItem } from './messages.tsx';
import { NoProvider } from './no-provider.tsx';
import { type ConversationView, type LiveAnswer, useConversation } from './use-conversation.ts';

interface Props {
  pipeline: PanelPipeline;
  topic: Topic;
  question: string;
}

export const ConversationPart = ({ pipeline, topic, question }: Props) => {
  const { team } = usePlace();
  const mayNotEdit = whyNot(team.role, 'EDITOR');
  const view = useConversation(pipeline.id, topic, mayNotEdit === null);
  const mayNotAsk = topic.kind === 'debug' ? null : mayNotEdit;
  const [draft, setDraft] = useState(question);
  const [event, setEvent] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (question !== '') setDraft(question);
  }, [question]);
  const ask = (text: string): void => {
    setDraft('');
    // The button that was pressed goes away, and the keyboard goes on here.
    input.current?.focus();
    view.ask(text, event.trim() || undefined);
  };
  const isEmpty = view.messages.length === 0 && view.live === null;
  if (view.isLoading) return <SkeletonRows rows={6} label="Loading the conversation" />;
  if (view.error !== null)
    return <ErrorState error={view.error} retry={view.reload} what="The conversation" />;
  return (
    <>
      <div className="assistant-tools">
        <ContextPreview pipelineId={pipeline.id} topic={topic} message={draft} event={event} />
        <Button size="small" icon="plus" disabled={isEmpty} onClick={() => void view.startNew()}>
          New conversation
        </Button>
      </div>
      <Messages view={view} pipeline={pipeline} topic={topic} ask={ask} mayAsk={mayNotAsk === null} />
      <p className="sr-only" role="status">
        {view.isBusy ? 'The assistant is writing.' : ''}
      </p>
      {mayNotAsk === null ? (
        <Composer
          {...{ input, topic, draft, setDraft, event, setEvent }}
          isBusy={view.isBusy}
          ask={ask}
          stop={view.stop}
        />
      ) : (
        <p className="muted assistant-foot">{mayNotAsk}</p>
      )}
    </>
  );
};

interface MessagesProps {
  view: ConversationView;
  pipeline: PanelPipeline;
  topic: Topic;
  ask: (question: string) => void;
  mayAsk: boolean;
}

/** In pixels: who has scrolled further up is reading. */
const AT_END = 80;

const Messages = ({ view, pipeline, topic, ask, mayAsk }: MessagesProps) => {
  const { messages, live, conversation, isBusy } = view;
  const frame = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && (messages.length > 0 || live))
      frame.current?.scrollTo({ top: frame.current.scrollHeight });
  }, [messages.length, live]);
  const onScroll = (): void => {
    const at = frame.current;
    if (at) isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < AT_END;
  };
  const retried = mayAsk && !isBusy && live === null ? questionToRetry(messages) : null;
  return (
    <section
      className="assistant-messages"
      ref={frame}
      onScroll={onScroll}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
      tabIndex={0}
      aria-label="Conversation"
    >
      {messages.length === 0 && live === null && <Invitation topic={topic} ask={ask} mayAsk={mayAsk} />}
      <ol>
        {messages.map((message) => (
          <MessageItem
            key={message.id}
            message={message}
            conversationId={conversation?.id ?? ''}
            pipeline={pipeline}
            topic={topic}
          />
        ))}
        {live && <LiveItems live={live} retry={() => ask(live.question)} />}
      </ol>
      {retried !== null && (
        <Button size="small" icon="sync" onClick={() => ask(retried)}>
          Ask again
        </Button>
      )}
    </section>
  );
};

/** Of an answer that failed or was stopped. */
function questionToRetry(messages: readonly ConversationMessage[]): string | null {
  const last = messages.at(-1);
  if (last?.author !== 'assistant' || last.state === 'done' || last.state === 'running') return null;
  return messages.findLast(({ author }) => author === 'user')?.content ?? null;
}

const Invitation = ({ topic: { kind }, ask, mayAsk }: Pick<MessagesProps, 'topic' | 'ask' | 'mayAsk'>) => (
  <div className="assistant-invitation">
    <p>{TEXTS[kind].invitation}</p>
    {mayAsk && (
      <ul aria-label="Examples">
        {TEXTS[kind].examples.map((example) => (
          <li key={example}>
            <Button size="small" onClick={() => ask(example)}>
              {example}
            </Button>
          </li>
        ))}
      </ul>
    )}
  </div>
);

const LiveItems = ({ live, retry }: { live: LiveAnswer; retry: () => void }) => {
  const problem = live.error === null ? null : describeProblem(live.error);
  return (
    <>
      <li className="assistant-question">{live.question}</li>
      <li className="assistant-answer">
        {problem === null ? (
          <Answer content={live.content} suggestions={live.suggestions} isRunning={live.isRunning} />
        ) : problem.noProvider ? (
          <NoProvider />
        ) : (
          <Notice tone="failed" icon="warning" role="alert">
            {problem.message} {problem.advice}{' '}
            <Button size="small" icon="sync" onClick={retry}>
              Ask again
            </Button>
          </Notice>
        )}
      </li>
    </>
  );
};
