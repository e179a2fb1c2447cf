import { Group, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import type { Environment } from '../../../../../schemas/api/fleet/environments.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { DoneAction, MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Fact } from '../../../ui/primitives/fact.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { plural } from '../../../ui/text/format.ts';
import { useEnrollmentToken } from '../../fleet/nodes/enrollment-token.ts';

type Token = NonNullable<Environment['enrollmentToken']>;

interface Props {
  environmentId: string;
  isAdmin: boolean;
}

/** The token with which nodes join: one at a time. */
export const Enrollment = ({ environmentId, isAdmin }: Props) => {
  const environment = useQuery(queries.environment(environmentId));
  const [dialog, setDialog] = useState<'generate' | 'revoke' | null>(null);
  const close = (): void => setDialog(null);
  return (
    <Section title="Enrollment token">
      <Loaded
        query={environment}
        what="The enrollment token"
        skeleton={<SkeletonBlock height={96} label="Loading the enrollment token" />}
      >
        {({ enrollmentToken: token }) => (
          <div className="section-body form">
            <p className="muted">
              A machine joins with it once and has a key of its own from then on.{' '}
              <Link to={paths.fleet(environmentId)}>The page Fleet</Link> gives the lines for the machine’s
              terminal, too.
            </p>
            {token ? <TokenFacts token={token} /> : <p>There is none: no node can join now.</p>}
            <Group gap="sm" justify="flex-end">
              {token && (
                <Button kind="danger" disabled={!isAdmin} onClick={() => setDialog('revoke')}>
                  Revoke the token
                </Button>
              )}
              <Button
                icon="plus"
                disabled={!isAdmin}
                tip={isAdmin ? undefined : 'Only an ADMIN of the team may'}
                onClick={() => setDialog('generate')}
              >
                Generate a token
              </Button>
            </Group>
            <Dialog title="Generate an enrollment token" opened={dialog === 'generate'} close={close}>
              {dialog === 'generate' && (
                <GenerateForm environmentId={environmentId} current={token} close={close} />
              )}
            </Dialog>
            <Dialog title="Revoke the enrollment token" opened={dialog === 'revoke'} close={close} size="sm">
              {dialog === 'revoke' && <RevokeForm environmentId={environmentId} close={close} />}
            </Dialog>
          </div>
        )}
      </Loaded>
    </Section>
  );
};

const TokenFacts = ({ token }: { token: Token }) => {
  const now = useNow();
  const expired = token.expiresAt !== null && token.expiresAt.getTime() <= now;
  const usedUp = token.maxUses !== null && token.uses >= token.maxUses;
  return (
    <dl className="facts">
      <Fact name="State">
        {expired ? (
          <Badge tone="held">Ended</Badge>
        ) : usedUp ? (
          <Badge tone="held">Used up</Badge>
        ) : (
          <Badge tone="ok">Open</Badge>
        )}
      </Fact>
      <Fact name="Made">
        <Time at={token.createdAt} />
      </Fact>
      <Fact name="Ends">{token.expiresAt ? <Time at={token.expiresAt} /> : 'never'}</Fact>
      <Fact name="Used by">
        {token.maxUses === null
          ? plural(token.uses, 'node')
          : `${token.uses} of ${plural(token.maxUses, 'node')}`}
      </Fact>
    </dl>
  );
};

interface GenerateProps {
  environmentId: string;
  current: Token | null;
  close: () => void;
}

const GenerateForm = ({ environmentId, current, close }: GenerateProps) => {
  const [uses, setUses] = useState('');
  const count = Number(uses);
  const problem =
    uses === '' || (Number.isInteger(count) && count >= 1 && count <= 1_000_000)
      ? ''
      : 'A whole number from 1 to 1,000,000, or nothing.';
  const { generate, lifetime } = useEnrollmentToken(environmentId, uses ? count : null);
  if (generate.data) {
    return (
      <Stack gap="lg">
        <p role="status">
          Copy it now: it is shown <strong>only once</strong>.
        </p>
        <CommandBlock label="the enrollment token" lines={[generate.data.token]} />
        <DoneAction close={close} />
      </Stack>
    );
  }
  return (
    <MutationForm
      mutation={generate}
      close={close}
      submit="Generate the token"
      working="Making the token…"
      disabled={problem !== ''}
    >
      <SelectField label="It ends after" {...lifetime} />
      <Field
        label="For how many nodes"
        value={uses}
        onChange={setUses}
        inputMode="numeric"
        placeholder="no limit"
        problem={problem}
        hint="Empty is no limit."
      />
      {current && (
        <Notice icon="warning" tone="held">
          It takes the place of the present one, used by {plural(current.uses, 'node')}. Nodes that have
          joined stay.
        </Notice>
      )}
    </MutationForm>
  );
};

const RevokeForm = ({ environmentId, close }: { environmentId: string; close: () => void }) => {
  const queryClient = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => api.environment.revokeEnrollmentToken.mutate({ environmentId }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['environment.get', environmentId] });
      close();
    },
  });
  return (
    <MutationForm mutation={revoke} close={close} submit="Revoke it" working="Revoking…" danger>
      <p>No further node can join with it. Those that have joined stay.</p>
    </MutationForm>
  );
};
