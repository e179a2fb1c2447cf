import { Stack } from '@mantine/core';
import '../accounts/accounts.css';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/queries.ts';
import { Loaded, SkeletonBlock } from '../../../ui/primitives/page-states.tsx';
import { AuditRetentionForm } from './audit-retention-form.tsx';
import { FleetForm } from './fleet-form.tsx';

/** What holds for all nodes and for the whole audit log. */
export const ServerTab = () => {
  const settings = useQuery(queries.settings());
  return (
    <Loaded
      query={settings}
      what="The settings"
      skeleton={<SkeletonBlock height={480} label="Loading the settings" />}
    >
      {({ fleet, audit }) => (
        <Stack gap="md">
          <FleetForm fleet={fleet} />
          <AuditRetentionForm retentionDays={audit.retentionDays} />
        </Stack>
      )}
    </Loaded>
  );
};
