import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { PipelineGroup } from '../../../../../schemas/api/pipelines/pipeline-order.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { ActionForm } from '../actions/action-form.tsx';
import { nameAll, useRenewPipelines } from '../actions/pipeline-actions.ts';
import type { FormProps } from '../actions/pipeline-dialogs.tsx';
import { groupPaths } from './group-tree.ts';

/** The tree as options; the empty value is no group. */
export const groupOptions = (groups: readonly PipelineGroup[]): { value: string; word: string }[] => [
  { value: '', word: 'No group' },
  ...groupPaths(groups).map(({ id, path }) => ({ value: id, word: path })),
];

export const MoveForm = ({ pipelines, close }: FormProps) => {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const groups = useQuery(queries.pipelineGroups(environment.id));
  const [groupId, setGroupId] = useState(pipelines[0]?.groupId ?? '');
  const options = groupOptions(groups.data ?? []);
  return (
    <ActionForm
      env={environment.id}
      pipelines={pipelines}
      run={({ id }) => api.pipeline.update.mutate({ id, groupId: groupId === '' ? null : groupId })}
      done={async (through) => {
        await renew();
        const where = options.find(({ value }) => value === groupId)?.word ?? '';
        notify(
          groupId === ''
            ? `${nameAll(through)} ${through.length === 1 ? 'is' : 'are'} in no group now.`
            : `${nameAll(through)} moved to ${where}.`,
        );
        close();
      }}
      close={close}
      words={{ act: `Move ${nameAll(pipelines)}`, acting: 'Moving…' }}
      incomplete={!groups.data}
    >
      <SelectField
        label="Group"
        value={groupId}
        onChange={setGroupId}
        options={options}
        hint={
          groups.data?.length === 0
            ? 'There is no group yet: make one on the Pipelines page.'
            : 'Filing changes nothing about what runs.'
        }
      />
    </ActionForm>
  );
};
