/**
 * The table of every list. Sort and filter live in the address; `j` and `k` walk the rows, Enter opens one,
 * `/` goes to the filter. From 200 rows only those in sight are in the document.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useAddress } from '../app/address.ts';
import { useHotkeys } from '../app/hotkeys.ts';
import { plural } from './format.ts';
import { Icon } from './icons.tsx';
import { useShownColumns } from './table-columns.tsx';
import { TableHead } from './table-head.tsx';
import { Row } from './table-row.tsx';
import { sortRows } from './table-sort.ts';

export interface Column<R> {
  key: string;
  title: string;
  /** CSS width; the rest is shared out. */
  width?: string;
  align?: 'end';
  /** 1 is always shown, 2 from 700 px of page width, 3 from 1100 px. */
  priority?: 1 | 2 | 3;
  /** Makes the column sortable. Null sorts last either way. */
  sort?: (row: R) => string | number | null;
  cell: (row: R) => ReactNode;
}

interface Props<R> {
  /** Says what the rows are, for screen readers and the filter's label. */
  caption: string;
  rows: readonly R[];
  columns: readonly Column<R>[];
  rowKey: (row: R) => string;
  /** Makes the first cell a link. */
  rowHref?: (row: R) => string;
  /** Gives the table a filter box. */
  filterText?: (row: R) => string;
  /** A column's key, with `-` in front for descending. */
  defaultSort: string;
  /** Set apart when a page has several tables. */
  paramPrefix?: string;
  /** One noun for the count: `pipeline`. */
  noun: string;
  toolbar?: ReactNode;
  /** The table's name among those whose hidden columns are remembered; gives it a menu of columns. */
  remember?: string;
  /** Gives each row a box; `x` ticks the row that has the focus. */
  selection?: Selection<R>;
}

export interface Selection<R> {
  /** Keys of rows. */
  chosen: ReadonlySet<string>;
  change: (chosen: ReadonlySet<string>) => void;
  nameOf: (row: R) => string;
  /** What can be done with the chosen ones; stands above the table while there are any. */
  actions: (rows: readonly R[]) => ReactNode;
}

const VIRTUAL_FROM = 200;
const ROW_PX = 36;

