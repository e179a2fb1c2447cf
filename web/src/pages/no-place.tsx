import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { TeamSummary } from '../../../schemas/api/people.ts';
import { api } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { useSignOut } from '../app/top-bar.tsx';
import { NameField } from '../components/field.tsx';
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

const NewTeam = () => (
  <NameForm
    intro="A team holds environments and the people who look after them. Make the first one."
    suggestion=""
    noun="team"
    create={(name) => api.team.create.mutate({ name })}
    renews="team.list"
  />
);

const NewEnvironment = ({ teamId }: { teamId: string }) => (
  <NameForm
    intro="An environment holds pipelines and the nodes that run them. Make one to try things in; production comes later."
    suggestion="staging"
    noun="environment"
    create={(name) => api.environment.create.mutate({ teamId, name })}
    renews="environment.list"
  />
);

interface NameFormProps {
  intro: string;
  suggestion: string;
  noun: string;
  create: (name: string) => Promise<unknown>;
  /** The query that shows what was made. */
  renews: string;
}

const NameForm = ({ intro, suggestion, noun, create, renews }: NameFormProps) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState(suggestion);
  const creation = useMutation({
    mutationFn: () => create(name.trim()),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [renews] }),
  });
  return (
    <>
      <p>{intro}</p>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          creation.mutate();
        }}
      >
        <NameField value={name} onChange={setName} />
        <button
          type="submit"
          className="button"
          data-kind="primary"
          disabled={creation.isPending || !name.trim()}
        >
          {creation.isPending ? 'Creating…' : `Create the ${noun}`}
        </button>
      </form>
      {creation.isError && <InlineError error={creation.error} />}
    </>
  );
};
