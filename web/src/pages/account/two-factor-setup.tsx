import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { Copyable } from '../../components/bits.tsx';
import { Field } from '../../components/field.tsx';
import { MutationForm } from '../../components/mutation-form.tsx';
import { BackupCodes } from './backup-codes.tsx';
import { QrCode } from './qr-code.tsx';

interface Props {
  /** What is said first: why it is asked for. */
  intro: string;
  /** Two-factor is on, and the backup codes are kept. */
  done: () => void;
  /** Absent where there is no way around it. */
  close?: () => void;
}

/** From nothing to a second factor: the secret, a code that proves it, the backup codes. */
export const TwoFactorSetup = ({ intro, done, close }: Props) => {
  const queryClient = useQueryClient();
  const [code, setCode] = useState('');
  const begin = useMutation({ mutationFn: () => api.user.setupTotp.mutate({}) });
  const verify = useMutation({
    mutationFn: () => api.user.verifyAndEnableTotp.mutate({ code: code.replaceAll(/\s/g, '') }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queries.me().queryKey }),
    onError: () => setCode(''),
  });
  if (!begin.data) {
    return (
      <MutationForm mutation={begin} close={close} submit="Show the code to scan" working="Making a secret…">
        <p>{intro}</p>
        <p className="muted">
          You need an authenticator app, for example on your phone. Any that knows one-time codes by time
          (TOTP) will do.
        </p>
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
