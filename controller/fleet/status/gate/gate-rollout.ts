/** The gate segments of a pipeline during an active rollout: the progress of its canary, and what blocks it. */
import type { GateSegment, GateState } from '../../../../schemas/api/common.ts';
import { selectorText } from '../../../../schemas/pipelines/selector.ts';
import type { RolloutRow } from '../observed-rows.ts';
import type { GateInput, GateNode } from './gate-input.ts';

export interface GateRollout {
  version: number;
  commit: string | null;
  since: Date;
  /** The canary selector as text: `ring=0`. */
  selector: string;
  /** Null before the observation window starts. */
  windowEndsAt: Date | null;
  /** The reason why the rollout is held. */
  held: string | null;
}

export function windowEnd(rollout: Pick<RolloutRow, 'healthStartedAt' | 'windowMinutes'>): Date | null {
  return (
    rollout.healthStartedAt && new Date(rollout.healthStartedAt.getTime() + rollout.windowMinutes * 60_000)
  );
}

export const gateRolloutOf = (rollout: RolloutRow): GateRollout => ({
  version: rollout.version,
  commit: rollout.commit,
  since: rollout.since,
  selector: selectorText(rollout.canarySelector),
  windowEndsAt: windowEnd(rollout),
  held: rollout.heldReason,
});

const minuteOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

type Segment = (
  point: 'delivered' | 'running',
  state: GateState,
  reason: string,
  reached: { version: number | null; at?: Date | null },
) => GateSegment;

export function canarySegments(
  { nodes, deployed }: GateInput,
  rollout: GateRollout,
  segment: Segment,
): [GateSegment, GateSegment] {
  const canaries = nodes.filter(({ canary }) => canary);
  const delivered = canaries.filter(({ version }) => version === rollout.version);
  const running = delivered.filter(({ status }) => status === 'RUNNING');
  const state: GateState = rollout.held === null ? 'moving' : 'held';
  const reasonFor = (arrived: readonly GateNode[], verb: string): string => {
    const prefix = `Canary: version ${rollout.version}`;
    if (rollout.held !== null) return `${prefix} is held: ${rollout.held}`;
    if (canaries.length === 0) return `${prefix} waits for a node that matches ${rollout.selector}`;
    const count = `${prefix} ${verb} ${arrived.length} of ${nodes.length} node${nodes.length === 1 ? '' : 's'}`;
    if (rollout.windowEndsAt) return `${count}, window until ${minuteOf(rollout.windowEndsAt)}`;
    const remaining = canaries.length - arrived.length;
    return remaining > 0 ? `${count}, ${remaining} more before its window begins` : count;
  };
  const reached = (arrived: readonly GateNode[]) => ({
    version: deployed?.version ?? (arrived.length > 0 ? rollout.version : null),
    at: rollout.since,
  });
  return [
    segment('delivered', state, reasonFor(delivered, 'is on'), reached(delivered)),
    segment('running', state, reasonFor(running, 'runs on'), reached(running)),
  ];
}
