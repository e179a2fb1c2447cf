import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'react-router';
import type { TeamSummary } from '../../../schemas/api/people.ts';
import { api } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { paths } from '../app/paths.ts';
import { Copyable } from '../components/bits.tsx';
import { NameField } from '../components/field.tsx';
import { EmptyState, InlineError, SkeletonBlock } from '../components/states.tsx';

/** Signed in, and nothing to look at yet: no team, or a team without an environment. */
export const NoPlacePage = ({ team }: { team: TeamSummary | null }) => {
  const me = useQuery(queries.me());
  const mayCreate = team ? team.role !== 'VIEWER' : me.data?.isSuperAdmin;
  useEffect(() => {
    document.title = 'Headgate';
  }, []);
  return (
    <div className="alone">
      <h1 className="sr-only">Headgate</h1>
      <EmptyState
        icon="overview"
        title={team ? `${team.name} has no environment yet` : 'You are in no team yet'}
      >
        {!me.data && !me.isError ? (
          <SkeletonBlock height={72} label="Loading your account" />
        ) : mayCreate ? (
          team ? (
            <NewEnvironment teamId={team.id} />
          ) : (
            <NewTeam />
          )
        ) : (
          <WhomToAsk team={team} email={me.data?.email} />
        )}
        <div className="button-row">
          <Link to={paths.settingsAnywhere()} className="button">
            Your settings
          </Link>
          {team && (
            <Link to={paths.settingsAnywhere({ tab: 'members' })} className="button">
              Members of {team.name}
            </Link>
          )}
          {me.data?.isSuperAdmin && (
            <Link to={paths.settingsAnywhere({ tab: 'users' })} className="button">
              Server settings
            </Link>
          )}
        </div>
      </EmptyState>
    </div>
  );
};

const WhomToAsk = ({ team, email }: { team: TeamSummary | null; email: string | undefined }) =>
  team ? (
    <p>An EDITOR or an ADMIN of {team.name} makes one. This page goes on by itself then.</p>
  ) : (
    <>
      <p>Ask an ADMIN of your team to add you; this page goes on by itself then.</p>
      {email && (
        <p>
          Your address is <Copyable value={email} label="your address" />
        </p>
      )}
    </>
  );

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
