import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { Field, NameField, TextAreaField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { plural } from '../../../ui/text/format.ts';

interface Props {
  pipelineId: string;
  name: string;
  close: () => void;
}

/** Keeps the graph of a pipeline for the team. */
export const TemplateForm = ({ pipelineId, name: pipelineName, close }: Props) => {
  const { team } = usePlace();
  const queryClient = useQueryClient();
  const pipeline = useQuery(queries.pipeline(pipelineId));
  const templates = useQuery(queries.templates(team.id));
  const [name, setName] = useState(pipelineName);
  const [description, setDescription] = useState('');
  const [category, setCategory] = useState('');
  const categories = [...new Set(templates.data?.map((template) => template.category) ?? [])];
  const save = useMutation({
    mutationFn: async () => {
      const { nodes, edges } = await api.pipeline.get.query({ id: pipelineId });
      return api.template.create.mutate({
        teamId: team.id,
        name: name.trim(),
        description: description.trim(),
        category: category.trim(),
        nodes,
        edges,
      });
    },
    onSuccess: async ({ strippedFields }) => {
      await queryClient.invalidateQueries({ queryKey: ['template.list', team.id] });
      const stripped =
        strippedFields.length > 0
          ? ` ${plural(strippedFields.length, 'credential was', 'credentials were')} left out.`
          : '';
      notify(`${name.trim()} is a template now.${stripped}`);
      close();
    },
  });
  return (
    <Loaded
      query={pipeline}
      what="The pipeline"
      skeleton={<SkeletonBlock height={240} label="Loading the pipeline" />}
    >
      {({ nodes }) => (
        <MutationForm
          mutation={save}
          close={close}
          submit="Save the template"
          working="Saving…"
          disabled={!name.trim() || !category.trim() || nodes.length === 0}
        >
          <p>
            {plural(nodes.length, 'component')} of {pipelineName}, for every environment of {team.name}.
            Credentials that are written out and links to shared components are left out.
          </p>
          <NameField value={name} onChange={setName} autoFocus />
          <Field
            label="Category"
            value={category}
            onChange={setCategory}
            required
            autoComplete="off"
            list={categories}
            hint="Templates are shown by it, for example Logs or Metrics."
          />
          <TextAreaField
            label="Description"
            value={description}
            onChange={setDescription}
            maxLength={2_000}
            hint="What it is for, and what has to be filled in."
          />
        </MutationForm>
      )}
    </Loaded>
  );
};
