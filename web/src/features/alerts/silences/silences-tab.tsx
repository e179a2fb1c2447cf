import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { Link } from 'react-router';
import type { AlertSilence } from '../../../../../schemas/api/insight/alerts.ts';
import { alertQueries } from '../../../api/queries/alerts.ts';
import { paths } from '../../../app/paths.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { useAddressParam } from '../../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import type { IconName } from '../../../ui/primitives/icons.tsx';
import { Labels } from '../../../ui/primitives/labels.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { useUiEdits } from '../../ownership/git-edits.tsx';
import { ManifestProblems, OwnerCell } from '../../ownership/manifest-owner.tsx';
import type { SilenceAction } from './silence-dialogs.tsx';

const STATUSES: Readonly<
  Record<AlertSilence['status'], { tone: Tone; icon: IconName; word: string; rank: number }>
> = {
  active: { tone: 'held', icon: 'held', word: 'Active', rank: 0 },
  scheduled: { tone: 'moving', icon: 'moving', word: 'Scheduled', rank: 1 },
  ended: { tone: 'unknown', icon: 'dash', word: 'Ended', rank: 2 },
};

const FILTERS = [
  { value: '', word: 'All' },
  { value: 'active', word: 'Active' },
  { value: 'scheduled', word: 'Scheduled' },
  { value: 'ended', word: 'Ended' },
] as const;

const StatusBadge = ({ status }: Pick<AlertSilence, 'status'>) => {
  const { tone, icon, word } = STATUSES[status];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
};

type Act = (action: SilenceAction) => void;

const columns = (env: string, mayNot: string | null, act: Act): Column<AlertSilence>[] => [
  {
    key: 'reason',
    title: 'Reason',
    width: '20%',
    sort: (row) => row.reason,
    cell: (row) => <span data-tip={row.reason}>{row.reason}</span>,
  },
  {
    key: 'labels',
    title: 'Labels',
    cell: (row) => (
      <span className="alert-matchers">
        <Labels labels={row.matchers} limit={4} />
      </span>
    ),
  },
  {
    key: 'status',
    title: 'Status',
    width: '124px',
    priority: 2,
    sort: (row) => STATUSES[row.status].rank,
    cell: (row) => <StatusBadge status={row.status} />,
  },
  {
    key: 'muted',
    title: 'Muted now',
    width: '96px',
    align: 'end',
    priority: 2,
    sort: (row) => row.muted,
    cell: (row) =>
      row.muted > 0 ? (
        <Link to={paths.alerts(env)} className="mono">
          {row.muted}
        </Link>
      ) : (
        <span className="mono muted">0</span>
      ),
  },
  momentColumn({ key: 'starts', title: 'Begins', width: '98px', priority: 3, at: (row) => row.startsAt }),
  momentColumn({ key: 'ends', title: 'Ends', width: '98px', at: (row) => row.endsAt }),
  {
    key: 'owner',
    title: 'Made by',
    width: '16%',
    priority: 3,
    sort: (row) => row.createdBy ?? row.git?.path ?? null,
    cell: (row) => <Maker env={env} silence={row} />,
  },
  {
    key: 'actions',
    title: 'Actions',
    width: '100px',
    align: 'end',
    cell: (row) => <SilenceActions env={env} silence={row} mayNot={mayNot} act={act} />,
  },
];

const Maker = ({ env, silence }: { env: string; silence: AlertSilence }): ReactNode =>
  silence.git ? (
    <OwnerCell env={env} owned={{ name: silence.name, git: silence.git }} short />
  ) : (
    <span data-tip={silence.createdBy ?? undefined}>{silence.createdBy ?? 'a service account'}</span>
  );

interface ActionProps {
  env: string;
  silence: AlertSilence;
  mayNot: string | null;
  act: Act;
}

const SilenceActions = ({ env, silence, mayNot, act }: ActionProps) => {
  const { git, status, reason } = silence;
  const edits = useUiEdits(git !== null);
  if (git && edits === 'refuse') {
    const place = `${git.path}:${git.line}`;
    return (
      <Link
        to={paths.git(env, { focus: git.path })}
        className="in-git"
        aria-label={`In git at ${place}`}
        data-tip={`Described at ${place}: change endsAt there`}
      >
        in git
      </Link>
    );
  }
  if (status === 'ended') return <span className="muted">–</span>;
  return (
    <Button
      size="small"
      disabled={mayNot !== null}
      tip={mayNot ?? undefined}
      aria-label={`End now: ${reason}`}
      onClick={() => act({ kind: 'end-silence', silence })}
    >
      End now
    </Button>
  );
};

export const SilencesTab = ({ act }: { act: Act }) => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const [status, setStatus] = useAddressParam('state');
  const [pointed, setPointed] = useAddressParam('silence');
  const silences = useQuery(alertQueries.silences(env));
  const mayNot = whyNot(team.role, 'EDITOR');
  const shownColumns = useMemo(() => columns(env, mayNot, act), [env, mayNot, act]);
  return (
    <Stack gap="md">
      <ManifestProblems
        environmentId={env}
        kind="Silence"
        owned={(silences.data ?? []).map(({ name, git }) => ({ name, git }))}
      />
      <Loaded query={silences} what="Silences" skeleton={<SkeletonRows rows={6} label="Loading silences" />}>
        {(list) =>
          list.length === 0 ? (
            <NoSilences mayNot={mayNot} act={act} />
          ) : (
            <DataTable
              caption="Silences"
              noun="silence"
              rows={list.filter((row) => (pointed ? row.id === pointed : !status || row.status === status))}
              columns={shownColumns}
              rowKey={(row) => row.id}
              filterText={(row) => `${row.reason} ${Object.entries(row.matchers).flat().join(' ')}`}
              defaultSort="status"
              remember="silences"
              toolbar={
                pointed ? (
                  <Button size="small" icon="cross" onClick={() => setPointed('')}>
                    Show all silences
                  </Button>
                ) : (
                  <SegmentedControl label="Status" value={status} options={FILTERS} onChange={setStatus} />
                )
              }
            />
          )
        }
      </Loaded>
    </Stack>
  );
};

const NoSilences = ({ mayNot, act }: { mayNot: string | null; act: Act }) => (
  <EmptyState icon="held" title="Nothing is silenced">
    <p>
      A silence mutes the alerts that carry its labels, until its end: for planned work, or for what is known.
      Muted alerts stay in the list and are not sent. Nodes in maintenance are muted by themselves.
    </p>
    <Button
      icon="plus"
      disabled={mayNot !== null}
      tip={mayNot ?? undefined}
      onClick={() => act({ kind: 'new-silence', matchers: {} })}
    >
      New silence
    </Button>
  </EmptyState>
);
