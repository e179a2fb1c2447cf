import '../../styles/people.css';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../api/queries.ts';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { AuditRetentionForm } from './server/audit-retention-form.tsx';
import { FleetForm } from './server/fleet-form.tsx';

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
        <div className="stack">
          <FleetForm fleet={fleet} />
          <AuditRetentionForm retentionDays={audit.retentionDays} />
        </div>
      )}
    </Loaded>
  );
};
