import { Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import type { EnvironmentSummary } from '../../../../../schemas/api/fleet/environments.ts';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../../api/client.ts';
import { paths } from '../../../app/paths.ts';
import { type Place, usePlace } from '../../../app/scope.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { EnvironmentTag } from '../../../ui/primitives/environment-tag.tsx';
import { pipelineNameProblem } from '../pipeline-name.ts';
import { ActionForm } from './action-form.tsx';
import { nameAll, useRenewPipelines } from './pipeline-actions.ts';
import type { FormProps } from './pipeline-dialogs.tsx';

type Copied = Awaited<ReturnType<typeof api.pipeline.promote.mutate>>;

/** Where the person may make pipelines by hand, with the team in the name where there are several. */
function targetsOf({ teams, environment }: Place): { environment: EnvironmentSummary; word: string }[] {
  return teams
    .filter(({ team }) => team.role !== 'VIEWER')
    .flatMap(({ team, environments }) =>
      environments
        .filter(({ id }) => id !== environment.id)
        .map((each) => ({
          environment: each,
          word: teams.length > 1 ? `${team.name} / ${each.name}` : each.name,
        })),
    );
}

export const CopyForm = ({ pipelines, close }: FormProps) => {
  const place = usePlace();
  const targets = targetsOf(place);
  const open = targets.filter(({ environment }) => environment.gitMode !== 'sync');
  const described = targets.filter(({ environment }) => environment.gitMode === 'sync');
  const [targetId, setTargetId] = useState(open[0]?.environment.id ?? '');
  const [name, setName] = useState(pipelines[0]?.name ?? '');
  const [copies, setCopies] = useState<readonly Copied[]>([]);
  const [finished, setFinished] = useState(false);
  const renew = useRenewPipelines();
  const target = open.find(({ environment }) => environment.id === targetId)?.environment;
  const isSingle = pipelines.length === 1;
  const nameProblem = isSingle ? pipelineNameProblem(name) : '';

  const copy = async ({ id }: PipelineSummary): Promise<void> => {
    const made = await api.pipeline.promote.mutate({
      pipelineId: id,
      targetEnvironmentId: targetId,
      ...(isSingle ? { name } : {}),
    });
    setCopies((before) => [...before, made]);
  };

  if (finished && target) return <CopyResult target={target} copies={copies} close={close} />;
  const gitNote = described.length > 0 && (
    <p className="muted">
      Not offered, because git describes their pipelines: {described.map(({ word }) => word).join(', ')}.
      Promote it there instead.
    </p>
  );
  if (open.length === 0) {
    return (
      <Stack gap="lg">
        <p>There is no other environment in which you may make pipelines by hand.</p>
        {gitNote}
        <Group gap="sm" justify="flex-end">
          <Button onClick={close}>Close</Button>
        </Group>
      </Stack>
    );
  }
  return (
    <ActionForm
      env={place.environment.id}
      pipelines={pipelines}
      run={copy}
      done={async () => {
        await renew();
        setFinished(true);
      }}
      close={close}
      words={{ act: `Copy to ${target?.name ?? '…'}`, acting: 'Copying…' }}
      incomplete={!target || nameProblem !== ''}
    >
      <p>
        The copy of {nameAll(pipelines)} is a draft of its own: it does not run before it is deployed there,
        and follows nothing that changes here. To bring over what runs, promote it. Credentials that are
        written out in a config stay behind; references to secrets go along, and the secrets themselves have
        to be in the other environment.
      </p>
      <SelectField
        label="Environment"
        value={targetId}
        onChange={setTargetId}
        options={open.map(({ environment, word }) => ({ value: environment.id, word }))}
      />
      {gitNote}
      {isSingle && (
        <Field
          label="Name there"
          value={name}
          onChange={setName}
          required
          autoComplete="off"
          problem={nameProblem}
        />
      )}
    </ActionForm>
  );
};

interface ResultProps {
  target: EnvironmentSummary;
  copies: readonly Copied[];
  close: () => void;
}

/** What the copies lack, so that nobody finds out by a failed deploy. */
const CopyResult = ({ target, copies, close }: ResultProps) => (
  <Stack gap="lg">
    <p>
      Copied to <EnvironmentTag environment={target} />:
    </p>
    <ul className="copies" aria-label="Copies">
      {copies.map((copy) => (
        <li key={copy.id}>
          <span>
            <Link to={paths.pipeline(target.id, copy.id)}>{copy.name}</Link>
            {copy.strippedFields.length + copy.missingSecrets.length === 0 && (
              <span className="muted"> is complete: nothing was left behind, and its secrets are there.</span>
            )}
          </span>
          {copy.strippedFields.length > 0 && (
            <Notice icon="warning" tone="held">
              <div>
                Left behind, to be filled in again:
                <ul>
                  {copy.strippedFields.map((field) => (
                    <li key={field} className="mono">
                      {field.replace(/^\//, '').replaceAll('/', '.')}
                    </li>
                  ))}
                </ul>
              </div>
            </Notice>
          )}
          {copy.missingSecrets.length > 0 && (
            <Notice icon="secrets" tone="held">
              <div>
                Secrets that {target.name} lacks (<Link to={paths.secrets(target.id)}>add them</Link>):
                <ul>
                  {copy.missingSecrets.map((variable) => (
                    <li key={variable} className="mono">
                      {variable}
                    </li>
                  ))}
                </ul>
              </div>
            </Notice>
          )}
        </li>
      ))}
    </ul>
    <Group gap="sm" justify="flex-end">
      <Button kind="primary" onClick={close}>
        Done
      </Button>
    </Group>
  </Stack>
);
