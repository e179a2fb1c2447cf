import { plural } from '../../components/format.ts';
import { cellsOf, isUnheard, type MatrixView, type Position } from './matrix-model.ts';

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
  `${name}: ${plural(nodes, 'node')}${wrong > 0 ? `, ${wrong} with a problem` : ''}`;
