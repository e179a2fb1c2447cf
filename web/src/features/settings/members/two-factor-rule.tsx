import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TeamDetail, TeamMember } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { plural } from '../../../ui/text/format.ts';
import { listed } from '../../fleet/nodes/nodes-form.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

interface Props {
  team: TeamDetail;
  /** Why it may not be changed; null where it may. */
  mayNot: string | null;
}

/** Users of an identity provider give their second factor there. */
const withoutOne = (team: TeamDetail): TeamMember[] =>
  team.members.filter(({ authMethod, twoFactorEnabled }) => authMethod === 'PASSWORD' && !twoFactorEnabled);

const turnWord = (required: boolean): string =>
  required ? 'Require two-factor' : 'Stop requiring two-factor';

/** Whether the team asks its members for a second factor. */
export const TwoFactorRule = ({ team, mayNot }: Props) => {
  const [opened, setOpened] = useState(false);
  // What was asked for when the dialog opened: the page learns of the change before the dialog has closed.
  const [wanted, setWanted] = useState(true);
  const close = (): void => setOpened(false);
  const without = withoutOne(team);
  return (
    <Section
      title="Two-factor"
      beside={
        team.requireTwoFactor ? (
          <Badge tone="ok">Required</Badge>
        ) : (
          <Badge tone="unknown" icon="dash">
            Optional
          </Badge>
        )
      }
    >
      <div className="section-body tab-head">
        <p>{ruleText(team, without.length)}</p>
        <Button
          disabled={mayNot !== null}
          tip={mayNot ?? undefined}
          onClick={() => {
            setWanted(!team.requireTwoFactor);
            setOpened(true);
          }}
        >
          {turnWord(!team.requireTwoFactor)}
        </Button>
      </div>
      <Dialog title={`${turnWord(wanted)} in ${team.name}`} opened={opened} close={close}>
        {opened && <RuleForm team={team} required={wanted} without={without} close={close} />}
      </Dialog>
    </Section>
  );
};

function ruleText({ requireTwoFactor }: TeamDetail, without: number): string {
  if (requireTwoFactor && without === 0)
    return 'Every member who signs in by password needs a second factor. All of them have one.';
  if (requireTwoFactor)
    return `Every member who signs in by password needs a second factor. ${plural(without, 'member has', 'members have')} none yet, and can do nothing but set one up.`;
  if (without === 0) return 'Each member decides. All who sign in by password have a second factor.';
  return `Each member decides. ${plural(without, 'member signs', 'members sign')} in with a password alone.`;
}

interface FormProps {
  team: TeamDetail;
  required: boolean;
  without: readonly TeamMember[];
  close: () => void;
}

const RuleForm = ({ team, required, without, close }: FormProps) => {
  const myId = useQuery(queries.me()).data?.id;
  const save = useUserMutation({
    run: () => api.team.updateRequireTwoFactor.mutate({ teamId: team.id, requireTwoFactor: required }),
    done: () =>
      required ? `${team.name} requires two-factor.` : `${team.name} does not require two-factor any more.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={save}
      close={close}
      submit={required ? 'Require it' : 'Stop requiring it'}
      working="Saving…"
      danger={!required}
      cancel="Back"
    >
      {!required && <p>Members may switch their second factor off again. Those who have one keep it.</p>}
      {required && without.length === 0 && (
        <p>All members who sign in by password have a second factor: nobody is kept out.</p>
      )}
      {required && without.length > 0 && (
        <>
          <p>
            <strong>{plural(without.length, 'member has', 'members have')} none yet</strong>:{' '}
            {listed(without.map(({ name }) => name))}.
            {without.some(({ userId }) => userId === myId) && ' That includes you.'}
          </p>
          <p>
            They stay signed in, and from the next click on can do nothing but set one up, for which they need
            an authenticator app. Their other teams wait as well.
          </p>
        </>
      )}
      <p className="muted">Users of the identity provider give their second factor there, not here.</p>
    </MutationForm>
  );
};
