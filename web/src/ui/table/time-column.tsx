import { Time } from '../primitives/time.tsx';
import type { Column } from './data-table.tsx';

interface Options<R> extends Pick<Column<R>, 'key' | 'title' | 'priority'> {
  width: string;
  at: (row: R) => Date | null;
}

/** A column of times, shown relative to now. */
export const momentColumn = <R,>({ at, ...rest }: Options<R>): Column<R> => ({
  ...rest,
  align: 'end',
  sort: (row) => at(row)?.getTime() ?? null,
  cell: (row) => <Time at={at(row)} />,
});
