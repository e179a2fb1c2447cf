/** The matrix as it is shown: which rows and columns, what is in each cell, where something is wrong. Pure. */
import {
  CELL_NUMBERS,
  type FleetMatrix,
  type MatrixNode,
  readCellCode,
} from '../../../../../schemas/api/fleet/matrix.ts';
import type { NodeGroup } from '../../../../../schemas/api/fleet/node-groups.ts';

export interface MatrixFilter {
  /** Words that a node's name, host or labels (`key=value`) hold. */
  node: string;
  pipeline: string;
  /** A health; empty is any. */
  health: string;
  /** Only what is not as it should be. */
  differing: boolean;
  grouped: boolean;
}

export interface MatrixColumn {
  id: string;
  name: string;
  /** Place among the pipelines of the answer. */
  place: number;
  version: number | null;
  /** While a rollout is active, what its canary nodes should run instead. */
  canaryVersion: number | null;
  /** Of the nodes that match, also of those that are left out since they run it as they should. */
  desired: number;
  running: number;
  wrong: number;
}

export type MatrixRow =
  | { kind: 'node'; node: MatrixNode; wrong: number }
  | { kind: 'group'; id: string; name: string; nodes: number; wrong: number };

export interface MatrixView {
  rows: MatrixRow[];
  columns: MatrixColumn[];
  /** Nodes among the rows; one of several groups stands in the first of them. */
  nodes: number;
  /** Cells that are not as they should be, and nodes that are not heard. */
  problems: number;
}

export const isUnheard = ({ status }: Pick<MatrixNode, 'status'>): boolean =>
  status === 'UNREACHABLE' || status === 'UNKNOWN';

const collator = new Intl.Collator(undefined, { numeric: true });
const NO_GROUP = '';

const wordsOf = (filter: string): string[] => filter.toLowerCase().split(/\s+/).filter(Boolean);

function nodeMatches({ name, host, labels }: MatrixNode, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const pairs = Object.entries(labels).map((pair) => pair.join('='));
  const text = [name, host, ...pairs].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Not what it should be: of a node that is heard. */
function isWrong(code: number, version: number, wanted: number | null): boolean {
  const { status, desired } = readCellCode(code);
  return !desired || status !== 'RUNNING' || version !== wanted;
}

export function viewOf(
  { nodes, pipelines }: FleetMatrix,
  groups: readonly Pick<NodeGroup, 'id' | 'name'>[],
  filter: MatrixFilter,
): MatrixView {
  const nodeTerms = wordsOf(filter.node);
  const pipelineTerms = wordsOf(filter.pipeline);
  const shownPipeline = pipelines.map(({ name }) =>
    pipelineTerms.every((word) => name.toLowerCase().includes(word)),
  );
  const counts = pipelines.map(() => ({ shown: 0, desired: 0, running: 0, wrong: 0 }));
  const narrowed = pipelineTerms.length > 0 || filter.differing;
  const kept: { kind: 'node'; node: MatrixNode; wrong: number }[] = [];
  let problems = 0;
  for (const node of nodes) {
    if (filter.health && node.status !== filter.health) continue;
    if (!nodeMatches(node, nodeTerms)) continue;
    const unheard = isUnheard(node);
    let shown = 0;
    let wrong = 0;
    for (let at = 0; at < node.cells.length; at += CELL_NUMBERS) {
      const [place = 0, code = 0, version = -1] = [node.cells[at], node.cells[at + 1], node.cells[at + 2]];
      if (!shownPipeline[place]) continue;
      const pipeline = pipelines[place];
      const wanted = (readCellCode(code).canary ? pipeline?.canaryVersion : pipeline?.version) ?? null;
      const bad = unheard || isWrong(code, version, wanted);
      const count = counts[place];
      if (count) {
        const { status, desired } = readCellCode(code);
        if (desired) count.desired += 1;
        if (desired && status === 'RUNNING' && !unheard) count.running += 1;
        if (bad) count.wrong += 1;
        if (bad || !filter.differing) count.shown += 1;
      }
      if (bad) wrong += 1;
      if (bad || !filter.differing) shown += 1;
    }
    if (narrowed && shown === 0) continue;
    kept.push({ kind: 'node', node, wrong });
    problems += unheard ? 1 : wrong;
  }
  const columns = pipelines
    .map((pipeline, place) => ({ ...pipeline, place, ...counts[place] }))
    .filter(({ shown = 0 }) => shown > 0)
    .map(({ shown: _, desired = 0, running = 0, wrong = 0, ...rest }) => ({
      ...rest,
      desired,
      running,
      wrong,
    }))
    .sort((a, b) => collator.compare(a.name, b.name));
  kept.sort((a, b) => collator.compare(a.node.name, b.node.name));
  return {
    rows: filter.grouped ? inGroups(kept, groups) : kept,
    columns,
    nodes: kept.length,
    problems,
  };
}

function inGroups(
  rows: readonly { kind: 'node'; node: MatrixNode; wrong: number }[],
  groups: readonly Pick<NodeGroup, 'id' | 'name'>[],
): MatrixRow[] {
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const byGroup = Map.groupBy(rows, ({ node }) => node.groupIds.find((id) => names.has(id)) ?? NO_GROUP);
  return [...byGroup]
    .map(([id, members]) => ({ id, members, name: names.get(id) ?? 'In no group' }))
    .sort((a, b) => Number(a.id === NO_GROUP) - Number(b.id === NO_GROUP) || collator.compare(a.name, b.name))
    .flatMap(({ id, members, name }) => [
      {
        kind: 'group' as const,
        id,
        name,
        nodes: members.length,
        wrong: members.filter(({ node, wrong }) => wrong > 0 || isUnheard(node)).length,
      },
      ...members,
    ]);
}

export interface Position {
  row: number;
  /** -1 is the head of the row. */
  column: number;
}

/** The next place that is not as it should be, row by row, round the end; null where all is well. */
export function nextProblem(
  { rows, columns }: MatrixView,
  from: Position,
  step: 1 | -1,
  differs: (node: MatrixNode, column: MatrixColumn) => boolean,
): Position | null {
  for (let turn = 0; turn <= rows.length; turn += 1) {
    const row = (((from.row + turn * step) % rows.length) + rows.length) % rows.length;
    const here = rows[row];
    if (here?.kind !== 'node' || (here.wrong === 0 && !isUnheard(here.node))) continue;
    // Of a node that is not heard nothing is known: one stop, at its head.
    const places = isUnheard(here.node)
      ? [-1]
      : columns.flatMap((column, index) => (differs(here.node, column) ? [index] : []));
    const left =
      turn > 0 ? places : places.filter((column) => (step > 0 ? column > from.column : column < from.column));
    const column = step > 0 ? left[0] : left.at(-1);
    if (column !== undefined) return { row, column };
  }
  return null;
}
