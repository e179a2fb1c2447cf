import { Input } from '@mantine/core';
import { useState } from 'react';
import type { ScimView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

const turnWord = (enabled: boolean): string => (enabled ? 'Switch SCIM on' : 'Switch SCIM off');

export const ScimSwitch = ({ scim }: { scim: ScimView }) => {
  const [opened, setOpened] = useState(false);
  // What was asked for when the dialog opened: the page learns of the change before the dialog has closed.
  const [wanted, setWanted] = useState(true);
  const close = (): void => setOpened(false);
  return (
    <Section
      title="Provisioning"
      beside={
        scim.enabled ? (
          <Badge tone="ok">On</Badge>
        ) : (
          <Badge tone="unknown" icon="dash">
            Off
          </Badge>
        )
      }
    >
      <div className="section-body form">
        <div className="tab-head">
          <p>
            The identity provider makes, changes and locks accounts here by SCIM 2.0, and says who is in which
            group. It touches the accounts that it made or took over, and no others.
          </p>
          <Button
            kind={scim.enabled ? 'danger' : 'primary'}
            onClick={() => {
              setWanted(!scim.enabled);
              setOpened(true);
            }}
          >
            {turnWord(!scim.enabled)}
          </Button>
        </div>
        <Input.Wrapper labelElement="div" label="Base URL, for the provider">
          <CommandBlock label="the base URL" lines={[scim.baseUrl]} />
        </Input.Wrapper>
      </div>
      <Dialog title={turnWord(wanted)} opened={opened} close={close} size="sm">
        {opened && <SwitchForm enabled={wanted} close={close} />}
      </Dialog>
    </Section>
  );
};

const SwitchForm = ({ enabled, close }: { enabled: boolean; close: () => void }) => {
  const turn = useUserMutation({
    run: () => api.settings.updateScim.mutate({ enabled }),
    done: () => (enabled ? 'SCIM is on. It needs a token now.' : 'SCIM is off, and its token has ended.'),
    after: close,
  });
  return (
    <MutationForm
      mutation={turn}
      close={close}
      submit={enabled ? 'Switch it on' : 'Switch it off'}
      working="Switching…"
      danger={!enabled}
      cancel={enabled ? 'Cancel' : 'Keep it on'}
    >
      <p>
        {enabled
          ? 'Requests are taken once there is a token: generate one after this.'
          : 'The token ends at once: to switch SCIM on again takes a new one, which the provider has to be given. Accounts, groups and memberships stay as they are, and nobody keeps them up to date.'}
      </p>
    </MutationForm>
  );
};
