import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Snippet } from '../../../../schemas/api/pipelines/snippets.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Field, NameField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';

interface Props {
  opened: boolean;
  close: () => void;
  code: string;
  made?: (snippet: Snippet) => void;
}

/** Keeps a piece of VRL under a name. */
export const SnippetDialog = ({ opened, ...rest }: Props) => (
  <Dialog title="Save as a snippet" opened={opened} close={rest.close} size="sm">
    {opened && <SnippetForm {...rest} />}
  </Dialog>
);

const SnippetForm = ({ close, code, made }: Omit<Props, 'opened'>) => {
  const { team } = usePlace();
  const queryClient = useQueryClient();
  const snippets = useQuery(queries.snippets(team.id));
  const [name, setName] = useState('');
  const [category, setCategory] = useState('');
  const [description, setDescription] = useState('');
  const categories = [...new Set(snippets.data?.map((snippet) => snippet.category) ?? [])];
  const save = useMutation({
    mutationFn: () =>
      api.vrlSnippet.create.mutate({
        teamId: team.id,
        name: name.trim(),
        category: category.trim(),
        code,
        ...(description.trim() ? { description: description.trim() } : {}),
      }),
    onSuccess: async (snippet) => {
      await queryClient.invalidateQueries({ queryKey: ['vrlSnippet.list', team.id] });
      notify(`${snippet.name} is in the library of ${team.name}.`);
      close();
      made?.(snippet);
    },
  });
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit="Save the snippet"
      working="Saving…"
      disabled={!name.trim() || !category.trim() || code.trim() === ''}
    >
      <NameField value={name} onChange={setName} autoFocus />
      <Field
        label="Category"
        value={category}
        onChange={setCategory}
        required
        autoComplete="off"
        maxLength={50}
        list={categories}
        placeholder="Parsing"
      />
      <Field
        label="Description"
        value={description}
        onChange={setDescription}
        autoComplete="off"
        maxLength={2_000}
      />
      <p className="muted">Everybody in {team.name} sees it: leave no secret in the code.</p>
    </MutationForm>
  );
};
