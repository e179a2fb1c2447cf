import type { SecretSummary } from '../../../../schemas/api/fleet/environments.ts';
import type { SecretBackend } from '../../../../schemas/api/secrets/secret-backends.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { IconButton } from '../../ui/primitives/button.tsx';
import { Copyable } from '../../ui/primitives/copyable.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import type { Column } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import { plural } from '../../ui/text/format.ts';
import type { SecretAction } from './secret-dialogs.tsx';

interface Options {
  backend: SecretBackend;
  mayEdit: boolean;
  act: (action: SecretAction) => void;
}

/** Names of pipelines and endpoints, as far as there is room; all of them on hover. */
export const UsedBy = ({
  pipelines,
  endpoints = [],
}: {
  pipelines: readonly string[];
  endpoints?: readonly string[];
}) => {
  const names = [...pipelines, ...endpoints.map((name) => `endpoint ${name}`)];
  if (names.length === 0) return <span className="muted">nothing</span>;
  const counts = [
    pipelines.length > 0 ? plural(pipelines.length, 'pipeline') : '',
    endpoints.length > 0 ? plural(endpoints.length, 'endpoint') : '',
  ];
  return (
    <span data-tip={names.join(', ')}>
      {names.length > 2 ? counts.filter(Boolean).join(', ') : names.join(', ')}
    </span>
  );
};

/** Where the store has it, if its name does not say so: `rds!db-1234 → password @ AWSPREVIOUS`. */
const placeOf = ({ path, property, version }: SecretSummary): string =>
  [path ?? '', property ? `→ ${property}` : '', version ? `@ ${version}` : ''].filter(Boolean).join(' ');

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
      cell: (row) => (
        <span className="mono" data-tip={placeOf(row) || undefined}>
          {row.name}
          {placeOf(row) && <span className="muted"> · {placeOf(row)}</span>}
        </span>
      ),
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
      sort: (row) => row.usedBy.length + row.usedByEndpoints.length,
      cell: (row) => <UsedBy pipelines={row.usedBy} endpoints={row.usedByEndpoints} />,
    },
    ...(backend === 'BUILTIN' ? [] : [fetched]),
    momentColumn({
      key: 'updated',
      title: 'Value set',
      width: '104px',
      // Where there is a store outside, a phone has room for the time that matters more.
      priority: backend === 'BUILTIN' ? 1 : 2,
      at: (row) => row.updatedAt,
    }),
    momentColumn({
      key: 'created',
      title: 'Created',
      width: '104px',
      priority: 3,
      at: (row) => row.createdAt,
    }),
    {
      key: 'actions',
      title: 'Actions',
      width: backend === 'BUILTIN' ? '104px' : '136px',
      align: 'end',
      cell: (row) => (
        <span className="nowrap">
          <IconButton
            icon="pencil"
            label={`Replace the value of ${row.name}`}
            tip={backend === 'EXEC' ? 'The program keeps the values: change it there' : 'Replace the value'}
            disabled={!writable}
            onClick={() => act({ kind: 'replace', secret: row })}
          />
          {backend !== 'BUILTIN' && (
            <IconButton
              icon="folder"
              label={`Say where the store has ${row.name}`}
              tip="Where the store has it"
              disabled={!mayEdit}
              onClick={() => act({ kind: 'relocate', secret: row })}
            />
          )}
          <IconButton
            icon="trash"
            label={`Delete ${row.name}`}
            tip="Delete"
            disabled={!mayEdit}
            onClick={() => act({ kind: 'delete', secret: row })}
          />
        </span>
      ),
    },
  ];
}
