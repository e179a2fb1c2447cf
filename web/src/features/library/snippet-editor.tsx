import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Snippet } from '../../../../schemas/api/pipelines/snippets.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Field, NameField } from '../../ui/form/field.tsx';
import { UnsavedGuard } from '../../ui/form/unsaved-guard.tsx';
import { useDraft } from '../../ui/form/use-draft.ts';
import { Button } from '../../ui/primitives/button.tsx';
import { type Purpose, VrlBench } from '../playground/vrl-bench.tsx';
import { DeleteSnippetDialog } from './delete-snippet.tsx';

const FIRST_CODE = `.level = downcase(string!(.level))
`;
const FIRST_EVENT = `{
  "message": "hello",
  "level": "WARN"
}
`;

interface Props {
  /** Null makes a new one. */
  snippet: Snippet | null;
  close: () => void;
  made: (snippet: Snippet) => void;
}

/** A snippet with its test beside it. */
export const SnippetEditor = ({ snippet, close, made }: Props) => {
  const { team } = usePlace();
  const queryClient = useQueryClient();
  const snippets = useQuery(queries.snippets(team.id));
  const { draft, set, isChanged, reset, sending } = useDraft({
    name: snippet?.name ?? '',
    category: snippet?.category ?? '',
    description: snippet?.description ?? '',
    code: snippet?.code ?? FIRST_CODE,
  });
  const { name, category, description, code } = draft;
  const [event, setEvent] = useState(FIRST_EVENT);
  const [purpose, setPurpose] = useState<Purpose>('program');
  const [deleting, setDeleting] = useState<Snippet | null>(null);
  const mayEdit = team.role !== 'VIEWER';
  const content = {
    name: name.trim(),
    category: category.trim(),
    code,
    ...(description.trim() || snippet?.description ? { description: description.trim() } : {}),
  };
  const save = useMutation({
    mutationFn: sending(() =>
      snippet
        ? api.vrlSnippet.update.mutate({ id: snippet.id, ...content })
        : api.vrlSnippet.create.mutate({ teamId: team.id, ...content }),
    ),
    onSuccess: async (saved) => {
      await queryClient.invalidateQueries({ queryKey: ['vrlSnippet.list', team.id] });
      notify(`${saved.name} is saved.`);
      if (snippet) reset();
      else made(saved);
    },
  });
  const categories = [...new Set(snippets.data?.map((each) => each.category) ?? [])];
  return (
    <>
      <form
        className="stack"
        aria-label={snippet ? `Snippet ${snippet.name}` : 'New snippet'}
        onSubmit={(submit) => {
          submit.preventDefault();
          save.mutate();
        }}
      >
        <div className="editor-head">
          <Button icon="chevronLeft" onClick={close}>
            All snippets
          </Button>
          <span className="toolbar">
            {snippet && (
              <Button icon="trash" disabled={!mayEdit} onClick={() => setDeleting(snippet)}>
                Delete
              </Button>
            )}
            <Button
              type="submit"
              kind="primary"
              disabled={
                !mayEdit ||
                save.isPending ||
                (snippet && !isChanged) ||
                !name.trim() ||
                !category.trim() ||
                !code.trim()
              }
            >
              {save.isPending ? 'Saving…' : snippet ? 'Save the snippet' : 'Keep the snippet'}
            </Button>
          </span>
        </div>
        <fieldset className="plain-fieldset field-row" disabled={!mayEdit}>
          <legend className="sr-only">About the snippet</legend>
          <NameField value={name} onChange={(next) => set({ name: next })} />
          <Field
            label="Category"
            value={category}
            onChange={(next) => set({ category: next })}
            required
            autoComplete="off"
            maxLength={50}
            list={categories}
          />
          <Field
            label="What it does"
            value={description}
            onChange={(next) => set({ description: next })}
            autoComplete="off"
            maxLength={2_000}
          />
        </fieldset>
        {save.isError && <InlineError error={save.error} />}
        <VrlBench
          source={code}
          setSource={(next) => set({ code: next })}
          event={event}
          setEvent={setEvent}
          purpose={purpose}
          setPurpose={setPurpose}
          readOnly={!mayEdit}
        />
      </form>
      {/* Beside the form: what is sent in a dialog would be sent in it too. */}
      <UnsavedGuard
        unsaved={isChanged && (snippet !== null || save.isIdle || save.isError)}
        text="What you changed of the snippet is not saved."
      />
      <DeleteSnippetDialog snippet={deleting} close={() => setDeleting(null)} />
    </>
  );
};
