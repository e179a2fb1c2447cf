import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { assistantQueries } from '../../api/queries/assistant.ts';
import { Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { plural } from '../../ui/text/format.ts';
import type { Topic } from './assistant-text.ts';

interface Props {
  pipelineId: string;
  topic: Topic;
  message: string;
  event: string;
}

/** What the next question would send to the provider, word for word. */
export const ContextPreview = (props: Props) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="small" icon="shield" onClick={() => setOpen(true)}>
        What is sent
      </Button>
      <Dialog title="What is sent" opened={isOpen} close={() => setOpen(false)} size="xl">
        {isOpen && <Preview {...props} />}
      </Dialog>
    </>
  );
};

const Preview = ({ pipelineId, topic, message, event }: Props) => {
  const preview = useQuery({
    ...assistantQueries.context(pipelineId, topic, { message, event }),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded
      query={preview}
      what="What is sent"
      skeleton={<SkeletonRows rows={8} label="Loading what is sent" />}
    >
      {({ text, bytes, estimatedTokens, provider }) => (
        <div className="form">
          <p className="muted">
            {provider
              ? `To ${provider.host}, for the model ${provider.model}: `
              : 'There is no provider yet; one would get: '}
            {bytes.toLocaleString('en')} bytes, about {plural(estimatedTokens, 'token')}. Values of secrets
            and blanked fields are not in it.
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it. */}
          <pre className="assistant-context mono" tabIndex={0}>
            {text}
          </pre>
        </div>
      )}
    </Loaded>
  );
};
