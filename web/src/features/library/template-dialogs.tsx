import { Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import type { TemplateSummary } from '../../../../schemas/api/pipelines/templates.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { SelectField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { TemplateForm } from '../pipelines/actions/template-form.tsx';

interface DeleteProps {
  template: TemplateSummary | null;
  close: () => void;
}

export const DeleteTemplateDialog = ({ template, close }: DeleteProps) => (
  <Dialog
    title={template ? `Delete ${template.name}` : ''}
    opened={template !== null}
    close={close}
    size="sm"
  >
    {template && <DeleteForm template={template} close={close} />}
  </Dialog>
);

const DeleteForm = ({ template, close }: { template: TemplateSummary; close: () => void }) => {
  const { team } = usePlace();
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.template.delete.mutate({ id: template.id }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['template.list', team.id] });
      notify(`The template ${template.name} is gone.`);
      close();
    },
  });
  return (
    <MutationForm mutation={remove} close={close} submit="Delete the template" working="Deleting…" danger>
      <p>
        Pipelines that began with it stay as they are. The template itself cannot be brought back; any of
        those pipelines can be saved as one again.
      </p>
    </MutationForm>
  );
};

/** Which pipeline first, then what to call it. */
export const FromPipelineDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Dialog title="New template from a pipeline" opened={opened} close={close}>
    {opened && <FromPipeline close={close} />}
  </Dialog>
);

const FromPipeline = ({ close }: { close: () => void }) => {
  const { environment } = usePlace();
  const pipelines = useQuery(queries.pipelines(environment.id));
  const [id, setId] = useState('');
  return (
    <Loaded
      query={pipelines}
      what="Pipelines"
      skeleton={<SkeletonBlock height={120} label="Loading pipelines" />}
    >
      {(list) => {
        const chosen = list.find((pipeline) => pipeline.id === id);
        if (list.length === 0) {
          return (
            <p>
              There is no pipeline in {environment.name} yet.{' '}
              <Link to={paths.pipelines(environment.id, { new: '1' })}>Make one first</Link>, or change to
              another environment.
            </p>
          );
        }
        return (
          <Stack gap="lg">
            <SelectField
              label="Pipeline"
              value={id}
              onChange={setId}
              options={[
                { value: '', word: 'Choose a pipeline' },
                ...list.map(({ id: value, name }) => ({ value, word: name })),
              ]}
            />
            {chosen && (
              <TemplateForm key={chosen.id} pipelineId={chosen.id} name={chosen.name} close={close} />
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
};
