/**
 * The cells of the matrix, of which only those in sight are in the document. The grid has the focus and names the cell
 * that is active, so that nothing is lost when a cell is scrolled away.
 */
// biome-ignore-all lint/a11y/useSemanticElements: a table cannot leave out the rows and columns that are not in sight.
// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and names the cell that is active.
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { useHotkeys } from '../../../app/hotkeys.ts';
import { paths } from '../../../app/paths.ts';
import { Button } from '../../../ui/primitives/button.tsx';
import { Icon } from '../../../ui/primitives/icons.tsx';
import { plural } from '../../../ui/text/format.ts';
import { cellText } from './matrix-cell.ts';
import { differsIn, useMatrixKeys } from './matrix-keys.ts';
import { type MatrixView, nextProblem, type Position } from './matrix-model.ts';
import { ColumnHead, GroupRow, NodeRow } from './matrix-rows.tsx';

export const ROW_PX = 36;
export const COLUMN_PX = 44;
const HEAD_PX = 176;
/** Of the column of nodes. */
const WIDE_NAME_PX = 220;
const NARROW_NAME_PX = 132;
const OVERSCAN = 3;

interface Props {
  env: string;
  view: MatrixView;
}

export const MatrixGrid = ({ env, view }: Props) => {
  const { rows, columns } = view;
  const id = useId();
  const navigate = useNavigate();
  const frame = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<Position>({ row: 0, column: -1 });
  const [hasFocus, setFocus] = useState(false);
  const [namePx] = useState(() => (window.innerWidth < 700 ? NARROW_NAME_PX : WIDE_NAME_PX));
  const down = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollPaddingStart: HEAD_PX,
    paddingStart: HEAD_PX,
  });
  const across = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => frame.current,
    estimateSize: () => COLUMN_PX,
    overscan: OVERSCAN,
    scrollPaddingStart: namePx,
    paddingStart: namePx,
  });
  // Rows come and go while nodes do: what was active stays within.
  const place: Position = {
    row: Math.min(active.row, rows.length - 1),
    column: Math.min(active.column, columns.length - 1),
  };
  const goTo = (next: Position): void => {
    setActive(next);
    down.scrollToIndex(next.row);
    if (next.column >= 0) across.scrollToIndex(next.column);
    else frame.current?.scrollTo({ left: 0 });
  };
  const hrefOf = ({ row, column }: Position): string | null => {
    const here = rows[row];
    const pipeline = columns[column];
    if (here?.kind === 'group') return here.id ? paths.group(env, here.id) : null;
    if (!here) return null;
    return pipeline ? paths.pipeline(env, pipeline.id, { tab: 'nodes' }) : paths.node(env, here.node.id);
  };
  const onKeyDown = useMatrixKeys({
    view,
    place,
    goTo,
    page: Math.max(1, Math.floor(((frame.current?.clientHeight ?? 600) - HEAD_PX) / ROW_PX) - 1),
    open: () => {
      const href = hrefOf(place);
      if (href) void navigate(href);
    },
  });
  const jump = (step: 1 | -1): void => {
    const next = nextProblem(
      view,
      hasFocus || active.row > 0 ? place : { row: 0, column: -2 },
      step,
      differsIn,
    );
    if (!next) return;
    frame.current?.focus({ preventScroll: true });
    goTo(next);
  };
  useHotkeys({ n: () => jump(1), p: () => jump(-1) });
  const shownColumns = across.getVirtualItems();
  const firstColumn = shownColumns[0]?.index ?? 0;
  const lastColumn = shownColumns.at(-1)?.index ?? -1;
  const inSight = useMemo(
    () =>
      columns.slice(firstColumn, lastColumn + 1).map((column, step) => ({
        column,
        index: firstColumn + step,
        left: namePx + (firstColumn + step) * COLUMN_PX,
      })),
    [columns, firstColumn, lastColumn, namePx],
  );
  // A link within the app is followed without reloading the page; one listener serves all cells.
  const onClick = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void navigate(link.getAttribute('href') ?? '');
  };
  // Other rows than before begin at the top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when there are fewer rows than what is active.
  useEffect(() => {
    if (active.row >= rows.length) setActive({ row: 0, column: -1 });
  }, [rows.length]);
  const cellId = ({ row, column }: Position): string => `${id}-${row}-${column}`;
  const activeIsThere =
    down.getVirtualItems().some(({ index }) => index === place.row) &&
    (place.column === -1 || (place.column >= firstColumn && place.column <= lastColumn));
  const width = across.getTotalSize();
  return (
    <>
      <div className="matrix-says">
        <span className="matrix-active mono" aria-hidden="true">
          {cellText(view, place)}
        </span>
        <span className="matrix-jump">
          {view.problems === 0 ? (
            <span className="muted">
              <Icon name="check" size={14} /> All as it should be
            </span>
          ) : (
            <>
              <span role="status">{plural(view.problems, 'problem')}</span>
              <Button
                size="small"
                aria-label="Previous problem"
                tip="Previous problem (p)"
                onClick={() => jump(-1)}
              >
                <Icon name="chevronLeft" size={12} />
              </Button>
              <Button size="small" tip="Next problem (n)" onClick={() => jump(1)}>
                Next problem <Icon name="chevronRight" size={12} />
              </Button>
            </>
          )}
        </span>
      </div>
      <div
        ref={frame}
        className="matrix-frame"
        role="grid"
        aria-label="What runs where"
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length + 1}
        aria-activedescendant={activeIsThere ? cellId(place) : undefined}
        aria-readonly="true"
        tabIndex={0}
        onKeyDown={onKeyDown as (event: KeyboardEvent) => void}
        onFocus={() => setFocus(true)}
        onBlur={() => setFocus(false)}
        onClick={onClick}
      >
        <div role="presentation" className="matrix-body" style={{ width, height: down.getTotalSize() }}>
          <div role="row" className="matrix-head" aria-rowindex={1} style={{ height: HEAD_PX, width }}>
            <div role="columnheader" aria-colindex={1} className="matrix-corner" style={{ width: namePx }}>
              <span>Node</span>
              <span className="muted">running of desired</span>
            </div>
            {inSight.map(({ column, index, left }) => (
              <ColumnHead key={column.id} env={env} column={column} index={index} left={left} />
            ))}
          </div>
          {down.getVirtualItems().map(({ index, start, key }) => {
            const row = rows[index];
            if (!row) return null;
            const activeColumn = hasFocus && index === place.row ? place.column : null;
            const common = { env, index, top: start, width, namePx, gridId: id, activeColumn };
            return row.kind === 'group' ? (
              <GroupRow key={key} row={row} {...common} />
            ) : (
              <NodeRow key={key} row={row} columns={inSight} {...common} />
            );
          })}
        </div>
      </div>
    </>
  );
};
