/**
 * The table of every list. Sort and filter live in the search parameters; `j` and `k` walk the rows, Enter opens one,
 * `/` goes to the filter. From 200 rows only those in sight are in the document.
 */
import { useRef } from 'react';
import { useHotkeys } from '../../app/hotkeys.ts';
import { useAddress } from '../../app/search-params.ts';
import { SearchInput } from '../form/search-input.tsx';
import { plural } from '../text/format.ts';
import type { DataTableProps } from './column.ts';
import { ROW_PX, useRowWindow } from './row-window.ts';
import { SelectionBar } from './selection-bar.tsx';
import { ColumnMenu, useHiddenColumns } from './table-columns.tsx';
import { TableHead } from './table-head.tsx';
import { useTableModel } from './table-model.ts';
import { Row } from './table-row.tsx';

export type { Column, Selection } from './column.ts';

/** Filter and sort as the search parameters have them. */
function useTableParams(prefix: string, defaultSort: string) {
  const [params, changeAddress] = useAddress();
  const setParam = (key: string, value: string, fallback: string): void =>
    changeAddress(
      (next) => {
        if (value === fallback) next.delete(prefix + key);
        else next.set(prefix + key, value);
      },
      { replace: true },
    );
  return {
    filter: params.get(`${prefix}q`) ?? '',
    setFilter: (value: string): void => setParam('q', value, ''),
    sort: params.get(`${prefix}sort`) ?? defaultSort,
    setSort: (value: string): void => setParam('sort', value, defaultSort),
  };
}

export function DataTable<R extends object>(props: DataTableProps<R>) {
  const { caption, rows, rowHref, filterText, noun, selection, remember, paramPrefix = '' } = props;
  const filterBox = useRef<HTMLInputElement>(null);
  const { filter, setFilter, ...sorting } = useTableParams(paramPrefix, props.defaultSort);
  const hidden = useHiddenColumns(remember);
  const table = useTableModel({ ...props, ...sorting, filter: filter.trim(), hidden });
  const shown = table.getRowModel().rows;
  const columns = props.columns.filter(({ key }, place) => place === 0 || !hidden.has(key));
  const { body, isVirtual, first, last, focusedIndex, focusNext } = useRowWindow(shown.length);
  useHotkeys(
    paramPrefix === ''
      ? {
          j: () => focusNext(1),
          k: () => focusNext(-1),
          '/': () => filterBox.current?.focus(),
          ...(selection ? { x: () => shown[focusedIndex() ?? -1]?.toggleSelected() } : {}),
        }
      : {},
  );
  // A row that was deleted or filtered out is not acted on.
  const selected = selection ? shown.filter((row) => row.getIsSelected()) : [];

  return (
    <div className="table-frame">
      {(filterText || props.toolbar || remember) && (
        <div className="table-bar">
          {filterText && (
            <SearchInput
              box={filterBox}
              label={`Filter ${caption.toLowerCase()}`}
              placeholder="Filter"
              shortcut={paramPrefix === '' ? '/' : undefined}
              value={filter}
              onChange={setFilter}
            />
          )}
          {props.toolbar}
          <span className="table-count" role="status">
            {shown.length === rows.length
              ? plural(rows.length, noun)
              : `${shown.length} of ${plural(rows.length, noun)}`}
          </span>
          {remember && <ColumnMenu name={remember} columns={props.columns} hidden={hidden} />}
        </div>
      )}
      {selection && selected.length > 0 && (
        <SelectionBar
          rows={selected.map(({ original }) => original)}
          caption={caption}
          noun={noun}
          selection={selection}
          clear={() => selection.change(new Set())}
        />
      )}
      <table
        className="table"
        data-virtual={isVirtual || undefined}
        aria-rowcount={isVirtual ? shown.length + 1 : undefined}
      >
        <caption className="sr-only">{caption}</caption>
        <TableHead
          table={table}
          columns={columns}
          tickLabel={selection && `Select all ${caption.toLowerCase()}`}
        />
        <tbody ref={body}>
          {first > 0 && <tr style={{ height: first * ROW_PX }} />}
          {shown.slice(first, last + 1).map((row, step) => (
            <Row
              key={row.id}
              row={row}
              columns={columns}
              index={first + step}
              isVirtual={isVirtual}
              href={rowHref?.(row.original)}
              tickLabel={selection && `Select ${selection.nameOf(row.original)}`}
              isSelected={row.getIsSelected()}
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
