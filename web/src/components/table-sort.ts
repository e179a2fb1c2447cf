interface SortableColumn<R> {
  key: string;
  sort?: (row: R) => string | number | null;
}

/** A column's key, with `-` in front for descending; null sorts last either way. Rows stay as they are by any other key. */
export function sortRows<R>(
  rows: readonly R[],
  columns: readonly SortableColumn<R>[],
  param: string,
): readonly R[] {
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
