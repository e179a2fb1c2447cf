import type { SecretSummary } from '../../../../schemas/api/environments.ts';
import type { SecretBackend } from '../../../../schemas/api/secret-backends.ts';
import { Badge, Copyable, Time } from '../../components/bits.tsx';
import type { Column } from '../../components/data-table.tsx';
import { plural } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import type { SecretAction } from './dialogs.tsx';

interface Options {
  backend: SecretBackend;
  mayEdit: boolean;
  act: (action: SecretAction) => void;
}

/** Names of pipelines, as far as there is room; all of them on hover. */
export const UsedBy = ({ pipelines }: { pipelines: readonly string[] }) =>
  pipelines.length === 0 ? (
    <span className="muted">nothing</span>
  ) : (
    <span data-tip={pipelines.join(', ')}>
      {pipelines.length > 2 ? plural(pipelines.length, 'pipeline') : pipelines.join(', ')}
    </span>
  );

const Fetched = ({ secret }: { secret: SecretSummary }) => {
  if (secret.fetchError)
    return (
      <Badge tone="failed" tip={secret.fetchError}>
        Not fetched
      </Badge>
    );
  return secret.fetchedAt ? <Time at={secret.fetchedAt} /> : <span className="muted">not yet</span>;
};

export function secretColumns({ backend, mayEdit, act }: Options): Column<SecretSummary>[] {
  const fetched: Column<SecretSummary> = {
    key: 'fetched',
    title: 'Fetched',
    width: '128px',
    sort: (row) => (row.fetchError ? 0 : (row.fetchedAt?.getTime() ?? 1)),
    cell: (row) => <Fetched secret={row} />,
  };
  const writable = mayEdit && backend !== 'EXEC';
  return [
    {
      key: 'name',
      title: 'Name',
      sort: (row) => row.name,
      cell: (row) => <span className="mono">{row.name}</span>,
    },
    {
      key: 'variable',
      title: 'In manifests',
      width: '28%',
      priority: 2,
      sort: (row) => row.variable,
      cell: (row) => <Copyable value={`\${${row.variable}}`} label="reference" />,
    },
    {
      key: 'used',
      title: 'Used by',
      width: '18%',
      priority: 2,
      sort: (row) => row.usedBy.length,
      cell: (row) => <UsedBy pipelines={row.usedBy} />,
    },
    ...(backend === 'BUILTIN' ? [] : [fetched]),
    {
      key: 'updated',
      title: 'Value set',
      width: '104px',
      align: 'end',
      // Where there is a store outside, a phone has room for the time that matters more.
      priority: backend === 'BUILTIN' ? 1 : 2,
      sort: (row) => row.updatedAt.getTime(),
      cell: (row) => <Time at={row.updatedAt} />,
    },
    {
      key: 'created',
      title: 'Created',
      width: '104px',
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
        <span className="nowrap">
          <button
            type="button"
            className="icon-button"
            aria-label={`Replace the value of ${row.name}`}
            data-tip={
              backend === 'EXEC' ? 'The program keeps the values: change it there' : 'Replace the value'
            }
            disabled={!writable}
            onClick={() => act({ kind: 'replace', secret: row })}
          >
            <Icon name="pencil" size={14} />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={`Delete ${row.name}`}
            data-tip="Delete"
            disabled={!mayEdit}
            onClick={() => act({ kind: 'delete', secret: row })}
          >
            <Icon name="trash" size={14} />
          </button>
        </span>
      ),
    },
  ];
}
