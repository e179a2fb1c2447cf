import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { formatDuration } from '../../ui/text/format.ts';

interface Props {
  health: FleetNode['agentHealth'];
  /** The node is not heard: what its agent said of its connection is over. */
  unheard: boolean;
}

/** How the agent itself is, as it last reported. */
export const AgentFacts = ({ health, unheard }: Props) => {
  const count = (value: number | undefined) =>
    value === undefined ? 'not reported' : <span className="mono">{value}</span>;
  return (
    <dl className="facts">
      <Fact name="Push channel">
        {health.pushConnected === undefined ? (
          'not reported'
        ) : (
          <Badge tone={unheard ? 'unknown' : health.pushConnected ? 'ok' : 'held'}>
            {unheard ? 'Lost' : health.pushConnected ? 'Connected' : 'Polling only'}
          </Badge>
        )}
      </Fact>
      <Fact name="Up">
        {health.uptimeSeconds === undefined ? 'not reported' : formatDuration(health.uptimeSeconds)}
      </Fact>
      <Fact name="Poll errors">{count(health.pollErrorsTotal)}</Fact>
      <Fact name="Heartbeat errors">{count(health.heartbeatErrorsTotal)}</Fact>
      <Fact name="Push reconnects">{count(health.pushReconnectsTotal)}</Fact>
    </dl>
  );
};
