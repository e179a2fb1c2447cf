/** Nodes against pipelines, small enough to be read again and again with thousands of nodes. */
import Type, { type Static } from 'typebox';
import { Id, LabelMap, Nullable } from '../common.ts';
import { NODE_PIPELINE_STATUSES, NodeHealth, type NodePipelineStatus } from '../pipelines/on-nodes.ts';

/** Numbers of each cell, see `FleetMatrix`. */
export const CELL_NUMBERS = 3;

export const MatrixNode = Type.Object({
  id: Id,
  name: Type.String(),
  host: Type.String(),
  status: NodeHealth,
  maintenance: Type.Boolean(),
  labels: LabelMap,
  groupIds: Type.Array(Id),
  /** Three numbers for each of its pipelines: the place in `pipelines`, a code, and the version that it runs or -1. */
  cells: Type.Array(Type.Integer()),
});
export type MatrixNode = Static<typeof MatrixNode>;

export const FleetMatrix = Type.Object({
  pipelines: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      /** What nodes that should run it should run. */
      version: Nullable(Type.Integer()),
      /** While a rollout is active, what its canary nodes should run instead; else null. */
      canaryVersion: Nullable(Type.Integer()),
    }),
  ),
  nodes: Type.Array(MatrixNode),
});
export type FleetMatrix = Static<typeof FleetMatrix>;

/** Stands in a code that means: it should not run there. */
const UNWANTED = 8;
/** Of a rollout that is active: it is a canary node. */
const CANARY = 16;

/** The code of a cell: its status, whether it should run there, and on which side of a rollout. */
export const cellCode = (status: NodePipelineStatus, desired: boolean, canary = false): number =>
  NODE_PIPELINE_STATUSES.indexOf(status) + (desired ? 0 : UNWANTED) + (canary ? CANARY : 0);

export const readCellCode = (
  code: number,
): { status: NodePipelineStatus; desired: boolean; canary: boolean } => ({
  status: NODE_PIPELINE_STATUSES[code % UNWANTED] ?? 'PENDING',
  desired: code % CANARY < UNWANTED,
  canary: code >= CANARY,
});
