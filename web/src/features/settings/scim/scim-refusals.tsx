import { useQuery } from '@tanstack/react-query';
import type { ScimRefusal } from '../../../../../schemas/api/settings.ts';
import { queries } from '../../../api/queries/index.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';

interface Row extends ScimRefusal {
  key: string;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    key: 'at',
    title: 'When',
    width: '128px',
    sort: (row) => -row.at.getTime(),
    cell: (row) => <Time at={row.at} />,
  },
  {
    key: 'request',
    title: 'Request',
    width: '28%',
    sort: (row) => row.path,
    cell: (row) => (
      <span className="mono" data-tip={`${row.method} ${row.path}`}>
        {row.method} {row.path}
      </span>
    ),
  },
  {
    key: 'status',
    title: 'Answer',
    width: '152px',
    sort: (row) => row.status,
    cell: (row) => `${row.status} ${row.scimType ?? ''}`,
  },
  {
    key: 'detail',
    title: 'Reason',
    sort: (row) => row.detail,
    cell: (row) => <span data-tip={row.detail}>{row.detail}</span>,
  },
];

/** Errors that SCIM answered to a provider, which often does not show them. */
export const ScimRefusals = () => {
  const refusals = useQuery(queries.scimRefusals());
  return (
    <Section title="Refused requests">
      <Loaded
        query={refusals}
        what="Refused requests"
        skeleton={<SkeletonRows rows={3} label="Loading the refused requests" />}
      >
        {(list) =>
          list.length === 0 ? (
            <div className="section-body">
              <p className="muted">No request of the provider was refused.</p>
            </div>
          ) : (
            <DataTable
              caption="Refused requests"
              noun="request"
              rows={list.map((one, at): Row => ({ ...one, key: `${list.length - at}` }))}
              columns={COLUMNS}
              rowKey={(row) => row.key}
              filterText={(row) => `${row.method} ${row.path} ${row.detail}`}
              defaultSort="at"
            />
          )
        }
      </Loaded>
      <div className="section-foot muted">The last 100 are kept.</div>
    </Section>
  );
};
