import { Checkbox } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { Migration } from '../../../../schemas/api/pipelines/migrations.ts';
import { api } from '../../api/client.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Notice } from '../../ui/feedback/notice.tsx';
import { EmptyState } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Field, SelectField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { plural } from '../../ui/text/format.ts';
import { pipelineNameProblem } from '../pipelines/pipeline-name.ts';
import { GeneratedLink } from './generated-link.tsx';
import { useRenewMigrations } from './migration-queries.ts';
import { obstaclesOf } from './migration-text.ts';

/** Where to, under which name. */
export const GenerateStep = ({ migration, mayEdit }: { migration: Migration; mayEdit: boolean }) => {
  if (migration.validation === null)
    return (
      <EmptyState icon="pipelines" title="Validate first">
        <p>A pipeline is made of what was validated. Any edit since asks for another validation.</p>
      </EmptyState>
    );
  return (
    <div className="migration-step">
      {migration.generated && (
        <Notice tone="ok" icon="check">
          Made of this migration: <GeneratedLink generated={migration.generated} />
        </Notice>
      )}
      <Section title="Make a pipeline">
        <GenerateForm migration={migration} mayEdit={mayEdit} />
      </Section>
    </div>
  );
};

const GenerateForm = ({ migration, mayEdit }: { migration: Migration; mayEdit: boolean }) => {
  const { environment: here, environments, team } = usePlace();
  const navigate = useNavigate();
  const renew = useRenewMigrations();
  const [environmentId, setEnvironmentId] = useState(here.id);
  const [pipelineName, setPipelineName] = useState(migration.name.replaceAll(/[^a-zA-Z0-9 _-]+/g, '-'));
  const [allowOpen, setAllowOpen] = useState(false);
  const target = environments.find(({ id }) => id === environmentId) ?? here;
  const isGit = target.gitMode === 'sync';
  const obstacles = obstaclesOf(migration);
  const generate = useMutation({
    mutationFn: () =>
      api.migration.generate.mutate({
        ...{ id: migration.id, teamId: team.id, environmentId: target.id, pipelineName },
        ...(allowOpen ? { allowOpen } : {}),
      }),
    onSuccess: async (output) => {
      await renew();
      if ('proposed' in output) {
        const { number } = output.proposed;
        notify(`Pull request #${number} adds ${pipelineName}: nothing changes before it is merged.`, {
          word: 'Look at it',
          run: () => void navigate(paths.pullRequest(target.id, number)),
        });
        return;
      }
      const missing = output.missingSecrets.length;
      notify(
        `${pipelineName} is a draft in ${target.name}${missing > 0 ? `; ${plural(missing, 'secret')} to add before a deploy` : ''}.`,
        { word: 'Open it', run: () => void navigate(paths.pipelineEditor(target.id, output.pipelineId)) },
      );
    },
  });
  const problem = pipelineName && pipelineNameProblem(pipelineName);
  return (
    <MutationForm
      mutation={generate}
      submit={isGit ? 'Open a pull request' : 'Make the draft'}
      working={isGit ? 'Opening…' : 'Making it…'}
      disabled={!pipelineName || problem !== '' || (obstacles.length > 0 && !allowOpen)}
      fieldset={{ disabled: !mayEdit, legend: 'Pipeline' }}
      autoComplete="off"
    >
      <SelectField
        label="Environment"
        value={environmentId}
        onChange={setEnvironmentId}
        options={environments.map(({ id, name }) => ({ value: id, word: name }))}
      />
      <Field
        label="Name of the pipeline"
        value={pipelineName}
        onChange={setPipelineName}
        problem={problem}
        maxLength={100}
        required
        autoComplete="off"
      />
      {obstacles.length > 0 && (
        <Notice tone="held" icon="warning">
          {obstacles.map((obstacle) => (
            <p key={obstacle}>{obstacle}</p>
          ))}
        </Notice>
      )}
      {obstacles.length > 0 && (
        <Checkbox
          checked={allowOpen}
          onChange={(event) => setAllowOpen(event.target.checked)}
          label="Make it nevertheless: I finish it in the editor"
        />
      )}
      <Notice icon={isGit ? 'git' : 'pipelines'} tone="moving">
        {isGit
          ? `Git describes ${target.name}: this opens a pull request with a new manifest, deployed: false. Nothing changes before it is merged.`
          : 'It becomes a draft with a layout from left to right. Nothing runs before somebody deploys it.'}
      </Notice>
    </MutationForm>
  );
};
