import { NativeSelect } from '@mantine/core';
/** A component's tie to a shared one: follow it, let go of it, or make one. All but the making can be undone. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Field, NameField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { useEditor } from '../editor-context.ts';
import { linkShared, unlinkShared } from '../model/edits.ts';
import type { EditorNode } from '../model/graph.ts';

export const SharedLink = ({ node }: { node: EditorNode }) => {
  const { shared, readOnly, change } = useEditor();
  const [sharing, setSharing] = useState(false);
  const { componentKey } = node;
  if (node.sharedComponentId !== undefined) {
    const source = shared.get(node.sharedComponentId);
    const isOld = source !== undefined && source.version !== node.sharedComponentVersion;
    return (
      <section className="inspector-part" aria-label="Shared component">
        <Notice icon="link" tone={isOld ? 'moving' : 'unknown'}>
          Linked to {source ? `“${source.name}”` : 'a shared component that is gone'}, version{' '}
          {node.sharedComponentVersion}.{isOld && ` Version ${source.version} is there.`} Its options are
          changed in the library.
        </Notice>
        {!readOnly && (
          <div className="inspector-actions">
            {isOld && (
              <Button
                kind="primary"
                onClick={() =>
                  change({
                    word: `Accept version ${source.version} in ${componentKey}`,
                    change: (now) => linkShared(now, node.id, source),
                  })
                }
              >
                Accept version {source.version}
              </Button>
            )}
            <Button
              onClick={() =>
                change({ word: `Unlink ${componentKey}`, change: (now) => unlinkShared(now, node.id) })
              }
            >
              Unlink
            </Button>
          </div>
        )}
      </section>
    );
  }
  if (readOnly) return null;
  const fitting = [...shared.values()].filter(
    ({ kind, componentType }) => kind === node.kind && componentType === node.componentType,
  );
  return (
    <section className="inspector-part" aria-label="Shared component">
      <div className="inspector-actions">
        {fitting.length > 0 && (
          <NativeSelect
            aria-label={`Link ${componentKey} to a shared component`}
            value=""
            onChange={(event) => {
              const source = fitting.find(({ id }) => id === event.target.value);
              if (!source) return;
              change({
                word: `Link ${componentKey} to ${source.name}`,
                change: (now) => linkShared(now, node.id, source),
              });
            }}
          >
            <option value="">Link to a shared component…</option>
            {fitting.map(({ id, name, version }) => (
              <option key={id} value={id}>
                {name}, version {version}
              </option>
            ))}
          </NativeSelect>
        )}
        <Button icon="link" size="small" onClick={() => setSharing(true)}>
          Share this component
        </Button>
      </div>
      <Dialog title={`Share ${componentKey}`} opened={sharing} close={() => setSharing(false)}>
        {sharing && <ShareForm node={node} close={() => setSharing(false)} />}
      </Dialog>
    </section>
  );
};

const ShareForm = ({ node, close }: { node: EditorNode; close: () => void }) => {
  const { environmentId, change } = useEditor();
  const queryClient = useQueryClient();
  const [name, setName] = useState(node.displayName ?? node.componentKey);
  const [description, setDescription] = useState('');
  const share = useMutation({
    mutationFn: () =>
      api.sharedComponent.create.mutate({
        environmentId,
        name,
        description,
        componentType: node.componentType,
        kind: node.kind,
        config: node.config,
      }),
    onSuccess: async (made) => {
      await queryClient.invalidateQueries({ queryKey: ['sharedComponent.list', environmentId] });
      change({
        word: `Link ${node.componentKey} to ${made.name}`,
        change: (now) => linkShared(now, node.id, made),
      });
      close();
    },
  });
  return (
    <MutationForm
      mutation={share}
      close={close}
      submit="Share and link"
      working="Sharing…"
      disabled={name.trim() === ''}
    >
      <p className="muted">
        Other pipelines of this environment can then link to it. A change of it is a new version, which each
        of them accepts.
      </p>
      <NameField value={name} onChange={setName} autoFocus />
      <Field label="Description" value={description} onChange={setDescription} maxLength={2_000} />
    </MutationForm>
  );
};
