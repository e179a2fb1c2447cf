import { Input } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { OidcView } from '../../../../../schemas/api/identity/identity-providers.ts';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { DraftField, type DraftOf, DraftText } from '../../../ui/form/draft-fields.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { NO_OPTIONS, optionsDraft, optionsInput, problemOfOptions } from './options-draft.ts';
import {
  METHODS,
  mayKeepSecret,
  type ProviderDraft,
  problemOfProvider,
  providerDraft,
  providerInput,
} from './provider-draft.ts';
import { ProviderOptions } from './provider-options.tsx';
import { ProviderReports } from './provider-reports.tsx';
import { ProviderTest } from './provider-test.tsx';

interface Props {
  id: string;
  /** Null for one that is not set yet. */
  oidc: OidcView | null;
  title: string;
  redirectUri: string;
}

/** An identity provider, by OpenID Connect. */
export const ProviderForm = ({ id, oidc, title, redirectUri }: Props) => {
  const provider = useDraft(providerDraft(oidc));
  const options = useDraft(optionsDraft(oidc?.options ?? { ...NO_OPTIONS, keepsScim: id === 'oidc' }));
  const { draft } = provider;
  const [replacing, setReplacing] = useState(false);
  const test = useMutation({
    mutationFn: () =>
      api.settings.testOidc.mutate({
        ...{ providerId: id, issuer: draft.issuer.trim(), clientId: draft.clientId.trim() },
        ...{ clientSecret: draft.clientSecret, tokenEndpointAuthMethod: draft.method },
        options: optionsInput(options.draft),
      }),
  });
  const set = (change: Partial<ProviderDraft>): void => {
    provider.set(change);
    // What was found is of another address or client.
    test.reset();
  };
  const of = { draft, set };
  const problem = problemOfProvider(draft, oidc) || problemOfOptions(options.draft);
  const unchanged = !provider.isChanged && !options.isChanged;
  const save = useUserMutation({
    run: options.sending(
      provider.sending(() =>
        api.settings.updateOidc.mutate({
          ...{ ...providerInput(draft), providerId: id, options: optionsInput(options.draft) },
        }),
      ),
    ),
    done: ({ warnings }) =>
      [
        'The identity provider is saved. Try it in a private window before you sign out here.',
        ...warnings,
      ].join(' '),
    after: () => {
      provider.reset();
      options.reset();
      setReplacing(false);
    },
  });
  const issuer = draft.issuer.trim();
  const isFromFile = oidc?.isFromFile ?? false;
  const testing = (
    <>
      <div className="form-inline-action">
        <Button icon="sync" disabled={!URL.canParse(issuer) || test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? 'Asking the provider…' : 'Test the issuer'}
        </Button>
      </div>
      {test.isError && <InlineError error={test.error} />}
      {test.data && <ProviderTest found={test.data} />}
    </>
  );
  return (
    <Section
      title={title}
      beside={
        oidc ? (
          <Badge tone="ok">On</Badge>
        ) : (
          <Badge tone="unknown" icon="dash">
            Off
          </Badge>
        )
      }
    >
      <MutationForm
        mutation={save}
        submit="Save the provider"
        working="Saving…"
        disabled={problem !== '' || unchanged}
        fieldset={{ disabled: isFromFile, legend: title }}
        autoComplete="off"
      >
        {oidc && <ProviderReports oidc={oidc} />}
        {isFromFile && (
          <Notice icon="shield">
            This provider stands in the file that HEADGATE_OIDC_FILE names, and is changed there.
          </Notice>
        )}
        <p className="muted">
          People sign in at a provider that speaks OpenID Connect: Keycloak, Entra ID, Okta, Google and
          others. Passwords go on working, unless they are switched off below.
        </p>
        <Input.Wrapper
          labelElement="div"
          label="Redirect URI, for the provider"
          description={
            <>
              Register a web application there with this address, to the letter; where it asks for one after
              sign-out, <code>{redirectUri.replace('/api/auth/oidc/callback', '/sign-in')}</code>. Both are
              made of HEADGATE_BASE_URL.
            </>
          }
        >
          <CommandBlock label="the redirect URI" lines={[redirectUri]} />
        </Input.Wrapper>
        <DraftField
          of={of}
          name="issuer"
          label="Issuer"
          required
          maxLength={2_000}
          placeholder="https://login.example.com/realms/main"
          autoComplete="off"
          hint="Without /.well-known/openid-configuration."
        />
        <DraftField of={of} name="clientId" label="Client id" required maxLength={500} autoComplete="off" />
        <SelectField
          label="Client authentication"
          value={draft.method}
          onChange={(method) => set({ method })}
          options={METHODS}
          hint={METHODS.find(({ value }) => value === draft.method)?.means}
        />
        {draft.method !== 'none' && (
          <Secret {...of} oidc={oidc} replacing={replacing} replace={() => setReplacing(true)} />
        )}
        {!isFromFile && testing}
        <DraftField
          of={of}
          name="displayName"
          label="Name on the sign-in page"
          mono={false}
          maxLength={100}
          placeholder="Company account"
          autoComplete="off"
          hint="Stands on the button: “Continue with …”."
        />
        <ProviderOptions of={options} isKey={draft.method === 'private_key_jwt'} />
        {oidc && issuer !== oidc.issuer && problem === '' && (
          <Notice icon="warning" tone="held">
            Another issuer signs out everybody who signed in at the one before.
          </Notice>
        )}
        {problem && !unchanged && <p className="muted">{problem}</p>}
      </MutationForm>
      {/* What a file says is changed there, and tried here all the same. */}
      {isFromFile && <div className="section-body">{testing}</div>}
    </Section>
  );
};

interface SecretProps extends DraftOf<ProviderDraft> {
  oidc: OidcView | null;
  replacing: boolean;
  replace: () => void;
}

/** What the server has never comes back: it stays unless another one is given. */
const Secret = ({ draft, set, oidc, replacing, replace }: SecretProps) => {
  const kept = mayKeepSecret(draft, oidc);
  if (kept && !replacing && draft.clientSecret === '') {
    return (
      <p className="credential">
        <span className="credential-name">Client secret</span>
        <Badge tone="calm">Set</Badge>
        <Button size="small" onClick={replace}>
          Replace<span className="sr-only"> the client secret</span>
        </Button>
      </p>
    );
  }
  if (draft.method === 'private_key_jwt')
    return (
      <DraftText
        of={{ draft, set }}
        name="clientSecret"
        label="Private key"
        placeholder="-----BEGIN PRIVATE KEY-----"
        maxLength={16_000}
        hint="PEM, without a passphrase. Kept encrypted, and never shown again."
      />
    );
  return (
    <DraftField
      of={{ draft, set }}
      name="clientSecret"
      label="Client secret"
      type="password"
      autoComplete="new-password"
      autoFocus={replacing}
      maxLength={2_000}
      hint={
        kept
          ? 'Empty keeps the one that is set.'
          : oidc?.clientSecret
            ? 'The one that is set belongs to another issuer or client, and is not sent to this one.'
            : 'Kept encrypted, and never shown again.'
      }
    />
  );
};
