/**
 * The table of every list. Sort and filter live in the address; `j` and `k` walk the rows, Enter opens one,
 * `/` goes to the filter. From 200 rows only those in sight are in the document.
 */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  memo,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Link, useSearchParams } from 'react-router';
import { useHotkeys } from '../app/hotkeys.ts';
import { plural } from './format.ts';
import { Icon } from './icons.tsx';

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
}

const VIRTUAL_FROM = 200;
const ROW_PX = 36;

export function DataTable<R>(props: Props<R>) {
  const { caption, rows, columns, rowKey, rowHref, filterText, noun } = props;
  const [params, setParams] = useSearchParams();
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
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === fallback) next.delete(prefix + key);
        else next.set(prefix + key, value);
        return next;
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
    return sortRows(kept, columns, sortParam);
  }, [rows, columns, filter, filterText, sortParam]);

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
  useHotkeys(
    prefix === '' ? { j: () => walk(1), k: () => walk(-1), '/': () => filterBox.current?.focus() } : {},
  );

  const sortKey = sortParam.replace(/^-/, '');
  return (
    <div className="table-frame">
      {(filterText || props.toolbar) && (
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
        </div>
      )}
      <table
        className="table"
        data-virtual={virtual || undefined}
        aria-rowcount={virtual ? shown.length + 1 : undefined}
      >
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                data-align={column.align}
                data-priority={column.priority}
                style={{ '--column': column.width } as CSSProperties}
                aria-sort={
                  column.key === sortKey
                    ? sortParam.startsWith('-')
                      ? 'descending'
                      : 'ascending'
                    : undefined
                }
              >
                {column.sort ? (
                  <button
                    type="button"
                    onClick={() =>
                      setParam(
                        'sort',
                        sortParam === column.key ? `-${column.key}` : column.key,
                        props.defaultSort,
                      )
                    }
                  >
                    {column.title}
                    <span className="sort-mark" aria-hidden="true">
                      {column.key === sortKey ? (sortParam.startsWith('-') ? '↓' : '↑') : ''}
                    </span>
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
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
            />
          ))}
          {last < shown.length - 1 && <tr style={{ height: (shown.length - 1 - last) * ROW_PX }} />}
          {shown.length === 0 && (
            <tr>
              <td colSpan={columns.length} className="muted">
                {filter ? `No ${noun} matches “${filter}”.` : `No ${noun} here.`}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<R> {
  row: R;
  columns: readonly Column<R>[];
  index: number;
  /** The document holds only some rows, so each must tell its number. */
  counted: boolean;
  href: string | undefined;
}

function PlainRow<R>({ row, columns, index, counted, href }: RowProps<R>) {
  return (
    <tr
      data-index={index}
      aria-rowindex={counted ? index + 2 : undefined}
      data-linked={href ? true : undefined}
    >
      {columns.map((column, place) => (
        <td key={column.key} data-align={column.align} data-priority={column.priority}>
          {place === 0 && href ? (
            <Link className="row-link" to={href}>
              {column.cell(row)}
            </Link>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

/** Scrolling moves rows; those that stay in sight are not drawn again. `memo` alone would lose the type parameter. */
const Row = memo(PlainRow) as typeof PlainRow;

function sortRows<R>(rows: readonly R[], columns: readonly Column<R>[], param: string): readonly R[] {
  const descending = param.startsWith('-');
  const value = columns.find((column) => column.key === param.replace(/^-/, ''))?.sort;
  if (!value) return rows;
  const sign = descending ? -1 : 1;
  return rows
    .map((row) => ({ row, by: value(row) }))
    .sort((a, b) => {
      if (a.by === b.by) return 0;
      if (a.by === null) return 1;
      if (b.by === null) return -1;
      if (typeof a.by === 'string' && typeof b.by === 'string') return sign * a.by.localeCompare(b.by);
      return sign * (a.by < b.by ? -1 : 1);
    })
    .map(({ row }) => row);
}
