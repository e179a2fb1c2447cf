import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SecretSummary } from '../../../schemas/api/environments.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { Copyable, Time } from '../components/bits.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../components/states.tsx';
import { DeleteSecretDialog, type SecretAction, SecretValueDialog } from './secrets/dialogs.tsx';

export const SecretsPage = () => {
  const { environment, team } = usePlace();
  const secrets = useQuery(queries.secrets(environment.id));
  const [action, setAction] = useState<SecretAction | null>(null);
  const mayEdit = team.role !== 'VIEWER';
  const close = (): void => setAction(null);

  const columns: Column<SecretSummary>[] = [
    {
      key: 'name',
      title: 'Name',
      sort: (row) => row.name,
      cell: (row) => <span className="mono">{row.name}</span>,
    },
    {
      key: 'variable',
      title: 'In manifests',
      width: '34%',
      priority: 2,
      sort: (row) => row.variable,
      cell: (row) => <Copyable value={`\${${row.variable}}`} label="reference" />,
    },
    {
      key: 'updated',
      title: 'Value set',
      width: '120px',
      align: 'end',
      sort: (row) => row.updatedAt.getTime(),
      cell: (row) => <Time at={row.updatedAt} />,
    },
    {
      key: 'created',
      title: 'Created',
      width: '120px',
      align: 'end',
      priority: 3,
      sort: (row) => row.createdAt.getTime(),
      cell: (row) => <Time at={row.createdAt} />,
    },
    {
      key: 'actions',
      title: 'Actions',
      width: '104px',
      align: 'end',
      cell: (row) => (
        <>
          <button
            type="button"
            className="icon-button"
            aria-label={`Replace the value of ${row.name}`}
            data-tip="Replace the value"
            disabled={!mayEdit}
            onClick={() => setAction({ kind: 'replace', secret: row })}
          >
            <Icon name="pencil" size={14} />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={`Delete ${row.name}`}
            data-tip="Delete"
            disabled={!mayEdit}
            onClick={() => setAction({ kind: 'delete', secret: row })}
          >
            <Icon name="trash" size={14} />
          </button>
        </>
      ),
    },
  ];

  const add = (
    <button
      type="button"
      className="button"
      data-kind="primary"
      disabled={!mayEdit}
      onClick={() => setAction({ kind: 'create' })}
    >
      <Icon name="plus" /> Add a secret
    </button>
  );
  return (
    <Page title="Secrets" actions={secrets.data?.length === 0 ? null : add}>
      <p className="muted">
        Values are encrypted, never shown again, and reach only the nodes whose pipelines name them.
      </p>
      <Loaded query={secrets} what="Secrets" skeleton={<SkeletonRows rows={8} label="Loading secrets" />}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon="secrets" title="No secrets yet">
              <p>
                Keep passwords and keys here instead of in git. A manifest names one as{' '}
                <code>$&#123;SVC_SECRET_DB_PASSWORD&#125;</code>.
              </p>
              {add}
            </EmptyState>
          ) : (
            <DataTable
              caption="Secrets"
              noun="secret"
              rows={list}
              columns={columns}
              rowKey={(row) => row.id}
              filterText={(row) => `${row.name} ${row.variable}`}
              defaultSort="name"
            />
          )
        }
      </Loaded>
      <SecretValueDialog environment={environment} action={action} close={close} />
      <DeleteSecretDialog environment={environment} action={action} close={close} />
    </Page>
  );
};
