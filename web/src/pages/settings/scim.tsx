import '../../styles/people.css';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../api/queries.ts';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { ScimGroups } from './scim/scim-groups.tsx';
import { ScimRefusals } from './scim/scim-refusals.tsx';
import { ScimSetUp } from './scim/scim-set-up.tsx';
import { ScimSwitch } from './scim/scim-switch.tsx';
import { ScimTokenSection } from './scim/scim-token.tsx';

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
        <div className="stack">
          <ScimSwitch scim={scim} />
          {scim.enabled && <ScimTokenSection scim={scim} />}
          <ScimGroups enabled={scim.enabled} />
          {scim.enabled && <ScimRefusals />}
          <ScimSetUp />
        </div>
      )}
    </Loaded>
  );
};
