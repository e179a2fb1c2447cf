import type { CSSProperties } from 'react';
import type { Column } from './data-table.tsx';
import { Tick, type TickProps } from './table-row.tsx';

interface Props<R> {
  columns: readonly Column<R>[];
  /** A column's key, with `-` in front for descending. */
  sort: string;
  setSort: (sort: string) => void;
  /** The box for all rows. */
  tick: TickProps | undefined;
}

export function TableHead<R>({ columns, sort, setSort, tick }: Props<R>) {
  const sortKey = sort.replace(/^-/, '');
  const isDescending = sort.startsWith('-');
  return (
    <thead>
      <tr>
        {tick && (
          <th scope="col" className="tick">
            <Tick {...tick} />
          </th>
        )}
        {columns.map((column) => (
          <th
            key={column.key}
            scope="col"
            data-align={column.align}
            data-priority={column.priority}
            data-share={column.width?.endsWith('%') || undefined}
            style={{ '--column': column.width } as CSSProperties}
            aria-sort={column.key === sortKey ? (isDescending ? 'descending' : 'ascending') : undefined}
          >
            {column.sort ? (
              <button
                type="button"
                onClick={() => setSort(sort === column.key ? `-${column.key}` : column.key)}
              >
                {column.title}
                <span className="sort-mark" aria-hidden="true">
                  {column.key === sortKey ? (isDescending ? '↓' : '↑') : ''}
                </span>
              </button>
            ) : (
              column.title
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}
