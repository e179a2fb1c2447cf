/** A row of a list, and the box that chooses it. */
import { memo, useEffect, useRef } from 'react';
import { Link } from 'react-router';
import type { Column } from './data-table.tsx';

interface RowProps<R> {
  row: R;
  columns: readonly Column<R>[];
  index: number;
  /** The document holds only some rows, so each must tell its number. */
  counted: boolean;
  href: string | undefined;
  id: string;
  /** Absent where rows are not chosen. */
  tickLabel: string | undefined;
  chosen: boolean | undefined;
  onTick: (id: string) => void;
}

function PlainRow<R>({
  row,
  columns,
  index,
  counted,
  href,
  id,
  tickLabel,
  chosen = false,
  onTick,
}: RowProps<R>) {
  return (
    <tr
      data-index={index}
      aria-rowindex={counted ? index + 2 : undefined}
      data-linked={href ? true : undefined}
      data-chosen={chosen || undefined}
    >
      {tickLabel && (
        <td className="tick">
          <Tick label={tickLabel} state={chosen ? 'all' : 'none'} onChange={() => onTick(id)} />
        </td>
      )}
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
export const Row = memo(PlainRow) as typeof PlainRow;

export interface TickProps {
  label: string;
  state: 'all' | 'some' | 'none';
  onChange: () => void;
}

export const Tick = ({ label, state, onChange }: TickProps) => {
  const box = useRef<HTMLInputElement>(null);
  // Only a script can say that some are chosen and some are not.
  useEffect(() => {
    if (box.current) box.current.indeterminate = state === 'some';
  }, [state]);
  return (
    <input
      ref={box}
      type="checkbox"
      className="tick-box"
      aria-label={label}
      checked={state === 'all'}
      onChange={onChange}
    />
  );
};
