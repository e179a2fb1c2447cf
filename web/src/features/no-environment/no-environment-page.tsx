import { Group, Input } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { TeamSummary } from '../../../../schemas/api/identity/people.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { EmptyState, InlineError, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { NameField } from '../../ui/form/field.tsx';
import { Button, ButtonLink } from '../../ui/primitives/button.tsx';
import { Copyable } from '../../ui/primitives/copyable.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';

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
        <Group gap="sm">
          <ButtonLink to={paths.settingsAnywhere()}>Your settings</ButtonLink>
          {team && (
            <ButtonLink to={paths.settingsAnywhere({ tab: 'members' })}>Members of {team.name}</ButtonLink>
          )}
          {me.data?.isSuperAdmin && (
            <ButtonLink to={paths.settingsAnywhere({ tab: 'users' })}>Server settings</ButtonLink>
          )}
        </Group>
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

/** The first set-up of a server: a team, and how long the audit log is kept where nobody has said so yet. */
const NewTeam = () => {
  const settings = useQuery(queries.settings());
  const [retention, setRetention] = useState<string>(AUDIT_RETENTION[0].value);
  const asks = settings.data?.audit.isChosen === false;
  return (
    <NameForm
      intro="A team holds environments and the people who look after them. Make the first one."
      suggestion=""
      noun="team"
      create={async (name) => {
        if (asks)
          await api.settings.updateAudit.mutate({
            retentionDays: retention === '' ? null : Number(retention),
          });
        return api.team.create.mutate({ name });
      }}
      renews="team.list"
      more={
        asks && (
          <Input.Wrapper
            labelElement="div"
            label="Keep the audit log"
            description={
              <>
                Who did what, and when. Older events are deleted for good. It can be changed later under
                Settings, Fleet and retention.
              </>
            }
          >
            <SegmentedControl
              label="Keep the audit log"
              value={retention}
              options={AUDIT_RETENTION}
              onChange={setRetention}
            />
          </Input.Wrapper>
        )
      }
    />
  );
};

/** In days; empty is for ever. */
const AUDIT_RETENTION = [
  { value: '365', word: 'For a year' },
  { value: '2555', word: 'For 7 years' },
  { value: '', word: 'For ever' },
] as const;

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
  /** Asked beside the name. */
  more?: React.ReactNode;
}

const NameForm = ({ intro, suggestion, noun, create, renews, more }: NameFormProps) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState(suggestion);
  const creation = useMutation({
    mutationFn: () => create(name.trim()),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [renews] }),
  });
  return (
    <>
      <p>{intro}</p>
      {more}
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          creation.mutate();
        }}
      >
        <NameField value={name} onChange={setName} />
        <Button type="submit" kind="primary" disabled={creation.isPending || !name.trim()}>
          {creation.isPending ? 'Creating…' : `Create the ${noun}`}
        </Button>
      </form>
      {creation.isError && <InlineError error={creation.error} />}
    </>
  );
};
