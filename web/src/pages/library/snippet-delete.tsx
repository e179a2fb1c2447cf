import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Snippet } from '../../../../schemas/api/snippets.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/environment.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { InlineError } from '../../components/states.tsx';
import { notify, notifyFailure } from '../../components/toasts.tsx';

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
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate();
      }}
    >
      <p>Pipelines that took a copy of it stay as they are.</p>
      {remove.isError && <InlineError error={remove.error} />}
      <div className="form-actions">
        <button type="button" className="button" onClick={close}>
          Keep it
        </button>
        <button type="submit" className="button" data-kind="danger" disabled={remove.isPending}>
          {remove.isPending ? 'Deleting…' : 'Delete the snippet'}
        </button>
      </div>
    </form>
  );
};
