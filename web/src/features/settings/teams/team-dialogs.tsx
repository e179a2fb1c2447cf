import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { TeamOverview } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { NameField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useUserMutation } from '../accounts/user-mutations.ts';

export type TeamAction =
  | { kind: 'create' }
  | { kind: 'environment' | 'rename' | 'delete'; team: TeamOverview };

const titleOf = (action: TeamAction | null): string => {
  if (action === null || action.kind === 'create') return 'Make a team';
  const { name } = action.team;
  switch (action.kind) {
    case 'environment':
      return `Make an environment in ${name}`;
    case 'rename':
      return `Rename ${name}`;
    case 'delete':
      return `Delete ${name}`;
  }
};

interface Props {
  action: TeamAction | null;
  close: () => void;
}

export const TeamDialogs = ({ action: asked, close }: Props) => {
  // While it closes it shows what it was.
  const last = useRef(asked);
  if (asked) last.current = asked;
  const action = last.current;
  return (
    <Dialog title={titleOf(action)} opened={asked !== null} close={close} size="sm">
      {asked?.kind === 'create' && <CreateForm close={close} />}
      {asked?.kind === 'environment' && <EnvironmentForm team={asked.team} close={close} />}
      {action?.kind === 'rename' && <RenameForm key={action.team.id} team={action.team} close={close} />}
      {action?.kind === 'delete' && <DeleteForm key={action.team.id} team={action.team} close={close} />}
    </Dialog>
  );
};

const CreateForm = ({ close }: { close: () => void }) => {
  const [name, setName] = useState('');
  const make = useUserMutation({
    run: () => api.team.create.mutate({ name: name.trim() }),
    done: (team) => `The team ${team.name} was made.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={make}
      close={close}
      submit="Make the team"
      working="Making the team…"
      disabled={!name.trim()}
      autoComplete="off"
    >
      <NameField value={name} onChange={setName} autoFocus placeholder="Payments" />
      <p className="muted">
        You are its first admin. Make an environment for it next; then its members are under Settings, too.
      </p>
    </MutationForm>
  );
};

interface FormProps {
  team: TeamOverview;
  close: () => void;
}

const EnvironmentForm = ({ team, close }: FormProps) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const make = useUserMutation({
    run: () => api.environment.create.mutate({ teamId: team.id, name: name.trim() }),
    done: ({ name: made }) => `${made} was made in ${team.name}. Go there by the list of environments above.`,
    after: () => {
      close();
      void queryClient.invalidateQueries({ queryKey: ['environment.list'] });
    },
  });
  return (
    <MutationForm
      mutation={make}
      close={close}
      submit="Make the environment"
      working="Making the environment…"
      disabled={!name.trim()}
      autoComplete="off"
    >
      <NameField value={name} onChange={setName} autoFocus placeholder="staging" />
      <p className="muted">
        It holds pipelines and the nodes that run them. It is empty at first, and all members of {team.name}{' '}
        see it.
      </p>
    </MutationForm>
  );
};

const RenameForm = ({ team, close }: FormProps) => {
  const [name, setName] = useState(team.name);
  const wanted = name.trim();
  const rename = useUserMutation({
    run: () => api.team.rename.mutate({ teamId: team.id, name: wanted }),
    done: () => `The team is called ${wanted}.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={rename}
      close={close}
      submit="Rename the team"
      working="Renaming…"
      disabled={!wanted || wanted === team.name}
    >
      <NameField value={name} onChange={setName} autoFocus />
    </MutationForm>
  );
};

const DeleteForm = ({ team, close }: FormProps) => {
  const remove = useUserMutation({
    run: () => api.team.delete.mutate({ teamId: team.id }),
    done: () => `The team ${team.name} was deleted.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={remove}
      close={close}
      submit="Delete the team"
      working="Deleting…"
      danger
      confirm={team.name}
    >
      <p>
        {team.memberCount === 0
          ? 'Nobody is in it.'
          : `${plural(team.memberCount, 'member')} lose their role in it; their accounts stay.`}{' '}
        Templates, snippets and shared components of the team go, and so do mappings of groups that lead here.
        The audit log stays.
      </p>
    </MutationForm>
  );
};
