import { Checkbox } from '@mantine/core';
import type { CSSProperties } from 'react';
import type { Column } from './column.ts';
import type { TableModel } from './table-model.ts';

interface Props<R extends object> {
  table: TableModel<R>;
  columns: readonly Column<R>[];
  /** Of the box for all rows; absent where rows are not selected. */
  tickLabel: string | undefined;
}

const ORDER = {
  asc: { word: 'ascending', mark: '↑' },
  desc: { word: 'descending', mark: '↓' },
} as const;

export const TableHead = <R extends object>({ table, columns, tickLabel }: Props<R>) => (
  <thead>
    <tr>
      {tickLabel && (
        <th scope="col" className="tick">
          <Checkbox
            aria-label={tickLabel}
            checked={table.getIsAllRowsSelected()}
            indeterminate={table.getIsSomeRowsSelected()}
            onChange={() => table.toggleAllRowsSelected()}
          />
        </th>
      )}
      {columns.map((column) => {
        const head = table.getColumn(column.key);
        const order = head?.getIsSorted();
        return (
          <th
            key={column.key}
            scope="col"
            data-align={column.align}
            data-priority={column.priority}
            data-share={column.width?.endsWith('%') || undefined}
            style={{ '--column': column.width } as CSSProperties}
            aria-sort={order ? ORDER[order].word : undefined}
          >
            {head?.getCanSort() ? (
              <button type="button" onClick={() => head.toggleSorting()}>
                {column.title}
                <span className="sort-mark" aria-hidden="true">
                  {order && ORDER[order].mark}
                </span>
              </button>
            ) : (
              column.title
            )}
          </th>
        );
      })}
    </tr>
  </thead>
);
