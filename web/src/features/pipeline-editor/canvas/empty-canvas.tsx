import { NativeSelect } from '@mantine/core';
/** An empty canvas says how to fill it. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { newId, useEditor } from '../editor-context.ts';
import { editorGraph } from '../model/graph.ts';

interface Props {
  addSource: () => void;
  pasteYaml: () => void;
}

export const EmptyCanvas = ({ addSource, pasteYaml }: Props) => {
  const { readOnly, change } = useEditor();
  const { team } = usePlace();
  const templates = useQuery({ ...queries.templates(team.id), enabled: !readOnly });
  const start = useMutation({
    mutationFn: (id: string) => api.template.get.query({ id }),
    onSuccess: ({ name, nodes, edges }) =>
      change({
        word: `Start from ${name}`,
        change: ({ globalConfig }) => editorGraph({ nodes, edges, globalConfig }, newId),
      }),
  });
  if (readOnly) return <div className="editor-empty muted">Nothing is drawn yet.</div>;
  return (
    <div className="editor-empty">
      <h2>Draw a pipeline</h2>
      <ol>
        <li>Add a source: events begin there.</li>
        <li>Add transforms that change or route them, and a sink that takes them out.</li>
        <li>Connect them from port to port. What is added goes behind what is selected.</li>
      </ol>
      <div className="inspector-actions">
        <Button icon="plus" kind="primary" onClick={addSource}>
          Add a source
        </Button>
        <Button onClick={pasteYaml}>Paste YAML</Button>
        {(templates.data?.length ?? 0) > 0 && (
          <NativeSelect
            aria-label="Start from a template"
            value=""
            disabled={start.isPending}
            onChange={(event) => event.target.value && start.mutate(event.target.value)}
          >
            <option value="">Start from a template…</option>
            {templates.data?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </NativeSelect>
        )}
      </div>
      {start.isError && <InlineError error={start.error} />}
    </div>
  );
};
