/** All events of the environment, the newest first. */
import { Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { AlertEvent } from '../../../../../schemas/api/insight/alerts.ts';
import { alertQueries } from '../../../api/queries/alerts.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { EmptyState, InlineError, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { useNow } from '../../../ui/text/clock.ts';
import { amountText } from '../rule-text.ts';
import { EventBadge } from './event-badge.tsx';
import { EventSubject } from './event-subject.tsx';
import { lastedText } from './event-text.ts';
import { HistoryFilterBar, useHistoryFilters } from './history-filters.tsx';

const COLUMNS: Column<AlertEvent>[] = [
  {
    key: 'message',
    title: 'What happened',
    cell: (event) => <span data-tip={event.message}>{event.message}</span>,
  },
  {
    key: 'state',
    title: 'Status',
    width: '148px',
    cell: (event) => (
      <span className="alert-state">
        <EventBadge event={event} />
      </span>
    ),
  },
  {
    key: 'rule',
    title: 'Rule',
    width: '17%',
    priority: 2,
    cell: ({ ruleName }) => <span data-tip={ruleName}>{ruleName}</span>,
  },
  {
    key: 'on',
    title: 'Node or pipeline',
    width: '17%',
    priority: 2,
    cell: (event) => <EventSubject event={event} />,
  },
  {
    key: 'peak',
    title: 'Peak',
    width: '88px',
    align: 'end',
    priority: 3,
    cell: ({ metric, peak }) => (
      <span className="mono">{(peak !== null && amountText(metric, peak, 2)) || '–'}</span>
    ),
  },
  momentColumn({ key: 'opened', title: 'Fired', width: '104px', at: (event) => event.openedAt }),
  { key: 'lasted', title: 'Lasted', width: '108px', align: 'end', cell: (event) => <Lasted event={event} /> },
];

const Lasted = ({ event }: { event: AlertEvent }) => {
  const now = useNow();
  return (
    <span className="nowrap" data-tip={event.resolvedReason ?? undefined}>
      {lastedText(event, now)}
    </span>
  );
};

export const HistoryTab = () => {
  const { environment } = usePlace();
  const filters = useHistoryFilters();
  const history = useInfiniteQuery(alertQueries.history(environment.id, filters.filter));
  return (
    <Loaded
      query={history}
      what="The history of alerts"
      skeleton={<SkeletonRows rows={10} label="Loading the history of alerts" />}
    >
      {({ pages }) => {
        const events = pages.flatMap((page) => page.events);
        if (events.length === 0 && !filters.isFiltered) return <NoEvents />;
        return (
          <Stack gap="md" align="stretch">
            <DataTable
              caption="Alerts, newest first"
              noun="alert"
              rows={events}
              columns={COLUMNS}
              rowKey={(event) => event.id}
              rowHref={(event) => paths.alerts(environment.id, { event: event.id })}
              defaultSort="-opened"
              remember="alert-history"
              toolbar={<HistoryFilterBar {...filters} />}
            />
            {history.isFetchNextPageError && <InlineError error={history.error} />}
            {history.hasNextPage && (
              <div>
                <Button disabled={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
                  {history.isFetchingNextPage ? 'Loading…' : 'Load more'}
                </Button>
              </div>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
};

const NoEvents = () => (
  <EmptyState icon="alerts" title="No alert has fired yet">
    <p>Whatever fires here stays in this list for 13 months, with its timeline.</p>
  </EmptyState>
);
