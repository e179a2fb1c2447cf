import type { Gate, GateState } from '../../../../schemas/api/common.ts';

/** What people keep here never passes the first point. */
export const passed = (gate: Gate): Gate =>
  gate.filter(
    ({ point, state, commit, version }) =>
      !(point === 'git' && state === 'unknown' && commit === null && version === null),
  );

/** The worst state, for sorting and for one word beside a strip. */
export function gateState(gate: Gate): GateState {
  const order: GateState[] = ['failed', 'held', 'moving', 'unknown', 'done'];
  return order.find((state) => passed(gate).some((segment) => segment.state === state)) ?? 'unknown';
}
