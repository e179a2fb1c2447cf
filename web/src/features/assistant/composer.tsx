import { Textarea } from '@mantine/core';
import { type KeyboardEvent, type RefObject, useId } from 'react';
import { MAX_QUESTION_BYTES } from '../../../../schemas/api/pipelines/conversations.ts';
import { TextAreaField } from '../../ui/form/field.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { TEXTS, type Topic } from './assistant-text.ts';

interface Props {
  input: RefObject<HTMLTextAreaElement | null>;
  topic: Topic;
  draft: string;
  setDraft: (text: string) => void;
  event: string;
  setEvent: (text: string) => void;
  isBusy: boolean;
  ask: (question: string) => void;
  stop: () => void;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Enter asks, Shift+Enter begins a line. */
export const Composer = ({ input, topic, draft, setDraft, event, setEvent, isBusy, ask, stop }: Props) => {
  const hint = useId();
  const isTooLong = bytesOf(draft) > MAX_QUESTION_BYTES;
  const eventProblem = event.trim() === '' || isJsonObject(event) ? '' : 'It must be one JSON object.';
  const mayAsk = draft.trim() !== '' && !isTooLong && eventProblem === '' && !isBusy;
  const submit = (): void => {
    if (mayAsk) ask(draft.trim());
  };
  const onKeyDown = (key: KeyboardEvent): void => {
    if (key.key !== 'Enter' || key.shiftKey || key.nativeEvent.isComposing) return;
    key.preventDefault();
    submit();
  };
  return (
    <form
      className="assistant-composer"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        submit();
      }}
    >
      {topic.kind === 'vrl' && (
        <details>
          <summary>An event to run it on</summary>
          <TextAreaField
            label="Event as JSON"
            value={event}
            onChange={setEvent}
            problem={eventProblem}
            hint="Without one the last sample of what comes in is taken."
            mono
          />
        </details>
      )}
      <Textarea
        ref={input}
        autoFocus
        label="Question"
        placeholder={TEXTS[topic.kind].placeholder}
        value={draft}
        rows={3}
        aria-describedby={hint}
        error={isTooLong ? `A question has ${MAX_QUESTION_BYTES / 1_024} KB at most.` : undefined}
        data-autofocus
        onKeyDown={onKeyDown}
        onChange={(changed) => setDraft(changed.target.value)}
      />
      <div className="assistant-send">
        <span id={hint} className="muted">
          Enter asks, Shift+Enter begins a line.
        </span>
        {isBusy ? (
          <Button icon="stop" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button kind="primary" type="submit" disabled={!mayAsk}>
            Ask
          </Button>
        )}
      </div>
    </form>
  );
};
