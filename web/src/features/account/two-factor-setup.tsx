import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, asksToConfirm } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { Field } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Copyable } from '../../ui/primitives/copyable.tsx';
import { BackupCodes } from './backup-codes.tsx';
import { QrCode } from './qr-code.tsx';

interface Props {
  /** Of the account: password managers fill in its password. */
  email: string;
  /** What is said first: why it is asked for. */
  intro: string;
  /** Two-factor is on, and the backup codes are kept. */
  done: () => void;
  /** Absent where there is no way around it. */
  close?: () => void;
}

/** From nothing to a second factor: the secret, a code that proves it, the backup codes. */
export const TwoFactorSetup = ({ email, intro, done, close }: Props) => {
  const queryClient = useQueryClient();
  const [code, setCode] = useState('');
  const [mustConfirm, setMustConfirm] = useState(false);
  const [password, setPassword] = useState('');
  const begin = useMutation({
    mutationFn: async () => {
      if (mustConfirm) await api.user.confirmPassword.mutate({ currentPassword: password });
      try {
        return await api.user.setupTotp.mutate({});
      } catch (error) {
        if (mustConfirm || !asksToConfirm(error)) throw error;
        setMustConfirm(true);
        return null;
      }
    },
    onError: () => setPassword(''),
  });
  const verify = useMutation({
    mutationFn: () => api.user.verifyAndEnableTotp.mutate({ code: code.replaceAll(/\s/g, '') }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queries.me().queryKey }),
    onError: () => setCode(''),
  });
  if (!begin.data) {
    return (
      <MutationForm
        mutation={begin}
        close={close}
        submit="Show the code to scan"
        working="Making a secret…"
        disabled={mustConfirm && password === ''}
      >
        <p>{intro}</p>
        <p className="muted">
          You need an authenticator app, for example on your phone. Any that knows one-time codes by time
          (TOTP) will do.
        </p>
        {mustConfirm && (
          <>
            <input type="text" value={email} autoComplete="username" readOnly hidden />
            <Field
              label="Current password"
              value={password}
              onChange={setPassword}
              type="password"
              autoComplete="current-password"
              maxLength={1024}
              hint="You signed in more than 10 minutes ago. Confirm that it is you."
              required
              autoFocus
            />
          </>
        )}
      </MutationForm>
    );
  }
  if (verify.isSuccess) return <BackupCodes codes={begin.data.backupCodes} done={done} />;
  return (
    <MutationForm
      mutation={verify}
      close={close}
      submit="Turn two-factor on"
      working="Checking…"
      disabled={code.trim() === ''}
    >
      <p>Scan this with your authenticator app, then type the six digits that it shows.</p>
      <div className="totp-secret">
        <QrCode text={begin.data.uri} label="QR code for your authenticator app" />
        <div>
          <p className="muted">Where you cannot scan it, type this secret into the app:</p>
          <p className="breakable">
            <Copyable value={begin.data.secret} label="the secret">
              {(begin.data.secret.match(/.{1,4}/g) ?? []).join(' ')}
            </Copyable>
          </p>
        </div>
      </div>
      <Field
        label="Code"
        value={code}
        onChange={setCode}
        autoComplete="one-time-code"
        inputMode="numeric"
        maxLength={32}
        hint="Six digits. A new one comes every 30 seconds."
        mono
        required
        autoFocus
      />
    </MutationForm>
  );
};
