/** The audit log: who did what, when, to what and from where. */
import './audit.css';
import { useMediaQuery } from '@mantine/hooks';
import { type CSSProperties, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'react-router';
import { EXPORT_LIMIT } from '../../../../schemas/api/insight/audit.ts';
import { useHotkeys } from '../../app/hotkeys.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, InlineError, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button, ButtonAnchor } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { plural } from '../../ui/text/format.ts';
import { useEvents } from './event-query.ts';
import { EventRow } from './event-row.tsx';
import { FilterBar } from './filter-bar.tsx';
import { exportHref, filterOf, isFiltered, useFilters } from './filters.ts';

const COLUMNS = [
  { title: 'When', width: '132px' },
  { title: 'Who', width: '22%' },
  { title: 'What was done' },
  { title: 'Where', width: '15%', priority: 2 },
  { title: 'Address', width: '140px', priority: 3 },
] as const;

/** How many of them are shown, as the style sheet has it: a cell that spans more makes columns of its own. */
function useColumnCount(): number {
  const most = useMediaQuery('(max-width: 1360px)', false, { getInitialValueInEffect: false });
  const few = useMediaQuery('(max-width: 860px)', false, { getInitialValueInEffect: false });
  const hidden = few ? 2 : most ? 3 : 4;
  return COLUMNS.filter((column) => !('priority' in column) || column.priority < hidden).length;
}

/** In the address: the filters, and `at`, the number of an event that is pointed at. */
export const AuditPage = () => {
  const { team } = usePlace();
  const [filters, change, clear] = useFilters();
  const [at] = useAddressParam('at');
  const pointed = /^\d{1,15}$/.test(at) ? Number(at) : null;
  const filter = filterOf(filters, team.id);
  const events = useEvents(filter, pointed === null ? null : pointed + 1);
  const searchBox = useRef<HTMLInputElement>(null);
  const table = useRef<HTMLTableElement>(null);
  const link = useEventLink();
  const [open, toggle] = useOpen(pointed);
  const columns = useColumnCount();

  const walk = (step: number): void => {
    const rows = [...(table.current?.querySelectorAll<HTMLElement>('.audit-toggle') ?? [])];
    const from = rows.findIndex((row) => row.closest('tr')?.contains(document.activeElement));
    const to = from === -1 ? (step > 0 ? 0 : rows.length - 1) : from + step;
    rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus();
  };
  useHotkeys({ j: () => walk(1), k: () => walk(-1), '/': () => searchBox.current?.focus() });

  const shown = events.data?.pages.flatMap(({ entries }) => entries) ?? [];
  return (
    <Page
      title="Audit"
      actions={
        <>
          <ExportLink href={exportHref(filter, 'csv')}>Export CSV</ExportLink>
          <ExportLink href={exportHref(filter, 'ndjson')}>Export NDJSON</ExportLink>
        </>
      }
    >
      <div className="table-frame audit">
        <FilterBar filters={filters} change={change} clear={clear} searchBox={searchBox} />
        {pointed !== null && (
          <p className="table-bar audit-pointed">
            From event #{pointed} on, into the past. <Link to={link(null)}>Show the newest</Link>
          </p>
        )}
        <Loaded
          query={events}
          what="The audit log"
          skeleton={<SkeletonRows rows={16} label="Loading the audit log" />}
        >
          {() => (
            <>
              {shown.length > 0 && (
                <table ref={table} className="table">
                  <caption className="sr-only">Events, newest first</caption>
                  <thead>
                    <tr>
                      {COLUMNS.map((column) => (
                        <th
                          key={column.title}
                          scope="col"
                          style={
                            'width' in column ? ({ '--column': column.width } as CSSProperties) : undefined
                          }
                          data-priority={'priority' in column ? column.priority : undefined}
                        >
                          {column.title}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {shown.map((event) => (
                      <EventRow
                        key={event.seq}
                        event={event}
                        open={open === event.seq}
                        toggle={toggle}
                        href={link(event.seq)}
                        columns={columns}
                      />
                    ))}
                  </tbody>
                </table>
              )}
              {shown.length === 0 && !events.hasNextPage && (
                <Nothing filtered={isFiltered(filters)} clear={clear} />
              )}
              <Further events={events} count={shown.length} />
            </>
          )}
        </Loaded>
      </div>
    </Page>
  );
};

/** One event is unfolded at a time; the one that the address points at is so from the beginning. */
function useOpen(pointed: number | null): [number | null, (seq: number) => void] {
  const [open, setOpen] = useState(pointed);
  useEffect(() => setOpen(pointed), [pointed]);
  const toggle = useCallback((seq: number) => setOpen((now) => (now === seq ? null : seq)), []);
  return [open, toggle];
}

/** The address of this very page that points at an event; at none, with null. */
function useEventLink(): (seq: number | null) => string {
  const { pathname, search } = useLocation();
  return (seq) => {
    const params = new URLSearchParams(search);
    if (seq === null) params.delete('at');
    else params.set('at', String(seq));
    return params.size > 0 ? `${pathname}?${params}` : pathname;
  };
}

const ExportLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <ButtonAnchor
    icon="download"
    href={href}
    download
    tip={`What the filters find, newest first, at most ${EXPORT_LIMIT.toLocaleString('en')} events. The audit log tells of it.`}
  >
    {children}
  </ButtonAnchor>
);

/** What comes next is read when the end comes into sight, unless nothing was found on the way: then by hand. */
const Further = ({ events, count }: { events: ReturnType<typeof useEvents>; count: number }) => {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage, data } = events;
  const end = useRef<HTMLDivElement>(null);
  const found = (data?.pages.at(-1)?.entries.length ?? 0) > 0;
  const auto = hasNextPage && !isFetchingNextPage && !isFetchNextPageError && found;
  useEffect(() => {
    if (!auto || !end.current) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) void fetchNextPage();
      },
      { rootMargin: '400px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [auto, fetchNextPage]);
  if (count === 0 && !hasNextPage) return null;
  return (
    <div ref={end} className="table-bar audit-further" role="status">
      {isFetchNextPageError && <InlineError error={error} />}
      {hasNextPage ? (
        <>
          {!found && (
            <span>
              {count === 0 ? 'Nothing was found yet' : 'Nothing more was found yet'}: only a part of the log
              is looked at each time.
            </span>
          )}
          <Button size="small" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFetchingNextPage ? 'Looking…' : 'Look further back'}
          </Button>
        </>
      ) : (
        <span className="muted">{plural(count, 'event')}: there is nothing older.</span>
      )}
    </div>
  );
};

const Nothing = ({ filtered, clear }: { filtered: boolean; clear: () => void }) =>
  filtered ? (
    <EmptyState icon="search" title="No event fits">
      <p>Nothing that you may see fits all of these filters.</p>
      <Button onClick={clear}>Clear the filters</Button>
    </EmptyState>
  ) : (
    <EmptyState icon="audit" title="Nothing happened yet">
      <p>
        Every change stands here a moment after it was made: by people, by service accounts, by git, by the
        directory. Who, what, when, from where, and what it was before.
      </p>
    </EmptyState>
  );
