import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { PipelineGroup } from '../../../../../schemas/api/pipelines/pipeline-order.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { NameField, SelectField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useRenewPipelines } from '../actions/pipeline-actions.ts';
import type { GroupAction } from './group-nav.tsx';
import { groupPaths, levelsOf, subtreeIds } from './group-tree.ts';

/** Dots beside a name, seen on light and dark alike. */
const COLOURS: readonly { value: string; word: string }[] = [
  { value: '#2b7fca', word: 'Blue' },
  { value: '#1f8f8f', word: 'Teal' },
  { value: '#3a9d5d', word: 'Green' },
  { value: '#b9851a', word: 'Ochre' },
  { value: '#d2603a', word: 'Orange' },
  { value: '#cf4257', word: 'Red' },
  { value: '#b04a9a', word: 'Pink' },
  { value: '#7c5fc9', word: 'Violet' },
];
const MAX_LEVELS = 3;

interface Props {
  action: GroupAction | null;
  close: () => void;
  /** Called with the id of a group that is gone. */
  deleted: (id: string) => void;
}

export const GroupDialogs = ({ action: asked, close, deleted }: Props) => {
  // While it closes it shows what it was.
  const last = useRef(asked);
  if (asked) last.current = asked;
  const action = last.current;
  const title =
    action?.kind === 'change'
      ? `Change the group ${action.group.name}`
      : action?.kind === 'delete'
        ? `Delete the group ${action.group.name}`
        : action?.parent
          ? `New group in ${action.parent.name}`
          : 'New group';
  return (
    <Dialog title={title} opened={asked !== null} close={close} size="sm">
      {action?.kind === 'delete' && <DeleteGroup group={action.group} close={close} deleted={deleted} />}
      {action?.kind === 'create' && <GroupForm group={null} parent={action.parent} close={close} />}
      {action?.kind === 'change' && <GroupForm group={action.group} parent={null} close={close} />}
    </Dialog>
  );
};

interface FormProps {
  /** Null makes a new one. */
  group: PipelineGroup | null;
  parent: PipelineGroup | null;
  close: () => void;
}

const GroupForm = ({ group, parent, close }: FormProps) => {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const groups = useQuery(queries.pipelineGroups(environment.id));
  const [name, setName] = useState(group?.name ?? '');
  const [color, setColor] = useState(group?.color ?? '');
  const [parentId, setParentId] = useState((group ? group.parentId : parent?.id) ?? '');
  const save = useMutation({
    mutationFn: async (): Promise<void> => {
      if (group) {
        await api.pipelineGroup.update.mutate({
          id: group.id,
          name: name.trim(),
          color: color || null,
          parentId: parentId || null,
        });
        return;
      }
      await api.pipelineGroup.create.mutate({
        environmentId: environment.id,
        name: name.trim(),
        ...(color ? { color } : {}),
        ...(parentId ? { parentId } : {}),
      });
    },
    onSuccess: async () => {
      await renew();
      close();
    },
  });
  const all = groups.data ?? [];
  // It cannot be in itself, nor deeper than the levels allow.
  const own = group ? subtreeIds(all, group.id) : new Set<string>();
  const levels = group ? levelsOf(all, group.id) : 1;
  const places = groupPaths(all).filter(({ id, depth }) => !own.has(id) && depth + levels <= MAX_LEVELS);
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit={group ? 'Save the group' : 'Make the group'}
      working="Saving…"
      disabled={!name.trim()}
    >
      <NameField value={name} onChange={setName} autoFocus />
      <fieldset className="swatches">
        <legend>Colour</legend>
        {[{ value: '', word: 'None' }, ...COLOURS].map(({ value, word }) => (
          <label key={word} className="swatch" data-tip={word}>
            <input
              type="radio"
              name="group-colour"
              aria-label={word}
              checked={color === value}
              onChange={() => setColor(value)}
            />
            <span style={value ? { background: value, borderColor: value } : undefined} aria-hidden="true" />
          </label>
        ))}
      </fieldset>
      <SelectField
        label="In"
        value={parentId}
        onChange={setParentId}
        options={[
          { value: '', word: 'No other group' },
          ...places.map(({ id, path }) => ({ value: id, word: path })),
        ]}
        hint={`Groups may lie in one another, ${MAX_LEVELS} levels deep.`}
      />
    </MutationForm>
  );
};

interface DeleteProps {
  group: PipelineGroup;
  close: () => void;
  deleted: (id: string) => void;
}

const DeleteGroup = ({ group, close, deleted }: DeleteProps) => {
  const { environment } = usePlace();
  const renew = useRenewPipelines();
  const groups = useQuery(queries.pipelineGroups(environment.id));
  const children = (groups.data ?? []).filter(({ parentId }) => parentId === group.id);
  const remove = useMutation({
    mutationFn: () => api.pipelineGroup.delete.mutate({ id: group.id }),
    onSuccess: async ({ moved, ungrouped }) => {
      deleted(group.id);
      await renew();
      const renamed = moved.filter(
        ({ id, name }) => children.find((child) => child.id === id)?.name !== name,
      );
      notify(
        `The group ${group.name} is gone. ${plural(ungrouped, 'pipeline is', 'pipelines are')} in no group now.${
          renamed.length > 0 ? ` Renamed on the way: ${renamed.map(({ name }) => name).join(', ')}.` : ''
        }`,
      );
      close();
    },
  });
  return (
    <MutationForm mutation={remove} close={close} submit="Delete the group" working="Deleting…" danger>
      <p>
        {group.pipelineCount === 0
          ? 'No pipeline is filed in it.'
          : `${plural(group.pipelineCount, 'pipeline')} will be in no group; nothing else about ${group.pipelineCount === 1 ? 'it' : 'them'} changes.`}{' '}
        {children.length > 0 &&
          `${plural(children.length, 'group')} in it (${children.map(({ name }) => name).join(', ')}) will stand at the top.`}
      </p>
    </MutationForm>
  );
};
