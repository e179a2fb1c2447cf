import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import type { VersionSummary } from '../../../../../schemas/api/pipelines/versions.ts';
import { lazyPart } from '../../../api/lazy-part.ts';
import { queries } from '../../../api/queries/index.ts';
import { usePlace } from '../../../app/scope.tsx';
import { useAddress } from '../../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Commit } from '../../../ui/primitives/copyable.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { FixedNotice, useFixed } from '../../pipelines/actions/edit-lock.tsx';
import { VIEWER_REASON } from '../../pipelines/actions/fixed-reason.ts';
import { removedText } from './removed-versions.ts';
import { VersionText } from './version-diff.tsx';

const RollbackDialog = lazyPart(() => import('./rollback-dialog.tsx'), 'RollbackDialog');
const NewVersionDialog = lazyPart(() => import('./new-version.tsx'), 'NewVersionDialog');

interface Props {
  env: string;
  pipeline: Pipeline;
}

/** In the address: `version` is the one that is read, `against` the one it is compared with. */
export const VersionsTab = ({ env, pipeline }: Props) => {
  const { team } = usePlace();
  const versions = useQuery(queries.versions(pipeline.id));
  const [rollback, setRollback] = useState<VersionSummary | null>(null);
  const [isNew, setNew] = useState(false);
  const fixed = useFixed(pipeline.managedBy);
  const create = (
    <Button icon="plus" disabled={fixed !== null} tip={fixed ?? undefined} onClick={() => setNew(true)}>
      New version from YAML
    </Button>
  );
  return (
    <Stack gap="md">
      <FixedNotice env={env} role={team.role} pipeline={pipeline} />
      <Loaded query={versions} what="Versions" skeleton={<SkeletonRows rows={6} label="Loading versions" />}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon="git" title="No version yet">
              <p>
                {pipeline.managedBy === 'git'
                  ? 'Every commit that changes the manifest makes a version.'
                  : 'Every deploy makes a version: what was deployed, by which user, and why. Each can be compared, and rolled back to.'}
              </p>
              {pipeline.managedBy === 'ui' && create}
            </EmptyState>
          ) : (
            <VersionsView
              versions={[...list].sort((a, b) => b.version - a.version)}
              mayNotRollBack={team.role === 'VIEWER' ? VIEWER_REASON : null}
              holds={pipeline.managedBy === 'git'}
              rollback={setRollback}
              create={create}
            />
          )
        }
      </Loaded>
      <Suspense fallback={null}>
        {rollback && (
          <RollbackDialog env={env} pipeline={pipeline} target={rollback} close={() => setRollback(null)} />
        )}
        {isNew && <NewVersionDialog pipeline={pipeline} close={() => setNew(false)} />}
      </Suspense>
    </Stack>
  );
};

interface ViewProps {
  versions: VersionSummary[];
  /** Rolling back is for emergencies: it is allowed whatever git says. */
  mayNotRollBack: string | null;
  /** It holds git's version then. */
  holds: boolean;
  rollback: (version: VersionSummary) => void;
  create: React.ReactNode;
}

const VersionsView = ({ versions, mayNotRollBack, holds, rollback, create }: ViewProps) => {
  const [params, change] = useAddress();
  const find = (key: string): VersionSummary | undefined =>
    versions.find(({ version }) => String(version) === params.get(key));
  const shown = find('version') ?? versions[0];
  const against =
    params.get('against') === 'none' ? undefined : (find('against') ?? previous(versions, shown));
  const choose = (key: 'version' | 'against', value: string): void =>
    change((next) => next.set(key, value), { replace: true });

  const removed = removedText(versions);

  const columns: Column<VersionSummary>[] = [
    {
      key: 'version',
      title: 'Version',
      width: '150px',
      sort: (row) => row.version,
      cell: (row) => (
        <span className="cell-line">
          <button
            type="button"
            className="link-button mono"
            aria-pressed={row.id === shown?.id}
            onClick={() => choose('version', String(row.version))}
          >
            v{row.version}
          </button>
          {row.isDeployed && <Badge tone="ok">deployed</Badge>}
        </span>
      ),
    },
    {
      key: 'commit',
      title: 'Commit',
      width: '104px',
      cell: (row) => (row.commit ? <Commit sha={row.commit} /> : <span className="muted">{row.source}</span>),
    },
    {
      key: 'changelog',
      title: 'What changed',
      priority: 2,
      cell: (row) => {
        const text = row.commitMessage ?? row.changelog ?? '';
        return <span data-tip={text || undefined}>{text}</span>;
      },
    },
    {
      key: 'author',
      title: 'Author',
      width: '170px',
      priority: 3,
      sort: (row) => row.commitAuthor ?? row.createdByName,
      cell: (row) => row.commitAuthor ?? row.createdByName ?? <span className="muted">unknown</span>,
    },
    momentColumn({ key: 'at', title: 'When', width: '104px', at: (row) => row.createdAt }),
    {
      key: 'rollback',
      title: 'Actions',
      width: '112px',
      align: 'end',
      cell: (row) => (
        <Button
          size="small"
          disabled={mayNotRollBack !== null}
          tip={mayNotRollBack ?? (holds ? 'Rolls back, and holds the version that git has' : undefined)}
          onClick={() => rollback(row)}
        >
          Roll back<span className="sr-only"> to version {row.version}</span>
        </Button>
      ),
    },
  ];

  return (
    <>
      <DataTable
        caption="Versions"
        noun="version"
        rows={versions}
        columns={columns}
        rowKey={(row) => row.id}
        defaultSort="-version"
        paramPrefix="versions-"
        toolbar={create}
      />
      {removed !== null && <p className="muted">{removed}</p>}
      {shown && <VersionText shown={shown} against={against} versions={versions} choose={choose} />}
    </>
  );
};

const previous = (
  versions: VersionSummary[],
  shown: VersionSummary | undefined,
): VersionSummary | undefined =>
  versions.find(({ version }) => shown !== undefined && version < shown.version);
