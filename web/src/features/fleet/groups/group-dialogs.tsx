/** The making, changing and deleting of node groups. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { NodeGroup } from '../../../../../schemas/api/fleet/node-groups.ts';
import { belongs } from '../../../../../schemas/node-groups/membership.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { isProduction, usePlace } from '../../../app/scope.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { Field, NameField } from '../../../ui/form/field.tsx';
import { LabelEditor } from '../../../ui/form/label-editor.tsx';
import { type LabelRow, labelsOf, problemOfRows, rowsOf } from '../../../ui/form/label-rows.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { plural } from '../../../ui/text/format.ts';
import { BecomesNotice, MadeHereNotice, useBecameGit } from '../../ownership/git-edits.tsx';
import { useRenewFleet } from '../nodes/node-actions.ts';
import { listed } from '../nodes/nodes-form.tsx';
import { ForetoldNotice, useForetold } from './group-preview-notice.tsx';

export type GroupAction =
  | { kind: 'create' }
  | { kind: 'change'; group: NodeGroup }
  | { kind: 'delete'; group: NodeGroup };

interface Props {
  action: GroupAction | null;
  close: () => void;
  /** Called after a deletion. */
  deleted?: () => void;
}

export const NodeGroupDialogs = ({ action: asked, close, deleted }: Props) => {
  // While it closes it shows what it was.
  const last = useRef(asked);
  if (asked) last.current = asked;
  const action = last.current;
  const title =
    action?.kind === 'change'
      ? `Change ${action.group.name}`
      : action?.kind === 'delete'
        ? `Delete ${action.group.name}`
        : 'New node group';
  return (
    <Dialog title={title} opened={asked !== null} close={close}>
      {action?.kind === 'create' && <GroupForm group={null} close={close} />}
      {action?.kind === 'change' && <GroupForm key={action.group.id} group={action.group} close={close} />}
      {action?.kind === 'delete' && <DeleteForm group={action.group} close={close} deleted={deleted} />}
    </Dialog>
  );
};

/** Keys of labels, as they are typed: with commas between. */
const keysIn = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((key) => key.trim())
      .filter(Boolean),
  ),
];

/** Null makes a new one. */
const GroupForm = ({ group, close }: { group: NodeGroup | null; close: () => void }) => {
  const { environment } = usePlace();
  const renew = useRenewFleet();
  const became = useBecameGit();
  const [name, setName] = useState(group?.name ?? '');
  const [criteria, setCriteria] = useState<LabelRow[]>(() => (group ? rowsOf(group.criteria) : [['', '']]));
  const [template, setTemplate] = useState<LabelRow[]>(() => rowsOf(group?.labelTemplate ?? null));
  const [required, setRequired] = useState(group?.requiredLabels.join(', ') ?? '');
  const save = useMutation({
    mutationFn: () => {
      const content = {
        name: name.trim(),
        criteria: labelsOf(criteria),
        labelTemplate: labelsOf(template),
        requiredLabels: keysIn(required),
      };
      return group
        ? api.nodeGroup.update.mutate({ id: group.id, ...content })
        : api.nodeGroup.create.mutate({ environmentId: environment.id, ...content });
    },
    onSuccess: async (saved) => {
      await renew();
      if (!became(saved) && 'name' in saved)
        notify(`${saved.name} was saved, with ${plural(saved.nodeCount, 'node')}.`);
      close();
    },
  });
  const problem = problemOfRows(criteria) || problemOfRows(template);
  const foretold = useForetold(group, {
    id: group?.id ?? '',
    name: name.trim(),
    criteria: labelsOf(criteria),
    labelTemplate: labelsOf(template),
    requiredLabels: [],
  });
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit={group ? 'Save the group' : 'Make the group'}
      working="Saving…"
      disabled={!name.trim() || problem !== ''}
      confirm={
        group && foretold && foretold.stops.length > 0 && isProduction(environment) ? group.name : null
      }
      // It comes and goes while labels are typed.
      confirmField={{ autoFocus: false }}
    >
      <BecomesNotice git={group?.git ?? null} />
      {!group && <MadeHereNotice kind="NodeGroup" many="Node groups" />}
      <NameField value={name} onChange={setName} autoFocus />
      <LabelEditor
        legend="Nodes that carry every one of these labels"
        noun="pair"
        rows={criteria}
        onChange={setCriteria}
        hint="Labels of the agent and those set in the UI count; those that groups give do not. None is every node."
      />
      <Matching criteria={labelsOf(criteria)} />
      <LabelEditor
        legend="Labels that they are given"
        noun="label"
        rows={template}
        onChange={setTemplate}
        hint="Over the agent’s, under those set in the UI. Pipelines that ask for them start and stop accordingly."
      />
      <Field
        label="Labels that they must have"
        value={required}
        onChange={setRequired}
        mono
        placeholder="region, tier"
        hint="Keys, with commas between. A node that lacks one is shown as such; nothing else changes."
      />
      {problem && <p className="field-problem">{problem}</p>}
      <ForetoldNotice foretold={foretold} changes={group !== null} />
    </MutationForm>
  );
};

/** How many nodes the criteria mean now. */
const Matching = ({ criteria }: { criteria: Record<string, string> }) => {
  const { environment } = usePlace();
  const nodes = useQuery(queries.nodes(environment.id));
  if (!nodes.data) return <p className="muted">Counting the nodes that match…</p>;
  const matching = nodes.data.filter(({ labels, ownLabels }) => belongs({ criteria }, ownLabels ?? labels));
  return (
    <p className="group-matching" role="status">
      <strong>
        {matching.length} of {plural(nodes.data.length, 'node')}
      </strong>{' '}
      match now{matching.length > 0 ? `: ${listed(matching.map(({ name }) => name).sort())}` : ''}.
    </p>
  );
};

interface DeleteProps {
  group: NodeGroup;
  close: () => void;
  deleted?: () => void;
}

const DeleteForm = ({ group, close, deleted }: DeleteProps) => {
  const { environment } = usePlace();
  const renew = useRenewFleet();
  const became = useBecameGit();
  const foretold = useForetold(group, null);
  const given = Object.entries(group.labelTemplate).map(([key, value]) => `${key}=${value}`);
  const remove = useMutation({
    mutationFn: () => api.nodeGroup.delete.mutate({ id: group.id }),
    onSuccess: async (done) => {
      const wentToGit = became(done);
      if (!wentToGit) notify(`The group ${group.name} was deleted.`);
      close();
      if (!wentToGit) deleted?.();
      await renew();
    },
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the group"
      working="Deleting…"
      danger
      confirm={isProduction(environment) ? group.name : null}
    >
      <BecomesNotice git={group.git} what="Deleting it" />
      <p>
        This deletes <strong>{group.name}</strong> for good. Its {plural(group.nodeCount, 'node')} stay
        {group.nodeCount === 1 ? 's' : ''} as {group.nodeCount === 1 ? 'it is' : 'they are'}
        {given.length > 0 && group.nodeCount > 0
          ? `, without the labels that it gave: ${given.join(', ')}.`
          : '.'}
      </p>
      {given.length > 0 && group.nodeCount > 0 && <ForetoldNotice foretold={foretold} changes={false} />}
    </MutationForm>
  );
};
