import { Stack } from '@mantine/core';
import '../accounts/accounts.css';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/queries/index.ts';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { ScimGroups } from './scim-groups.tsx';
import { ScimRefusals } from './scim-refusals.tsx';
import { ScimSetUp } from './scim-set-up.tsx';
import { ScimSwitch } from './scim-switch.tsx';
import { ScimTokenSection } from './scim-token.tsx';

/** An identity provider that keeps users and groups here. */
export const ScimTab = () => {
  const settings = useQuery(queries.settings());
  return (
    <Loaded
      query={settings}
      what="The settings"
      skeleton={<SkeletonBlock height={560} label="Loading the settings" />}
    >
      {({ scim }) => (
        <Stack gap="md">
          <ScimSwitch scim={scim} />
          {scim.enabled && <ScimTokenSection scim={scim} />}
          <ScimGroups enabled={scim.enabled} />
          {scim.enabled && <ScimRefusals />}
          <ScimSetUp />
        </Stack>
      )}
    </Loaded>
  );
};
