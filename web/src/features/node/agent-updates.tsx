import { useMutation } from '@tanstack/react-query';
import type { FleetNode, PendingUpdate } from '../../../../schemas/api/fleet/fleet.ts';
import { api } from '../../api/client.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError } from '../../ui/feedback/page-states.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { sentence } from '../../ui/text/format.ts';
import { useRenewFleet } from '../fleet/nodes/node-actions.ts';

const MAX_TRIES = 3;

/** What becomes of updates of the agent: the one under way, and those that failed. Nothing where there are none. */
export const AgentUpdates = ({ node }: { node: FleetNode }) => {
  const { pendingUpdate, failedUpdates, updateError } = node;
  // The agent reports its last error until it restarts; failed updates list it as well.
  const isUnlisted = updateError && !failedUpdates.some(({ reason }) => reason === updateError);
  if (!pendingUpdate && failedUpdates.length === 0 && !isUnlisted) return null;
  return (
    <div className="agent-updates">
      {pendingUpdate && <Pending node={node} update={pendingUpdate} />}
      {isUnlisted && (
        <p className="update-line">
          <Badge tone="failed">Update failed</Badge>
          <span>{sentence(updateError)}</span>
        </p>
      )}
      {failedUpdates.length > 0 && (
        <ul className="update-list" aria-label="Updates that failed">
          {failedUpdates.map(({ targetVersion, checksum, reason, at }) => (
            <li key={`${targetVersion} ${checksum}`} className="update-line">
              <Badge tone="failed">
                <span className="mono">{targetVersion}</span> failed
              </Badge>
              <span>{sentence(reason)}</span>
              <span className="muted" data-tip={checksum}>
                <Time at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};

const Pending = ({ node, update }: { node: FleetNode; update: PendingUpdate }) => {
  const { team } = usePlace();
  const renew = useRenewFleet();
  const reason = whyNot(team.role, 'ADMIN');
  const cancel = useMutation({
    mutationFn: () => api.fleet.cancelAgentUpdate.mutate({ nodeId: node.id }),
    onSuccess: async () => {
      await renew();
      notify(`The update of ${node.name} to ${update.targetVersion} was taken back.`);
    },
  });
  return (
    <div className="update-line" role="status">
      <Badge tone="moving">
        Updating to <span className="mono">{update.targetVersion}</span>
      </Badge>
      <span>
        {update.tries === 0 ? 'Not begun yet' : `Begun ${update.tries} of ${MAX_TRIES} times`}, asked for{' '}
        <Time at={update.requestedAt} />, given up <Time at={update.expiresAt} />.
      </span>
      <Button
        size="small"
        disabled={reason !== null || cancel.isPending}
        tip={reason ?? undefined}
        onClick={() => cancel.mutate()}
      >
        Cancel the update
      </Button>
      {cancel.isError && <InlineError error={cancel.error} />}
    </div>
  );
};
