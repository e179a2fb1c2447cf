import { Stack } from '@mantine/core';
import '../accounts/accounts.css';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/queries/index.ts';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { AnomalyForm } from './anomaly-form.tsx';
import { AuditRetentionForm } from './audit-retention-form.tsx';
import { FleetForm } from './fleet-form.tsx';

/** What holds for all nodes, for anomalies of all pipelines, and for the whole audit log. */
export const ServerTab = () => {
  const settings = useQuery(queries.settings());
  return (
    <Loaded
      query={settings}
      what="The settings"
      skeleton={<SkeletonBlock height={480} label="Loading the settings" />}
    >
      {({ fleet, anomalies, audit }) => (
        <Stack gap="md">
          <FleetForm fleet={fleet} />
          <AnomalyForm config={anomalies} />
          <AuditRetentionForm retentionDays={audit.retentionDays} />
        </Stack>
      )}
    </Loaded>
  );
};
