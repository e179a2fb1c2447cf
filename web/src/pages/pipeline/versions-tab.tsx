import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useSearchParams } from 'react-router';
import type { VersionSummary } from '../../../../schemas/api/pipelines.ts';
import { queries } from '../../api/queries.ts';
import { usePreference, writePreference } from '../../app/preferences.ts';
import { Badge, Commit, Time } from '../../components/bits.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { formatExact } from '../../components/format.ts';
import { Section } from '../../components/page.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { EmptyState, ErrorState, Loaded, SkeletonBlock, SkeletonRows } from '../../components/states.tsx';

const YamlView = lazy(() =>
  import('../../components/code.tsx').then((module) => ({ default: module.YamlView })),
);
const YamlDiff = lazy(() =>
  import('../../components/code.tsx').then((module) => ({ default: module.YamlDiff })),
);

const LAYOUTS = [
  { value: 'unified', word: 'Unified' },
  { value: 'split', word: 'Side by side' },
] as const;

/** In the address: `version` is the one that is read, `against` the one it is compared with. */
export const VersionsTab = ({ pipelineId }: { pipelineId: string }) => {
  const versions = useQuery(queries.versions(pipelineId));
  return (
    <Loaded query={versions} what="Versions" skeleton={<SkeletonRows rows={6} label="Loading versions" />}>
      {(list) =>
        list.length === 0 ? (
          <EmptyState icon="git" title="No version yet">
            <p>Every commit that changes the manifest makes a version.</p>
          </EmptyState>
        ) : (
          <VersionsView versions={[...list].sort((a, b) => b.version - a.version)} />
        )
      }
    </Loaded>
  );
};

const VersionsView = ({ versions }: { versions: VersionSummary[] }) => {
  const [params, setParams] = useSearchParams();
  const find = (key: string): VersionSummary | undefined =>
    versions.find(({ version }) => String(version) === params.get(key));
  const shown = find('version') ?? versions[0];
  const against =
    params.get('against') === 'none' ? undefined : (find('against') ?? previous(versions, shown));
  const choose = (key: 'version' | 'against', value: string): void =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        next.set(key, value);
        return next;
      },
      { replace: true },
    );

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
      cell: (row) => (row.commit ? <Commit sha={row.commit} /> : <span className="muted">ui</span>),
    },
    {
      key: 'changelog',
      title: 'What changed',
      priority: 2,
      cell: (row) => row.commitMessage ?? row.changelog ?? '',
    },
    {
      key: 'author',
      title: 'Author',
      width: '170px',
      priority: 3,
      sort: (row) => row.commitAuthor ?? row.createdByName,
      cell: (row) => row.commitAuthor ?? row.createdByName ?? <span className="muted">unknown</span>,
    },
    {
      key: 'at',
      title: 'When',
      width: '104px',
      align: 'end',
      sort: (row) => row.createdAt.getTime(),
      cell: (row) => <Time at={row.createdAt} />,
    },
  ];

  return (
    <div className="stack">
      <DataTable
        caption="Versions"
        noun="version"
        rows={versions}
        columns={columns}
        rowKey={(row) => row.id}
        defaultSort="-version"
        paramPrefix="versions-"
      />
      {shown && <VersionText shown={shown} against={against} versions={versions} choose={choose} />}
    </div>
  );
};

const previous = (
  versions: VersionSummary[],
  shown: VersionSummary | undefined,
): VersionSummary | undefined =>
  versions.find(({ version }) => shown !== undefined && version < shown.version);

interface TextProps {
  shown: VersionSummary;
  against: VersionSummary | undefined;
  versions: VersionSummary[];
  choose: (key: 'version' | 'against', value: string) => void;
}

const VersionText = ({ shown, against, versions, choose }: TextProps) => {
  const layout = usePreference('diff') === 'split' ? 'split' : 'unified';
  const after = useQuery(queries.version(shown.id));
  const before = useQuery({ ...queries.version(against?.id ?? ''), enabled: against !== undefined });
  const failed = [after, before].find((query) => query.isError);
  return (
    <Section
      title={against ? `v${against.version} → v${shown.version}` : `v${shown.version}`}
      beside={
        <span className="toolbar">
          <label>
            Version
            <select value={shown.version} onChange={(event) => choose('version', event.target.value)}>
              {versions.map((each) => (
                <option key={each.id} value={each.version}>
                  v{each.version}, {formatExact(each.createdAt)}
                </option>
              ))}
            </select>
          </label>
          <label>
            Compare with
            <select
              value={against?.version ?? 'none'}
              onChange={(event) => choose('against', event.target.value)}
            >
              <option value="none">nothing</option>
              {versions
                .filter(({ id }) => id !== shown.id)
                .map((each) => (
                  <option key={each.id} value={each.version}>
                    v{each.version}
                  </option>
                ))}
            </select>
          </label>
          {against && (
            <Segmented
              label="Layout"
              value={layout}
              options={LAYOUTS}
              onChange={(value) => writePreference('diff', value)}
            />
          )}
        </span>
      }
    >
      {failed && <ErrorState error={failed.error} retry={() => void failed.refetch()} what="The version" />}
      <Suspense fallback={<SkeletonBlock height={240} />}>
        {!failed && (!after.data || (against && !before.data)) && <SkeletonBlock height={240} />}
        {after.data && !against && (
          <YamlView text={after.data.configYaml} label={`Configuration of version ${shown.version}`} />
        )}
        {after.data && against && before.data && (
          <YamlDiff
            before={before.data.configYaml}
            after={after.data.configYaml}
            beforeLabel={`Version ${against.version}`}
            afterLabel={`Version ${shown.version}`}
            layout={layout}
          />
        )}
      </Suspense>
    </Section>
  );
};
