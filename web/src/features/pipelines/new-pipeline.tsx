import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { notifyFailure } from '../../ui/feedback/toast.tsx';
import { NameField, SelectField, TextAreaField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { plural } from '../../ui/text/format.ts';
import { MadeHereNotice } from '../ownership/git-edits.tsx';
import { useRenewPipelines } from './actions/pipeline-actions.ts';
import { groupOptions } from './groups/move-form.tsx';
import { pipelineNameProblem } from './pipeline-name.ts';
import { copyOfTemplate } from './template-copy.ts';

interface Props {
  opened: boolean;
  close: () => void;
  /** What is chosen first. */
  groupId?: string | null;
  templateId?: string | null;
}

export const NewPipelineDialog = ({ opened, ...rest }: Props) => (
  <Dialog title="New pipeline" opened={opened} close={rest.close}>
    {opened && <NewPipelineForm {...rest} />}
  </Dialog>
);

const NewPipelineForm = ({
  close,
  groupId: firstGroup,
  templateId: firstTemplate,
}: Omit<Props, 'opened'>) => {
  const { environment, team } = usePlace();
  const navigate = useNavigate();
  const renew = useRenewPipelines();
  const groups = useQuery(queries.pipelineGroups(environment.id));
  const templates = useQuery(queries.templates(team.id));
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [groupId, setGroupId] = useState(firstGroup ?? '');
  const [templateId, setTemplateId] = useState(firstTemplate ?? '');
  const create = useMutation({
    mutationFn: async () => {
      const template = templateId ? await api.template.get.query({ id: templateId }) : null;
      const { id } = await api.pipeline.create.mutate({
        name,
        environmentId: environment.id,
        ...(description.trim() ? { description: description.trim() } : {}),
      });
      // The pipeline is there now: later failures are reported separately.
      try {
        if (template) await api.pipeline.saveGraph.mutate({ pipelineId: id, ...copyOfTemplate(template) });
        if (groupId) await api.pipeline.update.mutate({ id, groupId });
      } catch (error) {
        notifyFailure(`${name} was made, but not filled`, error);
      }
      return id;
    },
    onSuccess: async (id) => {
      close();
      await renew();
      await navigate(paths.pipelineEditor(environment.id, id));
    },
  });
  const nameProblem = name && pipelineNameProblem(name);
  const list = templates.data ?? [];
  const template = list.find(({ id }) => id === templateId);
  return (
    <MutationForm
      mutation={create}
      close={close}
      submit="Make the pipeline"
      working="Making it…"
      disabled={!name || nameProblem !== ''}
    >
      <NameField value={name} onChange={setName} autoFocus problem={nameProblem} />
      <TextAreaField
        label="Description"
        value={description}
        onChange={setDescription}
        rows={2}
        maxLength={2_000}
        placeholder="What it is for"
      />
      <SelectField
        label="Begin with"
        value={templateId}
        onChange={setTemplateId}
        options={[
          { value: '', word: 'An empty canvas' },
          ...list.map((each) => ({ value: each.id, word: `${each.category}: ${each.name}` })),
        ]}
        hint={
          template
            ? `${template.description || plural(template.componentCount, 'component')} (${template.componentTypes.join(', ')})`
            : templates.data && list.length === 0
              ? 'Templates of your team appear here; any pipeline can be saved as one.'
              : undefined
        }
      />
      {(groups.data?.length ?? 0) > 0 && (
        <SelectField
          label="Group"
          value={groupId}
          onChange={setGroupId}
          options={groupOptions(groups.data ?? [])}
        />
      )}
      <MadeHereNotice kind="Pipeline" many="Pipelines" />
    </MutationForm>
  );
};
