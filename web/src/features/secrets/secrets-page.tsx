import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { VIEWER_REASON } from '../pipelines/actions/fixed-reason.ts';
import { CertificatesTab } from './certificates-tab.tsx';
import { DeleteSecretDialog } from './delete-secret-dialog.tsx';
import { secretColumns } from './secret-columns.tsx';
import {
  RegisterSecretDialog,
  RelocateSecretDialog,
  type SecretAction,
  SecretValueDialog,
} from './secret-dialogs.tsx';
import { StoreState } from './store-state.tsx';
import { storeNoun } from './store-text.ts';

export const SecretsPage = () => {
  const [wanted, setWanted] = useAddressParam('tab');
  const tab = wanted === 'certificates' ? 'certificates' : 'secrets';
  return (
    <Page title="Secrets">
      <PageTabs
        label="Parts of the secrets page"
        value={tab}
        onChange={(value) => setWanted(value === 'certificates' ? value : '')}
        tabs={[
          { value: 'secrets', word: 'Secrets', render: () => <SecretsTab /> },
          { value: 'certificates', word: 'Certificates', render: () => <CertificatesTab /> },
        ]}
      />
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
        <Button
          icon="plus"
          kind={backend === 'EXEC' ? 'primary' : undefined}
          disabled={!mayEdit}
          tip={mayEdit ? undefined : VIEWER_REASON}
          onClick={() => setChosen({ kind: 'register' })}
        >
          Register a name
        </Button>
      )}
      {backend !== 'EXEC' && (
        <Button
          icon="plus"
          kind="primary"
          disabled={!mayEdit}
          tip={mayEdit ? undefined : VIEWER_REASON}
          onClick={() => setChosen({ kind: 'create' })}
        >
          Add a secret
        </Button>
      )}
    </span>
  );
  return (
    <Stack gap="md">
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
              filterText={(row) =>
                `${row.name} ${row.variable} ${[...row.usedBy, ...row.usedByEndpoints].join(' ')}`
              }
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
    </Stack>
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
