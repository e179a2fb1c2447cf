/** The fields of each kind of store. */
import { useState } from 'react';
import { bound, DraftField, type DraftOf, DraftText } from '../../../ui/form/draft-fields.tsx';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { type Held, problemOfRefresh, problemOfTimeout, type StoreDraft } from './store-draft.ts';

interface Props extends DraftOf<StoreDraft> {
  held: Held;
}

const METHODS = [
  { value: 'token', word: 'A token' },
  { value: 'approle', word: 'AppRole' },
  { value: 'kubernetes', word: 'Kubernetes, as the controller’s service account' },
  { value: 'jwt', word: 'A signed JWT' },
  { value: 'cert', word: 'A TLS certificate' },
  { value: 'aws', word: 'A key of AWS IAM' },
] as const;

export const VaultFields = (of: Props) => (
  <>
    <DraftField
      of={of}
      name="address"
      label="Address"
      required
      placeholder="https://vault.example.com:8200"
    />
    <FieldPair>
      <DraftField
        of={of}
        name="mount"
        label="Mount"
        placeholder="secret"
        hint="Of the KV engine, of version 2 or 1."
      />
      <DraftField
        of={of}
        name="vaultPrefix"
        label="Folder"
        placeholder="headgate/staging"
        hint="In which names are looked up."
      />
    </FieldPair>
    <FieldPair>
      <DraftField
        of={of}
        name="field"
        label="Field"
        placeholder="value"
        hint="Of a secret, with its value."
      />
      <DraftField of={of} name="namespace" label="Namespace" hint="Of Vault Enterprise or OpenBao." />
    </FieldPair>
    <SelectField
      label="Signs in by"
      value={of.draft.method}
      onChange={(method) => of.set({ method })}
      options={METHODS}
      hint={of.draft.method === 'kubernetes' ? 'Only a super admin may set this up.' : undefined}
    />
    {of.draft.method === 'token' && <Credential of={of} name="token" label="Token" />}
    {of.draft.method === 'approle' && (
      <>
        <DraftField of={of} name="roleId" label="Role id" required autoComplete="off" />
        <Credential of={of} name="secretId" label="Secret id" />
      </>
    )}
    {of.draft.method === 'kubernetes' && <DraftField of={of} name="role" label="Role" required />}
    {of.draft.method === 'jwt' && <Credential of={of} name="jwt" label="JWT" />}
    {of.draft.method === 'cert' && (
      <>
        <DraftText
          of={of}
          name="certificate"
          label="Certificate"
          rows={3}
          placeholder="-----BEGIN CERTIFICATE-----"
          hint="In PEM form, with those between it and the authority."
        />
        <PrivateKey {...of} />
      </>
    )}
    {of.draft.method === 'aws' && (
      <>
        <DraftField of={of} name="accessKeyId" label="Access key id" required autoComplete="off" />
        <Credential of={of} name="secretAccessKey" label="Secret access key" />
        <Credential of={of} name="sessionToken" label="Session token" hint="Only of temporary credentials." />
        <FieldPair>
          <DraftField
            of={of}
            name="loginRegion"
            label="Region of STS"
            placeholder="the global one"
            hint="Whose STS Vault asks."
          />
          <DraftField of={of} name="serverId" label="Server id" hint="Where the method asks for one." />
        </FieldPair>
      </>
    )}
    {['jwt', 'cert', 'aws'].includes(of.draft.method) && (
      <DraftField of={of} name="role" label="Role" hint="Empty: the method chooses." />
    )}
    {of.draft.method !== 'token' && (
      <DraftField of={of} name="authMount" label="Mount of the method" placeholder={of.draft.method} />
    )}
    <DraftText
      of={of}
      name="ca"
      label="Private authority"
      rows={3}
      placeholder="-----BEGIN CERTIFICATE-----"
      hint="In PEM form, where the address is not of a public one."
    />
  </>
);

