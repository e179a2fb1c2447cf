import { Stack } from '@mantine/core';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { MigrationSummary } from '../../../../schemas/api/pipelines/migrations.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button, IconButton } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural } from '../../ui/text/format.ts';
import { VIEWER_REASON } from '../pipelines/actions/fixed-reason.ts';
import { DeleteMigrationDialog } from './delete-migration.tsx';
import { FluentdForm } from './fluentd-form.tsx';
import { GeneratedLink } from './generated-link.tsx';
import { migrationQueries } from './migration-queries.ts';
import { STATUS_LOOK } from './migration-text.ts';
import { VectorForm } from './vector-form.tsx';
import './migrations.css';

const SOURCES = [
  { value: 'fluentd', word: 'Fluentd' },
  { value: 'vector', word: 'Vector' },
] as const;

/** In the address: `new`, which configuration is brought in. */
export const MigrationsPage = () => {
  const { environment, team } = usePlace();
  const [params, setParams] = useSearchParams();
  const source = SOURCES.find(({ value }) => value === params.get('new'))?.value ?? null;
  const mayEdit = team.role !== 'VIEWER';
  const migrations = useQuery(migrationQueries.list(team.id));
  const start = (
    <Button
      icon="plus"
      kind="primary"
      disabled={!mayEdit}
      tip={mayEdit ? undefined : VIEWER_REASON}
      onClick={() => setParams({ new: 'fluentd' })}
    >
      New migration
    </Button>
  );
  if (source !== null && mayEdit)
    return (
      <Page title="New migration" back={{ to: paths.migrations(environment.id), word: 'Migrations' }}>
        <Stack gap="md">
          <div className="migration-sources">
            <SegmentedControl
              label="From"
              value={source}
              options={SOURCES}
              onChange={(value) => setParams({ new: value })}
            />
            <p className="muted">
              {source === 'fluentd'
                ? 'Translated block by block; you see and edit each block before a pipeline is made.'
                : 'Needs no translation: it is checked, and becomes a draft.'}
            </p>
          </div>
          {source === 'fluentd' ? <FluentdForm /> : <VectorForm />}
        </Stack>
      </Page>
    );
  return (
    <Page
      title="Migrations"
      back={{ to: paths.pipelines(environment.id), word: 'Pipelines' }}
      // Where nothing is there yet, the page itself says how to begin.
      actions={migrations.data?.length === 0 ? null : start}
    >
      <Migrations migrations={migrations} start={start} mayEdit={mayEdit} />
    </Page>
  );
};

interface ListProps {
  migrations: UseQueryResult<MigrationSummary[]>;
  start: ReactNode;
  mayEdit: boolean;
}

const Migrations = ({ migrations, start, mayEdit }: ListProps) => {
  const [deleting, setDeleting] = useState<MigrationSummary | null>(null);
  return (
    <>
      <Loaded
        query={migrations}
        what="Migrations"
        skeleton={<SkeletonRows rows={6} label="Loading migrations" />}
      >
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon="transform" title="No migrations yet">
              <p>
                Bring the configuration of a Fluentd here: its sources, filters and outputs become components
                of a pipeline, block beside block, with what differs and why. Lines of your own run through
                both sides before anything is made. A configuration of Vector comes in as it is.
              </p>
              {start}
            </EmptyState>
          ) : (
            <ul className="migration-list" aria-label="Migrations">
              {list.map((migration) => (
                <MigrationRow
                  key={migration.id}
                  migration={migration}
                  mayEdit={mayEdit}
                  remove={() => setDeleting(migration)}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <DeleteMigrationDialog migration={deleting} close={() => setDeleting(null)} />
    </>
  );
};

interface RowProps {
  migration: MigrationSummary;
  mayEdit: boolean;
  remove: () => void;
}

const MigrationRow = ({ migration, mayEdit, remove }: RowProps) => {
  const { environment } = usePlace();
  const { id, name, status, blockCount, openCount, createdBy, createdAt, generated } = migration;
  const { tone, word } = STATUS_LOOK[status];
  return (
    <li className="migration-row" aria-label={name}>
      <h2>
        <Link to={paths.migration(environment.id, id)}>{name}</Link>
      </h2>
      <Badge tone={tone}>{word}</Badge>
      {openCount > 0 && <Badge tone="failed">{openCount} open</Badge>}
      <span className="muted">
        {plural(blockCount, 'block')} · {createdBy}, <Time at={createdAt} />
      </span>
      {generated && <GeneratedLink generated={generated} />}
      <span className="migration-row-end">
        <IconButton icon="trash" label={`Delete ${name}`} tip="Delete" disabled={!mayEdit} onClick={remove} />
      </span>
    </li>
  );
};
