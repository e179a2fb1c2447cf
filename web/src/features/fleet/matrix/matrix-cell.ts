import { CELL_NUMBERS, type MatrixNode, readCellCode } from '../../../../../schemas/api/fleet/matrix.ts';
import { STATUS } from '../../../ui/primitives/status-badge.tsx';
import type { Tone } from '../../../ui/primitives/tone.ts';
import { plural } from '../../../ui/text/format.ts';
import { isUnheard, type MatrixColumn, type MatrixView, type Position } from './matrix-model.ts';

export interface Cell {
  tone: Tone;
  /** Of which pipeline on which node, and how it is there. */
  text: string;
}

/** The cells of a node, by the place of the pipeline. Made for the rows in sight only. */
export function cellsOf(node: MatrixNode, columns: readonly MatrixColumn[]): Map<number, Cell> {
  const unheard = isUnheard(node);
  const byPlace = new Map(columns.map((column) => [column.place, column]));
  const cells = new Map<number, Cell>();
  for (let at = 0; at < node.cells.length; at += CELL_NUMBERS) {
    const column = byPlace.get(node.cells[at] ?? -1);
    if (!column) continue;
    const { status, desired, canary } = readCellCode(node.cells[at + 1] ?? 0);
    const version = node.cells[at + 2] ?? -1;
    const { tone, word } = STATUS[status];
    const wanted = desired ? (canary ? column.canaryVersion : column.version) : null;
    const runs = version === -1 ? null : version;
    const lag =
      runs === wanted ? '' : `, runs v${runs ?? '–'}, should run ${desired ? `v${wanted}` : 'nothing'}`;
    cells.set(column.place, {
      tone: unheard ? 'unknown' : lag && tone === 'ok' ? 'moving' : tone,
      text: `${column.name} on ${node.name}: ${unheard ? 'not known, its node is not heard; last ' : ''}${word.toLowerCase()}${lag}`,
    });
  }
  return cells;
}

/** What the cell at a place says, in words. */
export function cellText({ rows, columns }: MatrixView, { row, column }: Position): string {
  const here = rows[row];
  const pipeline = columns[column];
  if (!here) return '';
  if (here.kind === 'group') return groupText(here);
  const { node, wrong } = here;
  if (!pipeline) {
    if (isUnheard(node))
      return `${node.name}: ${node.status === 'UNKNOWN' ? 'never heard' : 'not heard now'}`;
    return `${node.name}: ${wrong === 0 ? 'all as it should be' : plural(wrong, 'pipeline is not', 'pipelines are not').concat(' as it should be')}`;
  }
  return (
    cellsOf(node, [pipeline]).get(pipeline.place)?.text ??
    `${pipeline.name} on ${node.name}: does not belong there`
  );
}

export const groupText = ({ name, nodes, wrong }: { name: string; nodes: number; wrong: number }): string =>
  `${name}: ${plural(nodes, 'node')}${wrong > 0 ? `, ${wrong.toLocaleString('en')} with a problem` : ''}`;
