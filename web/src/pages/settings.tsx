import { Tabs } from '@mantine/core';
import { useAddressParam } from '../app/address.ts';
import { usePlace } from '../app/environment.tsx';
import type { SettingsTab } from '../app/paths.ts';
import { Page } from '../components/page.tsx';
import { AccessTab } from './settings/access-tab.tsx';
import { EnvironmentTab } from './settings/environment-tab.tsx';
import { YouTab } from './settings/you-tab.tsx';

const TABS: readonly SettingsTab[] = ['environment', 'access'];

export const SettingsPage = () => {
  const { environment } = usePlace();
  const [wanted, setWanted] = useAddressParam('tab');
  const tab = TABS.find((each) => each === wanted) ?? 'you';
  return (
    <Page title="Settings">
      <div className="settings">
        <Tabs
          value={tab}
          onChange={(value) => setWanted(value === 'you' ? '' : (value ?? ''))}
          keepMounted={false}
        >
          <Tabs.List>
            <Tabs.Tab value="you">You</Tabs.Tab>
            <Tabs.Tab value="environment">{environment.name}</Tabs.Tab>
            <Tabs.Tab value="access">Access to {environment.name}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="you">
            <YouTab />
          </Tabs.Panel>
          {/* What stands in the forms is of one environment. */}
          <Tabs.Panel value="environment" key={`environment-${environment.id}`}>
            <EnvironmentTab />
          </Tabs.Panel>
          <Tabs.Panel value="access" key={`access-${environment.id}`}>
            <AccessTab />
          </Tabs.Panel>
        </Tabs>
      </div>
    </Page>
  );
};
