import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { queries } from '../api/queries.ts';
import { useAddressParam } from '../app/address.ts';
import { usePlace } from '../app/environment.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../components/states.tsx';
import { VIEWER_REASON } from './pipelines/fixed.tsx';
import { CertificatesTab } from './secrets/certificates-tab.tsx';
import {
  DeleteSecretDialog,
  RegisterSecretDialog,
  RelocateSecretDialog,
  type SecretAction,
  SecretValueDialog,
} from './secrets/dialogs.tsx';
import { secretColumns } from './secrets/secret-columns.tsx';
import { StoreState } from './secrets/store-state.tsx';
import { storeNoun } from './secrets/store-words.ts';

export const SecretsPage = () => {
  const [wanted, setWanted] = useAddressParam('tab');
  const tab = wanted === 'certificates' ? 'certificates' : 'secrets';
  return (
    <Page title="Secrets">
      <Tabs
        value={tab}
        onChange={(value) => setWanted(value === 'certificates' ? value : '')}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="secrets">Secrets</Tabs.Tab>
          <Tabs.Tab value="certificates">Certificates</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="secrets">
          <SecretsTab />
        </Tabs.Panel>
        <Tabs.Panel value="certificates">
          <CertificatesTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
};

const SecretsTab = () => {
  const place = usePlace();
  const { id } = place.environment;
  const secrets = useQuery(queries.secrets(id));
  const environment = useQuery(queries.environment(id));
  const [chosen, setChosen] = useState<SecretAction | null>(null);
  const [wanted, setWanted] = useAddressParam('new', { replace: true });
  const mayEdit = place.team.role !== 'VIEWER';
  const backend = environment.data?.secretBackend ?? place.environment.secretBackend;
  const outside = backend !== 'BUILTIN';
  const standard: SecretAction = backend === 'EXEC' ? { kind: 'register' } : { kind: 'create' };
  const action = chosen ?? (wanted && mayEdit ? standard : null);
  const close = (): void => {
    setChosen(null);
    if (wanted) setWanted('');
  };
  const add = (
    <span className="button-row">
      {outside && (
        <button
          type="button"
          className="button"
          data-kind={backend === 'EXEC' ? 'primary' : undefined}
          disabled={!mayEdit}
          data-tip={mayEdit ? undefined : VIEWER_REASON}
          onClick={() => setChosen({ kind: 'register' })}
        >
          <Icon name="plus" /> Register a name
        </button>
      )}
      {backend !== 'EXEC' && (
        <button
          type="button"
          className="button"
          data-kind="primary"
          disabled={!mayEdit}
          data-tip={mayEdit ? undefined : VIEWER_REASON}
          onClick={() => setChosen({ kind: 'create' })}
        >
          <Icon name="plus" /> Add a secret
        </button>
      )}
    </span>
  );
  return (
    <div className="stack">
      <div className="tab-head">
        <p className="muted">
          {outside
            ? `Values are kept in ${storeNoun(backend)}. Headgate fetches them, never shows them, and sends them only to the nodes whose pipelines name them.`
            : 'Values are encrypted, never shown again, and reach only the nodes whose pipelines name them.'}
        </p>
        {secrets.data?.length === 0 ? null : add}
      </div>
      {environment.data && <StoreState environment={environment.data} mayEdit={mayEdit} />}
      <Loaded query={secrets} what="Secrets" skeleton={<SkeletonRows rows={8} label="Loading secrets" />}>
        {(list) =>
          list.length === 0 ? (
            <NoSecrets outside={outside} add={add} />
          ) : (
            <DataTable
              caption="Secrets"
              noun="secret"
              rows={list}
              columns={secretColumns({ backend, mayEdit, act: setChosen })}
              rowKey={(row) => row.id}
              filterText={(row) => `${row.name} ${row.variable} ${row.usedBy.join(' ')}`}
              defaultSort="name"
              remember="secrets"
            />
          )
        }
      </Loaded>
      <SecretValueDialog environment={place.environment} backend={backend} action={action} close={close} />
      <RegisterSecretDialog environment={place.environment} backend={backend} action={action} close={close} />
      <RelocateSecretDialog environment={place.environment} backend={backend} action={action} close={close} />
      <DeleteSecretDialog environment={place.environment} backend={backend} action={action} close={close} />
    </div>
  );
};

const NoSecrets = ({ outside, add }: { outside: boolean; add: ReactNode }) => (
  <EmptyState icon="secrets" title="No secrets yet">
    <p>
      {outside
        ? 'Register the name of a secret that the store has already, or add one: it is written to the store. '
        : 'Keep passwords and keys here instead of in git. '}
      A manifest names one as <code>$&#123;SVC_SECRET_DB_PASSWORD&#125;</code>.
    </p>
    {add}
  </EmptyState>
);
