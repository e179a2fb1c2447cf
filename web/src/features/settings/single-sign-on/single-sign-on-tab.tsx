import { Stack } from '@mantine/core';
import '../accounts/accounts.css';
import { useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/queries/index.ts';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { AccessForm } from './access-form.tsx';
import { DefaultRoleForm } from './default-role-form.tsx';
import { DisableProvider } from './disable-provider.tsx';
import { FileNotice } from './file-notice.tsx';
import { GroupsForm } from './groups-form.tsx';
import { LinkedIssuers } from './linked-issuers.tsx';
import { OnlyByProviderForm } from './only-by-provider-form.tsx';
import { Providers } from './providers.tsx';

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
      {({ oidcProviders, oidcFile, oidcRedirectUri, groups, access, breakGlass }) => {
        const says = (part: 'groups' | 'access') => oidcFile?.sets.includes(part) ?? false;
        return (
          <Stack gap="md">
            {oidcFile && <FileNotice file={oidcFile} />}
            <Providers providers={oidcProviders} redirectUri={oidcRedirectUri} />
            <Loaded
              query={teams}
              what="Teams"
              skeleton={<SkeletonBlock height={360} label="Loading the groups" />}
            >
              {(list) => (
                <>
                  <GroupsForm groups={groups} teams={list} isFromFile={says('groups')} />
                  <DefaultRoleForm groups={groups} teams={list} isFromFile={says('groups')} />
                </>
              )}
            </Loaded>
            <AccessForm access={access} redirectUri={oidcRedirectUri} isFromFile={says('access')} />
            {(oidcProviders.length > 0 || access.onlyByProvider) && (
              <OnlyByProviderForm access={access} breakGlass={breakGlass} isFromFile={says('access')} />
            )}
            <LinkedIssuers />
            {oidcProviders
              .filter(({ isFromFile }) => !isFromFile)
              .map((oidc) => (
                <DisableProvider key={oidc.id} oidc={oidc} isOnly={oidcProviders.length === 1} />
              ))}
          </Stack>
        );
      }}
    </Loaded>
  );
};
