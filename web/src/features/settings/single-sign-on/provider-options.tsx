import { Checkbox, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { DraftField, type DraftOf, DraftText } from '../../../ui/form/draft-fields.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import type { OptionsDraft } from './options-draft.ts';

const SECOND_FACTORS = [
  {
    value: 'ASK',
    word: 'Asked for here',
    means: 'Members of such a team give a code here after each sign-in.',
  },
  {
    value: 'CLAIMS',
    word: 'Shown by amr or acr',
    means: 'Where the ID token shows none of the values below, a code is asked for here.',
  },
  {
    value: 'PROVIDER',
    word: 'Left to the provider',
    means: 'Nothing is asked for here, whatever the provider did.',
  },
] as const;

type Of = DraftOf<OptionsDraft>;

/** What else may be said of a provider: closed until it is wanted. */
export const ProviderOptions = ({ of, isKey }: { of: Of; isKey: boolean }) => (
  <>
    <Fold title="Who may come in">
      <DraftText
        of={of}
        name="allowedDomains"
        label="Domains of addresses"
        placeholder="example.org"
        hint="One a line. Without one, every account of the provider may sign in."
      />
      <DraftText
        of={of}
        name="allowedGroups"
        label="Groups"
        placeholder="/staff"
        hint="One a line, as the provider writes them: with Keycloak by their full path. Somebody has to be in one of them."
      />
      <DraftText
        of={of}
        name="superAdminGroups"
        label="Groups of super admins"
        placeholder="/platform/admins"
        hint="Their members are super admins as long as they are in one. Super admins by hand stay."
      />
      <Check of={of} name="verifiesEmails">
        This provider verifies every address, though it does not say <code>email_verified</code>
      </Check>
      <Check of={of} name="keepsScim">
        SCIM comes from this provider: accounts that it keeps are joined at their first sign-in
      </Check>
    </Fold>
    <Fold title="Second factor">
      <SelectField
        label="Where a team requires a second factor it is"
        value={of.draft.secondFactor}
        onChange={(secondFactor) => of.set({ secondFactor })}
        options={SECOND_FACTORS}
        hint={SECOND_FACTORS.find(({ value }) => value === of.draft.secondFactor)?.means}
      />
      {of.draft.secondFactor === 'CLAIMS' && (
        <DraftText
          of={of}
          name="secondFactorClaims"
          label="Values of amr or acr that show one"
          hint="One a line. RFC 8176 has mfa, otp, hwk and others."
        />
      )}
    </Fold>
    <Fold title="Groups of this provider">
      <FieldPair>
        <DraftField
          of={of}
          name="groupsClaim"
          label="Its claim with the groups"
          placeholder="as below"
          maxLength={200}
          autoComplete="off"
        />
        <DraftField
          of={of}
          name="groupsScope"
          label="Its scope that asks for them"
          placeholder="as below"
          maxLength={200}
          autoComplete="off"
        />
      </FieldPair>
      <DraftField
        of={of}
        name="groupPrefix"
        label="Prefix of its groups"
        placeholder="partners:"
        maxLength={50}
        autoComplete="off"
        hint="Put before each name, so that groups of two providers differ. Mappings contain it too."
      />
    </Fold>
    <Fold title="The request, and the connection">
      <FieldPair>
        <DraftField of={of} name="scopes" label="More scopes" maxLength={500} autoComplete="off" />
        <DraftField
          of={of}
          name="prompt"
          label="prompt"
          placeholder="select_account"
          maxLength={100}
          autoComplete="off"
        />
      </FieldPair>
      <FieldPair>
        <DraftField of={of} name="acrValues" label="acr_values" maxLength={500} autoComplete="off" />
        {isKey && (
          <DraftField
            of={of}
            name="clientKeyId"
            label="Id of the key (kid)"
            maxLength={200}
            autoComplete="off"
          />
        )}
      </FieldPair>
      <DraftText
        of={of}
        name="extraParameters"
        label="More parameters"
        placeholder="domain_hint=example.org"
        hint="One name=value a line, added to the address of the sign-in."
      />
      <Check of={of} name="sendsLoginHint">
        Send the address that was typed on the sign-in page along (<code>login_hint</code>)
      </Check>
      <DraftText
        of={of}
        name="caCertificate"
        label="CA certificate"
        placeholder="-----BEGIN CERTIFICATE-----"
        maxLength={64_000}
        hint="PEM. Trusted for this provider, beside the usual authorities."
      />
    </Fold>
  </>
);

const Fold = ({ title, children }: { title: string; children: ReactNode }) => {
  const [opened, setOpened] = useState(false);
  return (
    <details
      className="provider-fold"
      open={opened}
      onToggle={(event) => setOpened(event.currentTarget.open)}
    >
      <summary>{title}</summary>
      <Stack gap="lg">{opened && children}</Stack>
    </details>
  );
};

interface CheckProps {
  of: Of;
  name: 'verifiesEmails' | 'keepsScim' | 'sendsLoginHint';
  children: ReactNode;
}

const Check = ({ of: { draft, set }, name, children }: CheckProps) => (
  <Checkbox
    checked={draft[name]}
    onChange={(event) => {
      const change: Partial<OptionsDraft> = { [name]: event.target.checked };
      set(change);
    }}
    label={children}
  />
);
