import { usePlace } from '../../app/environment.tsx';
import { Enrollment } from './enrollment.tsx';
import { ServiceAccounts } from './service-accounts.tsx';

/** What machines and programs get in with. */
export const AccessTab = () => {
  const { environment, team } = usePlace();
  const isAdmin = team.role === 'ADMIN';
  return (
    <div className="stack">
      <Enrollment environmentId={environment.id} isAdmin={isAdmin} />
      <ServiceAccounts environment={environment} isAdmin={isAdmin} />
    </div>
  );
};
