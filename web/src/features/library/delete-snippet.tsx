import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Snippet } from '../../../../schemas/api/pipelines/snippets.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/scope.tsx';
import { notify, notifyFailure } from '../../ui/feedback/toast.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';

interface Props {
  snippet: Snippet | null;
  close: () => void;
}

export const DeleteSnippetDialog = ({ snippet, close }: Props) => (
  <Dialog title={snippet ? `Delete ${snippet.name}` : ''} opened={snippet !== null} close={close} size="sm">
    {snippet && <DeleteForm snippet={snippet} close={close} />}
  </Dialog>
);

const DeleteForm = ({ snippet, close }: { snippet: Snippet; close: () => void }) => {
  const { team } = usePlace();
  const queryClient = useQueryClient();
  const renew = (): Promise<void> =>
    queryClient.invalidateQueries({ queryKey: ['vrlSnippet.list', team.id] });
  const bringBack = async (): Promise<void> => {
    const { name, category, code, description } = snippet;
    try {
      await api.vrlSnippet.create.mutate({
        teamId: team.id,
        name,
        category,
        code,
        ...(description ? { description } : {}),
      });
    } catch (error) {
      notifyFailure(`${name} was not brought back`, error);
    }
    await renew();
  };
  const remove = useMutation({
    mutationFn: () => api.vrlSnippet.delete.mutate({ id: snippet.id }),
    onSuccess: async () => {
      await renew();
      notify(`${snippet.name} deleted.`, { word: 'Undo', run: () => void bringBack() });
      close();
    },
  });
  return (
    <MutationForm mutation={remove} close={close} submit="Delete the snippet" working="Deleting…" danger>
      <p>Pipelines that took a copy of it stay as they are.</p>
    </MutationForm>
  );
};
