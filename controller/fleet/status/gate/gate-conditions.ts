/** The conditions of a manifest that tell how its rollout goes. */
import type { Condition, Gate } from '../../../../schemas/api/common.ts';
import { type GateInput, isSilent, rolledBackFrom, silentNodes } from './gate-input.ts';

/** Derives the conditions RolledOut and Healthy from the reports of nodes. */
export function rolloutConditions(gate: Gate, input: GateInput, file: string, line: number): Condition[] {
  const [, , delivered, running] = gate;
  const { rollout, deployed } = input;
  if (!delivered || !running || input.isDraft || (!deployed && !rollout)) return [];
  const at = running.at ?? delivered.at ?? deployed?.at ?? new Date(0);
  const base = { file, line, commit: input.manifest?.appliedCommit ?? null, lastTransition: at };
  // Unreachable nodes are listed, but not waited for.
  const answering = input.nodes.filter((node) => !isSilent(node));
  const arrived =
    answering.every(({ version }) => version === deployed?.version) &&
    (running.state === 'failed' || answering.every(({ status }) => status === 'RUNNING'));
  const hasNoNodes = input.nodes.length === 0;
  const rolledBack = rolledBackFrom(input) !== null;
  const degraded = running.state !== 'failed' && answering.some((node) => node.degraded !== null);
  const refused = input.nodes.some((node) => node.refused !== null);
  const faultReason = degraded ? 'Degraded' : refused ? 'Refused' : 'Crashed';
  const isFaulty = degraded || running.state === 'failed';
  if (rollout || rolledBack)
    return [
      {
        ...base,
        type: 'RolledOut',
        status: rollout && rollout.held === null ? 'Unknown' : 'False',
        reason: !rollout ? 'RolledBack' : rollout.held === null ? 'Canary' : 'CanaryHeld',
        message: delivered.reason,
      },
      {
        ...base,
        type: 'Healthy',
        status: isFaulty ? 'False' : running.state === 'done' ? 'True' : 'Unknown',
        reason: isFaulty ? faultReason : running.state === 'done' ? 'Running' : 'InProgress',
        message: running.reason,
      },
    ];
  return [
    {
      ...base,
      type: 'RolledOut',
      status: hasNoNodes || arrived ? 'True' : 'False',
      reason: hasNoNodes
        ? 'NoNodes'
        : !arrived
          ? refused
            ? 'Refused'
            : 'InProgress'
          : silentNodes(input).length > 0
            ? 'NodesUnreachable'
            : 'AllNodes',
      message: delivered.reason,
    },
    {
      ...base,
      type: 'Healthy',
      status: running.state === 'done' ? 'True' : isFaulty ? 'False' : 'Unknown',
      reason:
        running.state === 'done' ? 'Running' : isFaulty ? faultReason : hasNoNodes ? 'NoNodes' : 'InProgress',
      message: running.reason,
    },
  ];
}