export function DataTable<R>(props: Props<R>) {
  const { caption, rows, rowKey, rowHref, filterText, noun, selection } = props;
  const { shown: columns, menu: columnMenu } = useShownColumns(props.remember, props.columns);
  const [params, changeAddress] = useAddress();
  const filterBox = useRef<HTMLInputElement>(null);
  const prefix = props.paramPrefix ?? '';
  const sortParam = params.get(`${prefix}sort`) ?? props.defaultSort;
  const wantedFilter = params.get(`${prefix}q`) ?? '';
  // The address follows what is typed a moment later; an input bound to it would lose letters.
  const [filter, setFilter] = useState(wantedFilter);
  useEffect(() => {
    if (document.activeElement !== filterBox.current) setFilter(wantedFilter);
  }, [wantedFilter]);
  const body = useRef<HTMLTableSectionElement>(null);

  const setParam = (key: string, value: string, fallback: string): void =>
    changeAddress(
      (next) => {
        if (value === fallback) next.delete(prefix + key);
        else next.set(prefix + key, value);
      },
      { replace: true },
    );

  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = filterText
      ? rows.filter((row) => {
          const text = filterText(row).toLowerCase();
          return words.every((word) => text.includes(word));
        })
      : rows;
    return sortRows(kept, props.columns, sortParam);
  }, [rows, props.columns, filter, filterText, sortParam]);

  const virtual = shown.length >= VIRTUAL_FROM;
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setOffset(body.current.getBoundingClientRect().top + window.scrollY);
  }, []);
  const virtualizer = useWindowVirtualizer({
    count: virtual ? shown.length : 0,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollMargin: offset,
  });
  const items = virtualizer.getVirtualItems();
  const first = virtual ? (items[0]?.index ?? 0) : 0;
  const last = virtual ? (items.at(-1)?.index ?? Math.min(40, shown.length - 1)) : shown.length - 1;

  const walk = (step: number): void => {
    const active = document.activeElement?.closest<HTMLElement>('tr[data-index]');
    const from =
      active && body.current?.contains(active) ? Number(active.dataset.index) : step > 0 ? -1 : shown.length;
    const to = Math.min(Math.max(from + step, 0), shown.length - 1);
    if (virtual) virtualizer.scrollToIndex(to);
    const focus = (): void => {
      const row = body.current?.querySelector<HTMLElement>(`tr[data-index="${to}"]`);
      (
        row?.querySelector<HTMLElement>('a.row-link') ?? row?.querySelector<HTMLElement>('a, button')
      )?.focus();
    };
    if (virtual) requestAnimationFrame(focus);
    else focus();
  };
  const { chosen, change } = selection ?? {};
  const tick = useCallback(
    (key: string): void => change?.(chosen?.has(key) ? without(chosen, key) : new Set(chosen).add(key)),
    [chosen, change],
  );
  const tickFocused = (): void => {
    const active = document.activeElement?.closest<HTMLElement>('tr[data-index]');
    const row = active && body.current?.contains(active) ? shown[Number(active.dataset.index)] : undefined;
    if (row) tick(rowKey(row));
  };
  useHotkeys(
    prefix === ''
      ? {
          j: () => walk(1),
          k: () => walk(-1),
          '/': () => filterBox.current?.focus(),
          ...(selection ? { x: tickFocused } : {}),
        }
      : {},
  );
  // A row that was deleted, or filtered out, is not acted on.
  const picked = selection ? shown.filter((row) => selection.chosen.has(rowKey(row))) : [];
  const allPicked = shown.length > 0 && picked.length === shown.length;

  return (
    <div className="table-frame">
      {(filterText || props.toolbar || columnMenu) && (
        <div className="table-bar">
          {filterText && (
            <label className="filter">
              <span className="sr-only">Filter {caption.toLowerCase()}</span>
              <Icon name="search" size={14} />
              <input
                ref={filterBox}
                type="search"
                value={filter}
                placeholder="Filter"
                onChange={(event) => {
                  setFilter(event.target.value);
                  setParam('q', event.target.value, '');
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Escape') event.currentTarget.blur();
                }}
              />
              <span className="kbd" aria-hidden="true">
                /
              </span>
            </label>
          )}
          {props.toolbar}
          <span className="table-count" role="status">
            {shown.length === rows.length
              ? plural(rows.length, noun)
              : `${shown.length} of ${plural(rows.length, noun)}`}
          </span>
          {columnMenu}
        </div>
      )}
      {selection && picked.length > 0 && (
        <section className="table-bar chosen-bar" aria-label={`Chosen ${caption.toLowerCase()}`}>
          <span className="chosen-count" role="status">
            {plural(picked.length, noun)} chosen
          </span>
          {selection.actions(picked)}
          <button
            type="button"
            className="button"
            data-size="small"
            onClick={() => selection.change(new Set())}
          >
            Choose none
          </button>
        </section>
      )}
      <table
        className="table"
        data-virtual={virtual || undefined}
        aria-rowcount={virtual ? shown.length + 1 : undefined}
      >
        <caption className="sr-only">{caption}</caption>
        <TableHead
          columns={columns}
          sort={sortParam}
          setSort={(value) => setParam('sort', value, props.defaultSort)}
          tick={
            selection && {
              label: `Choose all ${caption.toLowerCase()}`,
              state: allPicked ? 'all' : picked.length > 0 ? 'some' : 'none',
              onChange: () => selection.change(allPicked ? new Set() : new Set(shown.map(rowKey))),
            }
          }
        />
        <tbody ref={body}>
          {first > 0 && <tr style={{ height: first * ROW_PX }} />}
          {shown.slice(first, last + 1).map((row, step) => (
            <Row
              key={rowKey(row)}
              row={row}
              columns={columns}
              index={first + step}
              counted={virtual}
              href={rowHref?.(row)}
              id={rowKey(row)}
              tickLabel={selection && `Choose ${selection.nameOf(row)}`}
              chosen={selection?.chosen.has(rowKey(row))}
              onTick={tick}
            />
          ))}
          {last < shown.length - 1 && <tr style={{ height: (shown.length - 1 - last) * ROW_PX }} />}
          {shown.length === 0 && (
            <tr>
              <td colSpan={columns.length + (selection ? 1 : 0)} className="muted">
                {filter ? `No ${noun} matches “${filter}”.` : `No ${noun} here.`}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function without(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const rest = new Set(keys);
  rest.delete(key);
  return rest;
}
