import { Stack } from '@mantine/core';
import { useState } from 'react';
import type { ScimView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { DoneAction, MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Fact } from '../../../ui/primitives/fact.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

const wordOf = (hasToken: boolean): string => (hasToken ? 'Generate another token' : 'Generate a token');

export const ScimTokenSection = ({ scim }: { scim: ScimView }) => {
  const [opened, setOpened] = useState(false);
  // As it was when the dialog opened, which tells what is replaced.
  const [hadToken, setHadToken] = useState(false);
  const close = (): void => setOpened(false);
  const hasToken = scim.tokenCreatedAt !== null;
  return (
    <Section title="Token">
      <div className="section-body form">
        <div className="tab-head">
          <dl className="facts">
            <Fact name="State">
              {hasToken ? <Badge tone="ok">Set</Badge> : <Badge tone="held">None: nothing is taken</Badge>}
            </Fact>
            {hasToken && (
              <>
                <Fact name="Made">
                  <Time at={scim.tokenCreatedAt} />
                </Fact>
                <Fact name="Used">
                  <Time at={scim.lastUsedAt} />
                </Fact>
              </>
            )}
          </dl>
          <Button
            kind={hasToken ? undefined : 'primary'}
            onClick={() => {
              setHadToken(hasToken);
              setOpened(true);
            }}
          >
            {wordOf(hasToken)}
          </Button>
        </div>
      </div>
      <Dialog title={wordOf(hadToken)} opened={opened} close={close}>
        {opened && <TokenForm hadToken={hadToken} close={close} />}
      </Dialog>
    </Section>
  );
};

const TokenForm = ({ hadToken, close }: { hadToken: boolean; close: () => void }) => {
  const generate = useUserMutation({
    run: () => api.settings.generateScimToken.mutate({}),
    done: () => null,
  });
  if (generate.data) {
    return (
      <Stack gap="lg">
        <p role="status">
          Copy it now: it is shown <strong>only once</strong>. Give it to the provider as the bearer token.
        </p>
        <CommandBlock label="the SCIM token" lines={[generate.data.token]} />
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
      danger={hadToken}
      cancel="Cancel"
    >
      <p>
        {hadToken
          ? 'The present token ends at once: the provider is refused until it has the new one. Accounts stay as they are meanwhile.'
          : 'It may make, change and lock the accounts that the provider keeps, and put them into groups, which may lead to teams.'}
      </p>
    </MutationForm>
  );
};
