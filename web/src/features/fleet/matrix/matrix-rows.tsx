// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out the rows and columns that are not in sight.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the cell that is active.
import { memo } from 'react';
import { paths } from '../../../app/paths.ts';
import { TONE_ICON } from '../../../ui/primitives/badge.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { cellsOf, groupText } from './matrix-cell.ts';
import { isUnheard, type MatrixColumn, type MatrixRow } from './matrix-model.ts';

interface HeadProps {
  env: string;
  column: MatrixColumn;
  index: number;
  left: number;
}

/** A pipeline with how many of the nodes that should run it do. */
export const ColumnHead = ({ env, column, index, left }: HeadProps) => {
  const { id, name, running, desired, wrong } = column;
  const tone = wrong > 0 ? 'held' : 'ok';
  return (
    <div role="columnheader" aria-colindex={index + 2} className="matrix-pipeline" style={{ left }}>
      <a href={paths.pipeline(env, id)} tabIndex={-1} data-tip={name}>
        {name}
      </a>
      <span
        className="matrix-sum mono"
        data-tone={tone}
        data-tip={`Runs on ${running} of ${desired} nodes${wrong > 0 ? `; ${wrong} not as they should be` : ''}`}
      >
        {running}
        <span className="sr-only"> of </span>
        <span>{desired}</span>
      </span>
    </div>
  );
};

interface RowProps {
  env: string;
  index: number;
  top: number;
  width: number;
  namePx: number;
  gridId: string;
  /** Null where the active cell is in another row. */
  activeColumn: number | null;
}

interface NodeRowProps extends RowProps {
  row: Extract<MatrixRow, { kind: 'node' }>;
  columns: readonly { column: MatrixColumn; index: number; left: number }[];
}

const PlainNodeRow = ({
  env,
  row: { node },
  columns,
  index,
  top,
  width,
  namePx,
  gridId,
  activeColumn,
}: NodeRowProps) => {
  const cells = cellsOf(
    node,
    columns.map(({ column }) => column),
  );
  const unheard = isUnheard(node);
  return (
    <div role="row" className="matrix-row" aria-rowindex={index + 2} style={{ top, width }}>
      <div
        role="rowheader"
        id={`${gridId}-${index}--1`}
        aria-colindex={1}
        className="matrix-name"
        data-active={activeColumn === -1 || undefined}
        style={{ width: namePx }}
      >
        <a href={paths.node(env, node.id)} tabIndex={-1}>
          {node.name}
        </a>
        {unheard && (
          <span className="matrix-mark" data-tone="failed" data-tip="It is not heard">
            <Icon name="cross" size={12} />
            <span className="sr-only">, not heard</span>
          </span>
        )}
        {!unheard && node.maintenance && (
          <span className="matrix-mark" data-tone="held" data-tip="In maintenance">
            <Icon name="held" size={12} />
            <span className="sr-only">, in maintenance</span>
          </span>
        )}
      </div>
      {columns.map(({ column, index: place, left }) => {
        const cell = cells.get(column.place);
        const isActive = activeColumn === place;
        return (
          <div
            key={column.id}
            role="gridcell"
            id={`${gridId}-${index}-${place}`}
            aria-colindex={place + 2}
            aria-label={
              cell || !isActive ? undefined : `${column.name} on ${node.name}: does not belong there`
            }
            className="matrix-place"
            data-active={isActive || undefined}
            style={{ left }}
          >
            {cell && (
              <a
                href={paths.pipeline(env, column.id, { tab: 'nodes' })}
                tabIndex={-1}
                className="matrix-cell"
                data-tone={cell.tone}
                aria-label={cell.text}
                data-tip={cell.text}
              >
                <Icon name={TONE_ICON[cell.tone]} size={12} />
              </a>
            )}
          </div>
        );
      })}
    </div>
  );
};

/** Scrolling moves rows; those that stay in sight are not drawn again. */
export const NodeRow = memo(PlainNodeRow);

interface GroupRowProps extends RowProps {
  row: Extract<MatrixRow, { kind: 'group' }>;
}

export const GroupRow = memo(
  ({ env, row, index, top, width, namePx, gridId, activeColumn }: GroupRowProps) => (
    <div role="row" className="matrix-row matrix-group" aria-rowindex={index + 2} style={{ top, width }}>
      <div
        role="rowheader"
        id={`${gridId}-${index}-${activeColumn ?? -1}`}
        aria-colindex={1}
        className="matrix-name"
        data-active={activeColumn !== null || undefined}
        style={{ minWidth: namePx }}
      >
        {row.id ? (
          <a href={paths.group(env, row.id)} tabIndex={-1}>
            {row.name}
          </a>
        ) : (
          row.name
        )}
        <span className="muted">{groupText(row).slice(row.name.length + 2)}</span>
      </div>
    </div>
  ),
);
GroupRow.displayName = 'GroupRow';
