/** One gate for several pipelines, and for all that a node runs. */
import type { Gate, GateSegment, GateState } from '../../../../schemas/api/common.ts';
import type { NodeHealth } from '../../../../schemas/api/pipelines/on-nodes.ts';
import type { BindingRow } from '../observed-rows.ts';
import type { GateNode } from './gate-input.ts';
import { plural } from './node-faults.ts';

const WORST_FIRST: readonly GateState[] = ['failed', 'moving', 'held', 'unknown', 'done'];

/** Sums up several strips: at each point the worst state, and how many strips are in it. */
export function sumGates(
  gates: readonly Gate[],
  ends: { git: Omit<GateSegment, 'point'>; accepted: Omit<GateSegment, 'point'> },
): Gate {
  const sum = (point: 'delivered' | 'running', index: number, hasArrived = true): GateSegment => {
    const counted = gates.map((gate) => gate[index]).filter((segment) => segment !== undefined);
    const relevant = counted.filter((segment) => segment.state !== 'unknown');
    const state =
      WORST_FIRST.find((candidate) => relevant.some((segment) => segment.state === candidate)) ?? 'unknown';
    const inState = relevant.filter((segment) => segment.state === state);
    const reason =
      relevant.length === 0
        ? 'Nothing is deployed'
        : state === 'done'
          ? `${plural(relevant.length, 'pipeline')}`
          : `${inState.length} of ${plural(relevant.length, 'pipeline')}: ${inState[0]?.reason ?? ''}`;
    const newest = relevant.reduce<Date | null>(
      (at, segment) => (segment.at && (!at || segment.at > at) ? segment.at : at),
      null,
    );
    return {
      point,
      state,
      commit: state === 'done' && hasArrived ? ends.accepted.commit : null,
      version: null,
      at: newest,
      reason,
    };
  };
  const delivered = sum('delivered', 2);
  // After a rollback the nodes are healthy, but with the version that the commit was to replace.
  const running = sum('running', 3, delivered.state === 'done');
  return [{ point: 'git', ...ends.git }, { point: 'accepted', ...ends.accepted }, delivered, running];
}

/** The strip of a node: the git and accepted segments are those of its environment, the others describe the node itself. */
export function nodeGate(
  binding: BindingRow | null,
  node: { health: NodeHealth; pipelines: readonly GateNode[]; desired: readonly (number | null)[] },
): Gate {
  const empty = { commit: null, version: null, at: null };
  const git: GateSegment = !binding
    ? { point: 'git', ...empty, state: 'unknown', reason: 'Not bound to git' }
    : {
        point: 'git',
        state: binding.lastError ? 'failed' : binding.headCommit ? 'done' : 'unknown',
        commit: binding.headCommit,
        version: null,
        at: binding.headAt ? new Date(binding.headAt) : null,
        reason: binding.lastError ?? (binding.headCommit ? 'Read' : 'Nothing has been read yet'),
      };
  const accepted: GateSegment = !binding
    ? { point: 'accepted', ...empty, state: 'unknown', reason: 'Not bound to git' }
    : {
        point: 'accepted',
        state:
          binding.importErrors > 0
            ? 'failed'
            : binding.headCommit === binding.appliedCommit
              ? 'done'
              : 'moving',
        commit: binding.appliedCommit,
        version: null,
        at: binding.appliedAt,
        reason:
          binding.importErrors > 0
            ? `${plural(binding.importErrors, 'import error')} in the environment`
            : 'Accepted',
      };
  const desired = node.pipelines.filter((_, index) => node.desired[index] !== null);
  const total = desired.length;
  const deliveredNodes = node.pipelines.filter(
    (entry, index) => node.desired[index] !== null && entry.version === node.desired[index],
  );
  const runningNodes = deliveredNodes.filter((entry) => entry.status === 'RUNNING');
  const crashed = desired.filter((entry) => entry.status === 'CRASHED');
  const silent = node.health === 'UNREACHABLE' || node.health === 'UNKNOWN';
  const segment = (point: 'delivered' | 'running', reached: readonly GateNode[]): GateSegment => {
    const at = reached.reduce<Date | null>(
      (newest, entry) => (entry.since && (!newest || entry.since > newest) ? entry.since : newest),
      null,
    );
    const base = {
      point,
      version: null,
      at,
      commit: reached.length === total && total > 0 ? (binding?.appliedCommit ?? null) : null,
    };
    if (total === 0) return { ...base, state: 'unknown', reason: 'No pipeline targets this node' };
    const count = `${reached.length} of ${plural(total, 'pipeline')}`;
    if (point === 'running' && crashed.length > 0)
      return { ...base, state: 'failed', reason: `${crashed.length} crashed, ${count} run` };
    if (silent) return { ...base, state: 'held', reason: `Not reachable; last seen with ${count}` };
    return { ...base, state: reached.length === total ? 'done' : 'moving', reason: count };
  };
  return [git, accepted, segment('delivered', deliveredNodes), segment('running', runningNodes)];
}
