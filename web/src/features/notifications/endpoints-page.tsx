import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { EndpointsTab } from './endpoints-tab.tsx';

export const EndpointsPage = () => {
  const { environment } = usePlace();
  return (
    <Page title="Endpoints" back={{ to: paths.alerts(environment.id), word: 'Alerts' }}>
      <EndpointsTab />
    </Page>
  );
};
