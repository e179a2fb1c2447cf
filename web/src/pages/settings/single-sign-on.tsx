import '../../styles/people.css';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../api/queries.ts';
import { Loaded, SkeletonBlock } from '../../components/states.tsx';
import { AccessForm } from './single-sign-on/access-form.tsx';
import { DefaultRoleForm } from './single-sign-on/default-role-form.tsx';
import { DisableProvider } from './single-sign-on/disable-provider.tsx';
import { GroupsForm } from './single-sign-on/groups-form.tsx';
import { LinkedIssuers } from './single-sign-on/linked-issuers.tsx';
import { ProviderForm } from './single-sign-on/provider-form.tsx';

/** Where people sign in besides here, and what their groups there mean for teams here. */
export const SingleSignOnTab = () => {
  const settings = useQuery(queries.settings());
  const teams = useQuery(queries.allTeams());
  return (
    <Loaded
      query={settings}
      what="The settings"
      skeleton={<SkeletonBlock height={720} label="Loading the settings" />}
    >
      {({ oidcProviders: [oidc = null], oidcRedirectUri, groups, access }) => (
        <div className="stack">
          <ProviderForm oidc={oidc} redirectUri={oidcRedirectUri} />
          <Loaded
            query={teams}
            what="Teams"
            skeleton={<SkeletonBlock height={360} label="Loading the groups" />}
          >
            {(list) => (
              <>
                <GroupsForm groups={groups} teams={list} />
                <DefaultRoleForm groups={groups} teams={list} />
              </>
            )}
          </Loaded>
          <AccessForm access={access} redirectUri={oidcRedirectUri} />
          <LinkedIssuers />
          {oidc && <DisableProvider oidc={oidc} />}
        </div>
      )}
    </Loaded>
  );
};
