import type { ReactNode } from 'react';

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

export interface Selection<R> {
  /** Keys of rows. */
  chosen: ReadonlySet<string>;
  change: (chosen: ReadonlySet<string>) => void;
  nameOf: (row: R) => string;
  /** What can be done with the selected rows; stands above the table while there are any. */
  actions: (rows: readonly R[]) => ReactNode;
}

export interface DataTableProps<R extends object> {
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
  /** Keeps the search parameters of several tables on one page apart. */
  paramPrefix?: string;
  /** One noun for the count: `pipeline`. */
  noun: string;
  toolbar?: ReactNode;
  /** The table's name among those whose hidden columns are remembered; gives it a menu of columns. */
  remember?: string;
  /** Gives each row a box; `x` ticks the row that has the focus. */
  selection?: Selection<R>;
}
