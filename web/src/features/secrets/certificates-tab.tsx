import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { CertificateSummary } from '../../../../schemas/api/secrets/certificates.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button, IconButton } from '../../ui/primitives/button.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { type CertificateAction, CertificateDialog, Reference } from './certificate-dialogs.tsx';
import { Expiry, shortName } from './certificate-facts.tsx';
import { UsedBy } from './secret-columns.tsx';

const TYPE_LABELS: Record<CertificateSummary['fileType'], string> = {
  ca: 'authorities',
  cert: 'certificate',
  key: 'private key',
};

function subjectOf({ facts }: CertificateSummary): string {
  const [first] = facts.certificates;
  if (first) return shortName(first.subject);
  return facts.key ? [facts.key.type.toUpperCase(), facts.key.bits ?? facts.key.curve].join(' ').trim() : '';
}

function columns(mayEdit: boolean, act: (action: CertificateAction) => void): Column<CertificateSummary>[] {
  return [
    {
      key: 'file',
      title: 'File',
      width: '19%',
      sort: (row) => row.filename,
      cell: (row) => (
        <button
          type="button"
          className="link-button mono"
          onClick={() => act({ kind: 'show', certificate: row })}
        >
          {row.filename}
        </button>
      ),
    },
    {
      key: 'name',
      title: 'Name',
      width: '13%',
      priority: 2,
      sort: (row) => row.name,
      cell: (row) => (
        <>
          {row.name}{' '}
          {row.warning && (
            <Badge tone="held" tip={row.warning}>
              Mismatch
            </Badge>
          )}
        </>
      ),
    },
    {
      key: 'type',
      title: 'Type',
      width: '104px',
      priority: 2,
      sort: (row) => row.fileType,
      cell: (row) => TYPE_LABELS[row.fileType],
    },
    {
      key: 'subject',
      title: 'Subject',
      width: '16%',
      priority: 3,
      sort: subjectOf,
      cell: (row) => <span data-tip={row.facts.certificates[0]?.subject}>{subjectOf(row)}</span>,
    },
    {
      key: 'expires',
      title: 'Expires',
      width: '112px',
      sort: (row) => row.expiresAt?.getTime() ?? null,
      cell: (row) => <Expiry at={row.expiresAt} />,
    },
    {
      key: 'reference',
      title: 'In configs',
      priority: 2,
      cell: (row) => <Reference certificate={row} />,
    },
    {
      key: 'used',
      title: 'Used by',
      width: '12%',
      priority: 2,
      sort: (row) => row.usedBy.length,
      cell: (row) => <UsedBy pipelines={row.usedBy} />,
    },
    {
      key: 'actions',
      title: 'Actions',
      width: '96px',
      align: 'end',
      cell: (row) => (
        <span className="nowrap">
          <IconButton
            icon="sync"
            label={`Replace ${row.filename}`}
            tip="Replace the file"
            disabled={!mayEdit}
            onClick={() => act({ kind: 'replace', certificate: row })}
          />
          <IconButton
            icon="trash"
            label={`Delete ${row.filename}`}
            tip="Delete"
            disabled={!mayEdit}
            onClick={() => act({ kind: 'delete', certificate: row })}
          />
        </span>
      ),
    },
  ];
}

export const CertificatesTab = () => {
  const { environment, team } = usePlace();
  const certificates = useQuery(queries.certificates(environment.id));
  const [chosen, setChosen] = useState<CertificateAction | null>(null);
  const [wanted, setWanted] = useAddressParam('new', { replace: true });
  const mayEdit = team.role !== 'VIEWER';
  const action = chosen ?? (wanted && mayEdit ? { kind: 'upload' as const } : null);
  const close = (): void => {
    setChosen(null);
    if (wanted) setWanted('');
  };
  const add = (
    <Button icon="plus" kind="primary" disabled={!mayEdit} onClick={() => setChosen({ kind: 'upload' })}>
      Upload a certificate
    </Button>
  );
  return (
    <Stack gap="md">
      <div className="tab-head">
        <p className="muted">
          Files in PEM form, kept encrypted. A node gets those that its pipelines name, and no other.
        </p>
        {certificates.data?.length === 0 ? null : add}
      </div>
      <Loaded
        query={certificates}
        what="Certificates"
        skeleton={<SkeletonRows rows={8} label="Loading certificates" />}
      >
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon="shield" title="No certificates yet">
              <p>
                Upload the authorities, certificates and keys that engines read as files. A config names one
                as <code>$&#123;SVC_CERT_DIR&#125;/ca.pem</code>.
              </p>
              {add}
            </EmptyState>
          ) : (
            <DataTable
              caption="Certificates"
              noun="file"
              rows={list}
              columns={columns(mayEdit, setChosen)}
              rowKey={(row) => row.id}
              filterText={(row) =>
                [
                  row.filename,
                  row.name,
                  TYPE_LABELS[row.fileType],
                  ...row.facts.certificates.flatMap((each) => [each.subject, ...each.alternativeNames]),
                  ...row.usedBy,
                ].join(' ')
              }
              defaultSort="file"
              remember="certificates"
            />
          )
        }
      </Loaded>
      <CertificateDialog action={action} close={close} />
    </Stack>
  );
};
