import { useState } from 'react';
import type { OidcView } from '../../../../../schemas/api/identity/identity-providers.ts';
import { api } from '../../../api/client.ts';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

export const DisableProvider = ({ oidc, isOnly }: { oidc: OidcView; isOnly: boolean }) => {
  const title = isOnly ? 'Switch single sign-on off' : `Take ${oidc.displayName ?? oidc.id} away`;
  const [opened, setOpened] = useState(false);
  const close = (): void => setOpened(false);
  return (
    <Section title={title}>
      <div className="section-body tab-head">
        <p className="muted">
          Nobody signs in at {oidc.displayName ?? oidc.issuer} any more. Accounts, teams and roles stay.
        </p>
        <Button kind="danger" onClick={() => setOpened(true)}>
          Switch it off
        </Button>
      </div>
      <Dialog title={title} opened={opened} close={close}>
        {opened && <DisableForm oidc={oidc} close={close} />}
      </Dialog>
    </Section>
  );
};

const DisableForm = ({ oidc, close }: { oidc: OidcView; close: () => void }) => {
  const disable = useUserMutation({
    run: () => api.settings.disableOidc.mutate({ providerId: oidc.id }),
    done: () => `Nobody signs in at ${oidc.displayName ?? oidc.issuer} any more.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={disable}
      close={close}
      submit="Switch it off"
      working="Switching it off…"
      danger
      cancel="Keep it on"
    >
      <p>
        Issuer, client and secret of <span className="mono breakable">{oidc.issuer}</span> are forgotten, and
        everybody who signed in there is signed out. Users without a password here cannot sign in any more:
        reset it for those who must.
      </p>
      <p className="muted">
        Mappings of groups stay, and so do the memberships that came from them. Set the same issuer again, and
        everybody is who they were.
      </p>
    </MutationForm>
  );
};
