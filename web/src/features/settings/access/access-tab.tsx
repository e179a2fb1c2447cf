import { Stack } from '@mantine/core';
import { usePlace } from '../../../app/scope.tsx';
import { Enrollment } from './enrollment-tokens.tsx';
import { ServiceAccounts } from './service-accounts.tsx';

/** What machines and programs get in with. */
export const AccessTab = () => {
  const { environment, team } = usePlace();
  const isAdmin = team.role === 'ADMIN';
  return (
    <Stack gap="md">
      <Enrollment environmentId={environment.id} isAdmin={isAdmin} />
      <ServiceAccounts environment={environment} isAdmin={isAdmin} />
    </Stack>
  );
};
