/** Rows as they are shown: filtered, sorted and selected by TanStack Table; sort and filter stand in the search parameters. */
import {
  columnFilteringFeature,
  columnVisibilityFeature,
  createFilteredRowModel,
  createSortedRowModel,
  globalFilteringFeature,
  type ReactTable,
  rowSelectionFeature,
  rowSortingFeature,
  type Row as TableRow,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useMemo } from 'react';
import type { Column, DataTableProps } from './column.ts';

const features = tableFeatures({
  columnFilteringFeature,
  columnVisibilityFeature,
  filteredRowModel: createFilteredRowModel(),
  globalFilteringFeature,
  rowSelectionFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});

export type TableModel<R extends object> = ReactTable<typeof features, R>;
export type ModelRow<R extends object> = TableRow<typeof features, R>;

interface Options<R extends object>
  extends Pick<DataTableProps<R>, 'rows' | 'columns' | 'rowKey' | 'filterText' | 'selection'> {
  sort: string;
  setSort: (sort: string) => void;
  filter: string;
  hidden: ReadonlySet<string>;
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (typeof a === 'string' && typeof b === 'string') return a.localeCompare(b);
  return (a as number) < (b as number) ? -1 : 1;
}

interface Values {
  getValue: (column: string) => unknown;
}

const definition = <R extends object>(column: Column<R>, index: number) => ({
  id: column.key,
  header: column.title,
  accessorFn: (row: R) => column.sort?.(row) ?? undefined,
  enableSorting: column.sort !== undefined,
  enableHiding: index > 0,
  sortUndefined: 'last' as const,
  sortFn: (a: Values, b: Values, id: string) => compare(a.getValue(id), b.getValue(id)),
});

export function useTableModel<R extends object>(options: Options<R>): TableModel<R> {
  const { columns, sort, hidden, selection, filterText } = options;
  const definitions = useMemo(() => columns.map(definition), [columns]);
  const sorting = useMemo(() => [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }], [sort]);
  const columnVisibility = useMemo(
    () => Object.fromEntries([...hidden].map((key) => [key, false])),
    [hidden],
  );
  const chosen = selection?.chosen;
  const rowSelection = useMemo(
    () => Object.fromEntries([...(chosen ?? [])].map((key) => [key, true as const])),
    [chosen],
  );
  return useTable({
    features,
    data: options.rows as R[],
    columns: definitions,
    getRowId: options.rowKey,
    state: {
      sorting: sorting.filter(({ id }) => columns.some(({ key, sort: by }) => key === id && by)),
      columnVisibility,
      rowSelection,
      globalFilter: filterText ? options.filter : undefined,
    },
    getColumnCanGlobalFilter: (column) => column.id === columns[0]?.key,
    globalFilterFn: (row: { original: R }, _column: string, filter: string) => {
      const text = filterText?.(row.original).toLowerCase() ?? '';
      return filter
        .toLowerCase()
        .split(/\s+/)
        .every((word) => text.includes(word));
    },
    sortDescFirst: false,
    enableSortingRemoval: false,
    enableMultiSort: false,
    onSortingChange: (change) => {
      const [next] = typeof change === 'function' ? change(sorting) : change;
      if (next) options.setSort(`${next.desc ? '-' : ''}${next.id}`);
    },
    onRowSelectionChange: (change) => {
      const next = typeof change === 'function' ? change(rowSelection) : change;
      selection?.change(new Set(Object.keys(next).filter((key) => next[key])));
    },
  }) as unknown as TableModel<R>;
}
