import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Me } from '../../../../schemas/api/identity/people.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { notify } from '../../ui/feedback/toast.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { Dialog } from '../../ui/primitives/dialog.tsx';
import { BackupCodes } from './backup-codes.tsx';
import { ChangePassword } from './change-password.tsx';
import { CodeField } from './code-field.tsx';
import { TwoFactorSetup } from './two-factor-setup.tsx';

export type SignInAction = 'password' | 'two-factor' | 'no-two-factor' | 'backup-codes' | 'unlink';

const TITLES: Record<SignInAction, string> = {
  password: 'Change your password',
  'two-factor': 'Set up two-factor',
  'no-two-factor': 'Turn two-factor off',
  'backup-codes': 'New backup codes',
  unlink: 'Unlink the identity provider',
};

interface Props {
  me: Me;
  action: SignInAction | null;
  close: () => void;
}

/** One dialog an action. Its name stays while it closes. */
export const SignInDialogs = ({ me, action, close }: Props) => {
  const queryClient = useQueryClient();
  const done = (message: string) => async (): Promise<void> => {
    close();
    notify(message);
    await queryClient.invalidateQueries({
      predicate: ({ queryKey: [name] }) =>
        name === queries.me().queryKey[0] || name === queries.sessions().queryKey[0],
    });
  };
  return (
    <>
      {(Object.keys(TITLES) as SignInAction[]).map((each) => (
        <Dialog key={each} title={TITLES[each]} opened={action === each} close={close}>
          {action === each && <Body action={each} me={me} close={close} done={done} />}
        </Dialog>
      ))}
    </>
  );
};

interface BodyProps {
  action: SignInAction;
  me: Me;
  close: () => void;
  done: (message: string) => () => Promise<void>;
}

const Body = ({ action, me, close, done }: BodyProps) => {
  switch (action) {
    case 'password':
      return (
        <ChangePassword
          email={me.email}
          close={close}
          done={done('Your password was changed; your other sessions have ended.')}
        />
      );
    case 'two-factor':
      return (
        <TwoFactorSetup
          email={me.email}
          intro="From then on a code of an app is asked for with your password, each time that you sign in. Your other sessions end."
          close={close}
          done={done('Two-factor is on.')}
        />
      );
    case 'no-two-factor':
      return <TurnOff close={close} done={done('Two-factor is off.')} />;
    case 'backup-codes':
      return <NewCodes close={close} done={done('The new backup codes are good, those before are not.')} />;
    case 'unlink':
      return <Unlink close={close} done={done('The identity provider is not linked any more.')} />;
  }
};

interface FormProps {
  close: () => void;
  done: () => Promise<void>;
}

const TurnOff = ({ close, done }: FormProps) => {
  const [code, setCode] = useState('');
  const disable = useMutation({
    mutationFn: () => api.user.disableTotp.mutate({ code: code.trim() }),
    onSuccess: done,
    onError: () => setCode(''),
  });
  return (
    <MutationForm
      mutation={disable}
      close={close}
      submit="Turn two-factor off"
      working="Turning it off…"
      disabled={code.trim() === ''}
      danger
    >
      <p>
        Your password alone signs in from then on, and the backup codes are good for nothing any more. Your
        other sessions end.
      </p>
      <CodeField value={code} onChange={setCode} />
    </MutationForm>
  );
};

const NewCodes = ({ close, done }: FormProps) => {
  const [code, setCode] = useState('');
  const renew = useMutation({
    mutationFn: () => api.user.renewBackupCodes.mutate({ code: code.trim() }),
    onError: () => setCode(''),
  });
  if (renew.data) return <BackupCodes codes={renew.data.backupCodes} done={() => void done()} />;
  return (
    <MutationForm
      mutation={renew}
      close={close}
      submit="Make new codes"
      working="Making them…"
      disabled={code.trim() === ''}
    >
      <p>Those that you have are good for nothing any more once there are new ones.</p>
      <CodeField value={code} onChange={setCode} />
    </MutationForm>
  );
};

const Unlink = ({ close, done }: FormProps) => {
  const unlink = useMutation({
    mutationFn: () => api.user.unlinkProvider.mutate({}),
    onSuccess: done,
  });
  return (
    <MutationForm
      mutation={unlink}
      close={close}
      submit="Unlink it"
      working="Unlinking…"
      cancel="Keep it"
      danger
    >
      <p>You sign in with your password from then on. You can link the provider again here.</p>
    </MutationForm>
  );
};
