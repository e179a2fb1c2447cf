import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { TeamSummary } from '../../../schemas/api/people.ts';
import { api } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { useSignOut } from '../app/top-bar.tsx';
import { Field } from '../components/field.tsx';
import { EmptyState, InlineError } from '../components/states.tsx';

/** Signed in, and nothing to look at yet: no team, or a team without an environment. */
export const NoPlacePage = ({ team }: { team: TeamSummary | null }) => {
  const me = useQuery({ ...queries.me(), enabled: team === null });
  const leave = useSignOut();
  const mayCreate = team?.role === 'ADMIN' || team?.role === 'EDITOR';
  return (
    <main className="alone">
      <h1 className="sr-only">Headgate</h1>
      <EmptyState
        icon="overview"
        title={team ? `${team.name} has no environment yet` : 'You are in no team yet'}
      >
        {mayCreate && team ? (
          <NewEnvironment teamId={team.id} />
        ) : !team && me.data?.isSuperAdmin ? (
          <NewTeam />
        ) : (
          <p>Ask an administrator to {team ? 'make one' : 'add you to a team'}, then reload this page.</p>
        )}
        <button type="button" className="button" onClick={() => void leave()}>
          Sign out
        </button>
      </EmptyState>
    </main>
  );
};

const NewTeam = () => {
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => api.team.create.mutate({ name: name.trim() }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['team.list'] }),
  });
  return (
    <>
      <p>A team holds environments and the people who look after them. Make the first one.</p>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field label="Name" value={name} onChange={setName} required autoComplete="off" />
        <button
          type="submit"
          className="button"
          data-kind="primary"
          disabled={create.isPending || !name.trim()}
        >
          {create.isPending ? 'Creating…' : 'Create the team'}
        </button>
      </form>
      {create.isError && <InlineError error={create.error} />}
    </>
  );
};

const NewEnvironment = ({ teamId }: { teamId: string }) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState('staging');
  const create = useMutation({
    mutationFn: () => api.environment.create.mutate({ teamId, name: name.trim() }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['environment.list'] }),
  });
  return (
    <>
      <p>
        An environment holds pipelines and the nodes that run them. Make one to try things in; production
        comes later.
      </p>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field label="Name" value={name} onChange={setName} required autoComplete="off" />
        <button
          type="submit"
          className="button"
          data-kind="primary"
          disabled={create.isPending || !name.trim()}
        >
          {create.isPending ? 'Creating…' : 'Create the environment'}
        </button>
      </form>
      {create.isError && <InlineError error={create.error} />}
    </>
  );
};
