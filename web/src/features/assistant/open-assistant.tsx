/** Which conversation is open on a page, and how its parts open one. The panel itself is loaded when it is first wanted. */
import { createContext, type ReactNode, Suspense, useContext, useMemo, useState } from 'react';
import { lazyPart } from '../../api/lazy-part.ts';
import { useEver } from '../../app/lazy-mount.ts';
import { usePlace } from '../../app/scope.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import type { PanelPipeline } from './assistant-panel.tsx';
import type { Topic } from './assistant-text.ts';

const Panel = lazyPart(() => import('./assistant-panel.tsx'), 'AssistantPanel');

/** `question` stands in the input: it is sent by the user, not by opening. */
type Open = (topic: Topic, question?: string) => void;

const OpenContext = createContext<Open>(() => {});
export const useOpenAssistant = (): Open => useContext(OpenContext);

interface Opened {
  topic: Topic;
  question: string;
}

export const AssistantProvider = ({
  pipeline,
  children,
}: {
  pipeline: PanelPipeline;
  children: ReactNode;
}) => {
  const [opened, setOpened] = useState<Opened | null>(null);
  // It stays while the panel closes.
  const [last, setLast] = useState<Opened | null>(null);
  const open = useMemo(
    (): Open =>
      (topic, question = '') => {
        setOpened({ topic, question });
        setLast({ topic, question });
      },
    [],
  );
  const ever = useEver(opened !== null);
  return (
    <OpenContext value={open}>
      {children}
      {ever && last && (
        <Suspense fallback={null}>
          <Panel
            pipeline={pipeline}
            isOpen={opened !== null}
            {...last}
            choose={open}
            close={() => setOpened(null)}
          />
        </Suspense>
      )}
    </OpenContext>
  );
};

/** For the actions of a page. A VIEWER asks for reasons, and proposes nothing. */
export const AssistantButton = () => {
  const open = useOpenAssistant();
  const { team } = usePlace();
  return (
    <Button icon="assistant" onClick={() => open({ kind: team.role === 'VIEWER' ? 'debug' : 'pipeline' })}>
      Assistant
    </Button>
  );
};

/** Beside something that failed. */
export const AskWhy = ({ question }: { question: string }) => {
  const open = useOpenAssistant();
  return (
    <Button icon="assistant" size="small" onClick={() => open({ kind: 'debug' }, question)}>
      Ask why
    </Button>
  );
};

/** Beside the program of a component. It is about the saved pipeline, which has the component. */
export const AskAboutVrl = ({ componentKey }: { componentKey: string }) => {
  const open = useOpenAssistant();
  const { team } = usePlace();
  if (team.role === 'VIEWER') return null;
  return (
    <Button icon="assistant" size="small" onClick={() => open({ kind: 'vrl', componentKey })}>
      Ask about VRL
    </Button>
  );
};
