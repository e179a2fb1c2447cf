/** The strip of a pipeline while a rollout is active: how far its canary is, and what it waits for. */
import type { GateSegment, GateState } from '../../../schemas/api/common.ts';
import { selectorText } from '../../../schemas/pipelines/selector.ts';
import type { GateInput, GateNode } from './gate.ts';
import type { RolloutRow } from './queries.ts';

export interface GateRollout {
  version: number;
  commit: string | null;
  since: Date;
  /** As people write it: `ring=0`. */
  selector: string;
  /** Null before the window began. */
  windowEndsAt: Date | null;
  /** Why it waits for a person. */
  held: string | null;
}

export function windowEnd(of: Pick<RolloutRow, 'healthStartedAt' | 'windowMinutes'>): Date | null {
  return of.healthStartedAt && new Date(of.healthStartedAt.getTime() + of.windowMinutes * 60_000);
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
  const has = canaries.filter(({ version }) => version === rollout.version);
  const runs = has.filter(({ status }) => status === 'RUNNING');
  const state: GateState = rollout.held === null ? 'moving' : 'held';
  const text = (arrived: readonly GateNode[], verb: string): string => {
    const begin = `Canary: version ${rollout.version}`;
    if (rollout.held !== null) return `${begin} is held: ${rollout.held}`;
    if (canaries.length === 0) return `${begin} waits for a node that matches ${rollout.selector}`;
    const count = `${begin} ${verb} ${arrived.length} of ${nodes.length} node${nodes.length === 1 ? '' : 's'}`;
    if (rollout.windowEndsAt) return `${count}, window until ${minuteOf(rollout.windowEndsAt)}`;
    const left = canaries.length - arrived.length;
    return left > 0 ? `${count}, ${left} more before its window begins` : count;
  };
  const reached = (arrived: readonly GateNode[]) => ({
    version: deployed?.version ?? (arrived.length > 0 ? rollout.version : null),
    at: rollout.since,
  });
  return [
    segment('delivered', state, text(has, 'is on'), reached(has)),
    segment('running', state, text(runs, 'runs on'), reached(runs)),
  ];
}
