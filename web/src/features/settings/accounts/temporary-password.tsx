import { Stack } from '@mantine/core';
import { DoneAction } from '../../../ui/form/mutation-form.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Time } from '../../../ui/primitives/time.tsx';

interface Props {
  name: string;
  password: string;
  expiresAt: Date;
  close: () => void;
}

/** A password that was made for somebody. Nothing keeps it: with the dialog it is gone. */
export const GivenPassword = ({ name, password, expiresAt, close }: Props) => (
  <Stack gap="lg">
    <p role="status">
      Hand it to {name} now, in a way that you trust: it is shown <strong>only once</strong>.
    </p>
    <CommandBlock label="the temporary password" lines={[password]} />
    <p className="muted">
      It ends <Time at={expiresAt} />. {name} signs in with it to choose a password of their own, and can do
      nothing else until then.
    </p>
    <DoneAction close={close} />
  </Stack>
);
