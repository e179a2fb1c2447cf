import { Input } from '@mantine/core';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { DraftField, type DraftOf, DraftText } from '../../../ui/form/draft-fields.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Copyable } from '../../../ui/primitives/copyable.tsx';
import { type Access, accessOf, type BindingDraft, hostOf, isHttps, isSsh } from './binding-draft.ts';

interface Props extends DraftOf<BindingDraft> {
  status: GitSyncStatus;
}

const HTTP_ACCESS = [
  { value: 'none', word: 'None: it is public' },
  { value: 'basic', word: 'User name and token' },
] as const;
const BY_APP = { value: 'app', word: 'The GitHub App of the forge' } as const;

/** The server's address, how it lets us in, and how it proves itself. What was given is never shown again. */
export const RemoteFields = ({ draft, set, status }: Props) => {
  const of = { draft, set };
  const access = accessOf(draft, status);
  const ssh = isSsh(draft.url);
  const host = hostOf(draft.url);
  return (
    <>
      <DraftField
        of={of}
        name="url"
        label="Address"
        required
        maxLength={2048}
        placeholder="https://git.example.com/team/config.git"
        hint="https://, ssh:// or user@host:path, without a password in it."
      />
      {access === 'keep' ? (
        <Kept status={status} replace={() => set({ access: ssh ? 'ssh' : 'basic' })} />
      ) : (
        <>
          {!ssh && (
            <SelectField<Access>
              label="Credentials"
              value={access}
              onChange={(next) => set({ access: next })}
              options={status.forge?.appId ? [...HTTP_ACCESS, BY_APP] : HTTP_ACCESS}
            />
          )}
          {access === 'basic' && (
            <FieldPair>
              <DraftField of={of} name="username" label="User name" autoComplete="off" maxLength={255} />
              <DraftField
                of={of}
                name="password"
                label="Password or token"
                mono={false}
                type="password"
                autoComplete="new-password"
                maxLength={4096}
                hint="Kept encrypted, and never shown again."
              />
            </FieldPair>
          )}
          {access === 'ssh' && (
            <DraftText
              of={of}
              name="privateKey"
              label="Private key"
              rows={4}
              maxLength={16_384}
              placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
              hint="Without a passphrase. Kept encrypted, and never shown again; its public half is."
            />
          )}
        </>
      )}
      {ssh && (
        <DraftText
          of={of}
          name="knownHosts"
          label="Known hosts"
          rows={3}
          maxLength={65_536}
          hint={`What “ssh-keyscan ${host || 'host'}” prints, after comparing it with what the server’s owner publishes.`}
        />
      )}
      {isHttps(draft.url) && (
        <DraftText
          of={of}
          name="ca"
          label="Certificate authority"
          rows={3}
          maxLength={65_536}
          placeholder="-----BEGIN CERTIFICATE-----"
          hint="Only for a server whose certificate comes from an authority of your own."
        />
      )}
    </>
  );
};

const Kept = ({ status, replace }: { status: GitSyncStatus; replace: () => void }) => {
  const { credentials } = status;
  if (!credentials) return null;
  return (
    <Input.Wrapper labelElement="div" label="Credentials">
      <span className="credential">
        {credentials.type === 'ssh' ? (
          <>
            <span>An ssh key; give its public half to the server:</span>
            {credentials.publicKey && <Copyable value={credentials.publicKey} label="public key" />}
          </>
        ) : credentials.type === 'app' ? (
          <span>The GitHub App of the forge</span>
        ) : (
          <span>
            <span className="mono">{credentials.username}</span> with a password or token, which is not shown
          </span>
        )}
        <Button size="small" onClick={replace}>
          Replace<span className="sr-only"> the credentials</span>
        </Button>
      </span>
    </Input.Wrapper>
  );
};
