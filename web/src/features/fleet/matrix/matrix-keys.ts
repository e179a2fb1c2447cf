/** Walking the matrix by keys, as grids are walked everywhere. */
import type { KeyboardEvent } from 'react';
import type { MatrixNode } from '../../../../../schemas/api/fleet/matrix.ts';
import { cellsOf } from './matrix-cell.ts';
import type { MatrixColumn, MatrixView, Position } from './matrix-model.ts';

/** Whether a cell is not as it should be. */
export const differsIn = (node: MatrixNode, column: MatrixColumn): boolean => {
  const cell = cellsOf(node, [column]).get(column.place);
  return cell !== undefined && cell.tone !== 'ok';
};

interface Options {
  view: MatrixView;
  place: Position;
  goTo: (next: Position) => void;
  /** Rows in sight. */
  page: number;
  open: () => void;
}

export function useMatrixKeys({ view, place, goTo, page, open }: Options): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.altKey || event.metaKey || event.shiftKey || event.target !== event.currentTarget) return;
    if (event.key === 'Enter') {
      open();
      return;
    }
    const next = stepOf(event.key, event.ctrlKey, place, view, page);
    if (!next) return;
    event.preventDefault();
    goTo({
      row: Math.min(Math.max(next.row, 0), view.rows.length - 1),
      column: Math.min(Math.max(next.column, -1), view.columns.length - 1),
    });
  };
}

function stepOf(
  key: string,
  ctrl: boolean,
  { row, column }: Position,
  { rows, columns }: MatrixView,
  page: number,
): Position | null {
  switch (key) {
    case 'ArrowDown':
      return { row: row + 1, column };
    case 'ArrowUp':
      return { row: row - 1, column };
    case 'ArrowRight':
      return { row, column: column + 1 };
    case 'ArrowLeft':
      return { row, column: column - 1 };
    case 'PageDown':
      return { row: row + page, column };
    case 'PageUp':
      return { row: row - page, column };
    case 'Home':
      return { row: ctrl ? 0 : row, column: -1 };
    case 'End':
      return { row: ctrl ? rows.length - 1 : row, column: columns.length - 1 };
    default:
      return null;
  }
}
