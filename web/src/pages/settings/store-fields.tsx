/** The fields of each kind of store. */
import { useState } from 'react';
import { Badge } from '../../components/bits.tsx';
import { Field, SelectField, TextAreaField } from '../../components/field.tsx';
import type { Held, StoreDraft } from './store-draft.ts';

interface Props {
  draft: StoreDraft;
  set: (change: Partial<StoreDraft>) => void;
  held: Held;
}

const METHODS = [
  { value: 'token', word: 'A token' },
  { value: 'approle', word: 'AppRole' },
  { value: 'kubernetes', word: 'Kubernetes, as the controller’s service account' },
] as const;

export const VaultFields = ({ draft, set, held }: Props) => (
  <>
    <Field
      label="Address"
      value={draft.address}
      onChange={(address) => set({ address })}
      mono
      required
      placeholder="https://vault.example.com:8200"
    />
    <div className="field-pair">
      <Field
        label="Mount"
        value={draft.mount}
        onChange={(mount) => set({ mount })}
        mono
        placeholder="secret"
        hint="Of the KV version 2 engine."
      />
      <Field
        label="Folder"
        value={draft.vaultPrefix}
        onChange={(vaultPrefix) => set({ vaultPrefix })}
        mono
        placeholder="headgate/staging"
        hint="In which names are looked up."
      />
    </div>
    <div className="field-pair">
      <Field
        label="Field"
        value={draft.field}
        onChange={(field) => set({ field })}
        mono
        placeholder="value"
        hint="Of a secret, with its value."
      />
      <Field
        label="Namespace"
        value={draft.namespace}
        onChange={(namespace) => set({ namespace })}
        mono
        hint="Of Vault Enterprise."
      />
    </div>
    <SelectField
      label="Signs in by"
      value={draft.method}
      onChange={(method) => set({ method })}
      options={METHODS}
      hint={draft.method === 'kubernetes' ? 'Only a super admin may set this up.' : undefined}
    />
    {draft.method === 'token' && (
      <CredentialField
        label="Token"
        held={held.token}
        value={draft.token}
        onChange={(token) => set({ token })}
      />
    )}
    {draft.method === 'approle' && (
      <>
        <Field
          label="Role id"
          value={draft.roleId}
          onChange={(roleId) => set({ roleId })}
          mono
          required
          autoComplete="off"
        />
        <CredentialField
          label="Secret id"
          held={held.secretId}
          value={draft.secretId}
          onChange={(secretId) => set({ secretId })}
        />
      </>
    )}
    {draft.method === 'kubernetes' && (
      <Field label="Role" value={draft.role} onChange={(role) => set({ role })} mono required />
    )}
    {draft.method !== 'token' && (
      <Field
        label="Mount of the method"
        value={draft.authMount}
        onChange={(authMount) => set({ authMount })}
        mono
        placeholder={draft.method}
      />
    )}
    <TextAreaField
      label="Private authority"
      value={draft.ca}
      onChange={(ca) => set({ ca })}
      rows={3}
      mono
      placeholder="-----BEGIN CERTIFICATE-----"
      hint="In PEM form, where the address is not of a public one."
    />
  </>
);

export const CloudFields = ({ draft, set, held }: Props) => (
  <>
    <div className="field-pair">
      <Field
        label="Region"
        value={draft.region}
        onChange={(region) => set({ region })}
        mono
        required
        placeholder="eu-central-1"
      />
      <Field
        label="Prefix"
        value={draft.cloudPrefix}
        onChange={(cloudPrefix) => set({ cloudPrefix })}
        mono
        placeholder="headgate/staging/"
        hint="Stands before the names as it is."
      />
    </div>
    <Field
      label="Access key id"
      value={draft.accessKeyId}
      onChange={(accessKeyId) => set({ accessKeyId })}
      mono
      autoComplete="off"
      hint="Empty: the controller’s own identity, which only a super admin may set up."
    />
    {draft.accessKeyId !== '' && (
      <>
        <CredentialField
          label="Secret access key"
          held={held.secretAccessKey}
          value={draft.secretAccessKey}
          onChange={(secretAccessKey) => set({ secretAccessKey })}
        />
        <CredentialField
          label="Session token"
          held={held.sessionToken}
          value={draft.sessionToken}
          onChange={(sessionToken) => set({ sessionToken })}
          hint="Only of temporary credentials."
        />
      </>
    )}
    <Field
      label="Endpoint"
      value={draft.endpoint}
      onChange={(endpoint) => set({ endpoint })}
      mono
      placeholder="that of the region"
    />
  </>
);

export const ExecFields = ({ draft, set }: Props) => (
  <>
    <p className="muted">
      The program runs on the controller, without a shell and with 10 seconds for an answer. It is one of
      those that the operator allows in <code>HEADGATE_EXEC_SECRET_COMMANDS</code>. It reads only: values are
      changed where it takes them from.
    </p>
    <Field
      label="Program"
      value={draft.command}
      onChange={(command) => set({ command })}
      mono
      required
      placeholder="/usr/local/bin/read-secrets"
    />
    <TextAreaField
      label="Arguments"
      value={draft.args}
      onChange={(args) => set({ args })}
      mono
      hint="One a line."
    />
  </>
);

interface CredentialProps {
  label: string;
  /** The server has one. */
  held: boolean;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
}

/** What the server has never comes back: it stays unless another one is given. */
const CredentialField = ({ label, held, value, onChange, hint }: CredentialProps) => {
  const [replacing, setReplacing] = useState(false);
  if (held && !replacing && value === '') {
    return (
      <p className="credential">
        <span className="credential-name">{label}</span>
        <Badge tone="calm">Set</Badge>
        <button type="button" className="button" data-size="small" onClick={() => setReplacing(true)}>
          Replace<span className="sr-only"> {label}</span>
        </button>
      </p>
    );
  }
  return (
    <Field
      label={label}
      value={value}
      onChange={onChange}
      type="password"
      autoComplete="new-password"
      autoFocus={replacing}
      hint={held ? 'Empty keeps the one that is set.' : (hint ?? 'It is not shown again after saving.')}
    />
  );
};