/** Of several lines, which an input of one would join. */
const PrivateKey = (of: Props) => (
  <DraftText
    of={of}
    name="key"
    label="Private key"
    rows={3}
    placeholder="-----BEGIN PRIVATE KEY-----"
    hint={of.held.key ? 'Empty keeps the one that is set.' : 'It is not shown again after saving.'}
  />
);

export const RefreshField = (of: DraftOf<StoreDraft>) => (
  <DraftField
    of={of}
    name="refresh"
    label="Seconds between two looks for other values"
    mono={false}
    inputMode="numeric"
    placeholder={of.draft.backend === 'CLOUD_SM' ? '300' : '60'}
    problem={problemOfRefresh(of.draft.refresh)}
  />
);

export const CloudFields = (of: Props) => (
  <>
    <FieldPair>
      <DraftField of={of} name="region" label="Region" required placeholder="eu-central-1" />
      <DraftField
        of={of}
        name="cloudPrefix"
        label="Prefix"
        placeholder="headgate/staging/"
        hint="Stands before the names as it is."
      />
    </FieldPair>
    <DraftField
      of={of}
      name="accessKeyId"
      label="Access key id"
      autoComplete="off"
      hint="Empty: the controller’s own identity, which only a super admin may set up."
    />
    {of.draft.accessKeyId !== '' && (
      <>
        <Credential of={of} name="secretAccessKey" label="Secret access key" />
        <Credential of={of} name="sessionToken" label="Session token" hint="Only of temporary credentials." />
      </>
    )}
    <FieldPair>
      <DraftField
        of={of}
        name="roleArn"
        label="Role"
        placeholder="arn:aws:iam::123456789012:role/headgate"
        hint="To take on; empty for none."
      />
      <DraftField of={of} name="externalId" label="External id" hint="Where the role asks for one." />
    </FieldPair>
    <DraftField of={of} name="endpoint" label="Endpoint" placeholder="that of the region" />
  </>
);

interface ExecProps extends Props {
  /** Command lines that the operator lists. */
  commands: readonly string[];
}

export const ExecFields = (of: ExecProps) => {
  const { draft, set, commands } = of;
  const isListed = commands.includes(draft.command);
  const hint =
    commands.length === 0
      ? 'The operator allows none: HEADGATE_EXEC_SECRET_COMMANDS of the controller is empty.'
      : draft.command !== '' && !isListed
        ? 'The operator does not list this command any longer. Choose another one.'
        : 'With its arguments, as the operator lists it in HEADGATE_EXEC_SECRET_COMMANDS.';
  return (
    <>
      <p className="muted">
        The program runs on the controller, without a shell. It reads only: values are changed where it takes
        them from.
      </p>
      <SelectField
        label="Program"
        value={draft.command}
        onChange={(command) => set({ command })}
        options={[
          ...(isListed ? [] : [{ value: draft.command, word: draft.command || 'Choose a program' }]),
          ...commands.map((value) => ({ value, word: value })),
        ]}
        hint={hint}
      />
      <DraftField
        of={of}
        name="timeout"
        label="Seconds for an answer"
        mono={false}
        inputMode="numeric"
        placeholder="10"
        problem={problemOfTimeout(draft.timeout)}
      />
    </>
  );
};

interface CredentialProps {
  of: Props;
  name: keyof Held;
  label: string;
  hint?: string;
}

/** What the server has never comes back: it stays unless another one is given. */
const Credential = ({ of, name, label, hint }: CredentialProps) => {
  const held = of.held[name];
  const [replacing, setReplacing] = useState(false);
  if (held && !replacing && of.draft[name] === '') {
    return (
      <p className="credential">
        <span className="credential-name">{label}</span>
        <Badge tone="calm">Set</Badge>
        <Button size="small" onClick={() => setReplacing(true)}>
          Replace<span className="sr-only"> {label}</span>
        </Button>
      </p>
    );
  }
  return (
    <Field
      label={label}
      {...bound(of, name)}
      type="password"
      autoComplete="new-password"
      autoFocus={replacing}
      hint={held ? 'Empty keeps the one that is set.' : (hint ?? 'It is not shown again after saving.')}
    />
  );
};
