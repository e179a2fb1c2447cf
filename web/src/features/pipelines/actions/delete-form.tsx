import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { PipelineSummary } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../../api/client.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify, notifyFailure } from '../../../ui/feedback/toast.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useBecameGit } from '../../ownership/git-edits.tsx';
import { ActionForm, GitChange, LeftOut } from './action-form.tsx';
import { Processes } from './affected-processes.tsx';
import { Dependents } from './dependents.tsx';
import { confirmation, nameAll } from './pipeline-actions.ts';
import type { FormProps } from './pipeline-dialogs.tsx';

interface Props extends FormProps {
  deleted?: () => void;
}

export const DeleteForm = ({ pipelines, leftOut, close, deleted }: Props) => {
  const { environment } = usePlace();
  const queryClient = useQueryClient();
  const became = useBecameGit();
  const wentToGit = useRef(false);
  const renewList = (): Promise<void> =>
    queryClient.invalidateQueries({ queryKey: ['pipeline.list', environment.id] });

  const restore = async (gone: readonly PipelineSummary[]): Promise<void> => {
    for (const { id, name, isDraft } of gone) {
      try {
        await api.pipeline.restore.mutate({ id });
        notify(isDraft ? `${name} is back.` : `${name} is back as a draft; deploy it and it runs again.`);
      } catch (error) {
        notifyFailure(`${name} was not brought back`, error);
      }
    }
    await renewList();
  };
  const deployed = pipelines.filter(({ isDraft }) => !isDraft);
  const it = pipelines.length === 1 ? 'it' : 'them';
  return (
    <ActionForm
      env={environment.id}
      pipelines={pipelines}
      run={async ({ id }) => {
        wentToGit.current = became(await api.pipeline.delete.mutate({ id }));
      }}
      done={(through) => {
        if (wentToGit.current) {
          close();
          return;
        }
        notify(`${nameAll(through)} deleted.`, { word: 'Undo', run: () => void restore(through) });
        close();
        deleted?.();
        // What is gone must not be asked for again.
        for (const { id } of through) queryClient.removeQueries({ queryKey: ['pipeline.get', id] });
        void renewList();
      }}
      close={close}
      words={{ act: `Delete ${nameAll(pipelines)}`, acting: 'Deleting…' }}
      danger
      confirm={confirmation(environment, pipelines)}
    >
      <p>
        {deployed.length === 0 ? (
          `Nothing runs ${it}.`
        ) : (
          <>
            This stops <Processes env={environment.id} pipelines={deployed} />.
          </>
        )}{' '}
        {pipelines.length === 1 ? 'The pipeline' : plural(pipelines.length, 'pipeline')} can be brought back
        for 24 hours, with all versions.
      </p>
      <LeftOut pipelines={leftOut} />
      <GitChange pipelines={pipelines} what="Deleting it" />
      <Dependents ids={pipelines.map(({ id }) => id)} />
    </ActionForm>
  );
};
