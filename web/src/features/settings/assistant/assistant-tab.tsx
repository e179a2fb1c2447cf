import { Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AiProvider } from '../../../../../schemas/api/pipelines/assistant.ts';
import { api } from '../../../api/client.ts';
import { assistantQueries } from '../../../api/queries/assistant.ts';
import { whyNot } from '../../../app/permissions.ts';
import { useTeam } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { EmptyState, InlineError, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { useAssistantMutation } from './assistant-mutation.ts';
import { ProviderForm } from './provider-form.tsx';
import { UsageSection } from './usage-section.tsx';

/** The AI provider of the team: everybody sees which one it is and what it has used, an ADMIN changes it. */
export const AssistantTab = () => {
  const team = useTeam();
  const state = useQuery(assistantQueries.provider(team.id));
  return (
    <Loaded
      query={state}
      what="The assistant"
      skeleton={<SkeletonRows rows={8} label="Loading the assistant" />}
    >
      {({ provider }) => <Assistant key={team.id} provider={provider} />}
    </Loaded>
  );
};

const Assistant = ({ provider }: { provider: AiProvider | null }) => {
  const team = useTeam();
  const mayNot = whyNot(team.role, 'ADMIN');
  const [adding, setAdding] = useState(false);
  if (provider === null && !adding)
    return (
      <EmptyState icon="assistant" title="This team has no AI provider">
        <p>
          With one, the assistant explains why a pipeline fails, proposes changes of it and writes VRL. Every
          proposal is checked before it is shown, and is applied by you alone.
        </p>
        <WhatIsSent />
        {mayNot === null ? (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            Add a provider
          </Button>
        ) : (
          <p>An ADMIN of the team adds a provider: ask one.</p>
        )}
      </EmptyState>
    );
  return (
    <Stack gap="md">
      <Section title="Assistant" beside={provider && <Badge tone="ok">{provider.model}</Badge>}>
        <div className="section-body">
          <WhatIsSent />
        </div>
        {mayNot === null ? (
          <ProviderForm teamId={team.id} provider={provider} />
        ) : (
          <p className="section-body muted">{mayNot}</p>
        )}
        {provider && mayNot === null && <ProviderActions teamId={team.id} />}
      </Section>
      {provider && <UsageSection teamId={team.id} />}
    </Stack>
  );
};

const WhatIsSent = () => (
  <p className="muted">
    The provider gets the question, the graph of the pipeline, its status, and, to find a fault, lines of its
    log and figures. It never gets values of secrets, nor fields that are blanked for a VIEWER. Each
    conversation shows what it sends.
  </p>
);

const ProviderActions = ({ teamId }: { teamId: string }) => {
  const [removing, setRemoving] = useState(false);
  const test = useMutation({ mutationFn: () => api.ai.testProvider.mutate({ teamId }) });
  const remove = useAssistantMutation({
    run: () => api.ai.deleteProvider.mutate({ teamId }),
    done: () => 'The provider is removed.',
    after: () => setRemoving(false),
  });
  return (
    <div className="section-body form">
      {test.data && (
        <Notice role="status" tone={test.data.ok ? 'ok' : 'failed'} icon={test.data.ok ? 'check' : 'warning'}>
          {test.data.message} ({test.data.milliseconds.toLocaleString('en')} ms)
        </Notice>
      )}
      {test.isError && <InlineError error={test.error} />}
      <div className="button-row">
        <Button disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? 'Testing…' : 'Test the provider'}
        </Button>
        <Button kind="danger" onClick={() => setRemoving(true)}>
          Remove the provider
        </Button>
      </div>
      <Dialog title="Remove the provider" opened={removing} close={() => setRemoving(false)}>
        {removing && (
          <MutationForm
            mutation={remove}
            close={() => setRemoving(false)}
            submit="Remove the provider"
            working="Removing…"
            danger
          >
            <p>Its key is deleted, and nobody in the team can ask the assistant. Conversations stay.</p>
          </MutationForm>
        )}
      </Dialog>
    </div>
  );
};
