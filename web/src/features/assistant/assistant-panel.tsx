/** The assistant beside a page: a panel at its right, in a narrow window a sheet over all of it. */
import '../../ui/styles/markdown.css';
import './assistant.css';
import { useFocusTrap, useMediaQuery, useMergedRef } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import type { SuggestedChange } from '../../../../schemas/api/pipelines/conversations.ts';
import { assistantQueries } from '../../api/queries/assistant.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { IconButton } from '../../ui/primitives/button.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { type Topic, titleOf } from './assistant-text.ts';
import { ConversationPart } from './conversation.tsx';
import { NoProvider } from './no-provider.tsx';

export interface PanelPipeline {
  id: string;
  name: string;
  /** Why suggestions cannot be applied at the moment, such as a drawing that is not saved. */
  blocked?: string | null;
  /** Where the drawing is open: puts the changes into it. Null for what it cannot take. */
  applyHere?: (changes: readonly SuggestedChange[]) => (() => void) | null;
}

interface Props {
  pipeline: PanelPipeline;
  isOpen: boolean;
  topic: Topic;
  question: string;
  choose: (topic: Topic) => void;
  close: () => void;
}

const KINDS = [
  { value: 'pipeline', word: 'Change it' },
  { value: 'debug', word: 'Find a fault' },
] as const;
/** Narrower windows have no room beside the page. */
const BESIDE = '(min-width: 900px)';

export const AssistantPanel = ({ isOpen, ...rest }: Props) => (isOpen ? <Panel {...rest} /> : null);

type PanelProps = Omit<Props, 'isOpen'>;

/**
 * One element in windows of every width: another one would lose the question that is being written, and stop the answer.
 * Beside the page it is not modal; as a sheet it is. Escape closes it, and gives the focus back.
 */
const Panel = (props: PanelProps) => {
  const { close, topic } = props;
  const isBeside = useMediaQuery(BESIDE, true, { getInitialValueInEffect: false });
  const panel = useRef<HTMLElement>(null);
  const ref = useMergedRef(panel, useFocusTrap(!isBeside));
  useEffect(() => {
    const before = document.activeElement;
    (panel.current?.querySelector<HTMLElement>('[data-autofocus]') ?? panel.current)?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    // React also reports the keys of a dialog that the panel has opened, which closes by itself.
    const isOwn = event.currentTarget.contains(event.target as Node);
    if (event.key === 'Escape' && !event.defaultPrevented && isOwn) close();
  };
  return createPortal(
    <section
      ref={ref}
      className="assistant-panel"
      {...(isBeside ? { 'data-beside': true } : { role: 'dialog', 'aria-modal': true })}
      tabIndex={-1}
      aria-label={titleOf(topic)}
      onKeyDown={onKeyDown}
    >
      <PanelContent {...props} />
    </section>,
    document.body,
  );
};

const PanelContent = ({ pipeline, topic, question, choose, close }: PanelProps) => {
  const { team } = usePlace();
  const state = useQuery(assistantQueries.provider(team.id));
  return (
    <>
      <div className="assistant-head">
        <h2>{titleOf(topic)}</h2>
        {topic.kind !== 'vrl' && team.role !== 'VIEWER' && state.data?.provider && (
          <SegmentedControl
            label="What the assistant does"
            value={topic.kind}
            options={KINDS}
            onChange={(kind) => choose({ kind })}
          />
        )}
        <IconButton icon="cross" label="Close the assistant" onClick={close} />
      </div>
      {state.isPending && <SkeletonRows rows={4} label="Loading the assistant" />}
      {state.isError && !state.data && <InlineError error={state.error} />}
      {state.data?.provider === null && <NoProvider />}
      {state.data?.provider && (
        <ConversationPart
          key={`${pipeline.id} ${topic.kind} ${topic.componentKey ?? ''}`}
          pipeline={pipeline}
          topic={topic}
          question={question}
        />
      )}
    </>
  );
};
