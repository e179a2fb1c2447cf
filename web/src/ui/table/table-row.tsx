import { Checkbox } from '@mantine/core';
import { memo } from 'react';
import { Link } from 'react-router';
import type { Column } from './column.ts';
import type { ModelRow } from './table-model.ts';

interface Props<R extends object> {
  row: ModelRow<R>;
  columns: readonly Column<R>[];
  index: number;
  /** The document holds only some rows, so each must tell its number. */
  isVirtual: boolean;
  href: string | undefined;
  /** Absent where rows are not selected. */
  tickLabel: string | undefined;
  isSelected: boolean;
}

function PlainRow<R extends object>({
  row,
  columns,
  index,
  isVirtual,
  href,
  tickLabel,
  isSelected,
}: Props<R>) {
  return (
    <tr
      data-index={index}
      aria-rowindex={isVirtual ? index + 2 : undefined}
      data-linked={href ? true : undefined}
      data-chosen={isSelected || undefined}
    >
      {tickLabel && (
        <td className="tick">
          <Checkbox aria-label={tickLabel} checked={isSelected} onChange={() => row.toggleSelected()} />
        </td>
      )}
      {columns.map((column, place) => (
        <td key={column.key} data-align={column.align} data-priority={column.priority}>
          {place === 0 && href ? (
            <Link className="row-link" to={href}>
              {column.cell(row.original)}
            </Link>
          ) : (
            column.cell(row.original)
          )}
        </td>
      ))}
    </tr>
  );
}

/** Scrolling moves rows; those that stay in sight are not drawn again. `memo` alone would lose the type parameter. */
export const Row = memo(PlainRow) as typeof PlainRow;
