import { useMutation } from '@tanstack/react-query';
import type { FleetNode, PendingUpdate } from '../../../../schemas/api/fleet.ts';
import { api } from '../../api/client.ts';
import { usePlace } from '../../app/environment.tsx';
import { Badge, Time } from '../../components/bits.tsx';
import { sentence } from '../../components/format.ts';
import { InlineError } from '../../components/states.tsx';
import { notify } from '../../components/toasts.tsx';
import { whyNot } from '../fleet/may.ts';
import { useRenewFleet } from '../fleet/node-actions.ts';

const MAX_TRIES = 3;

/** What becomes of updates of the agent: the one under way, and those that failed. Nothing where there are none. */
export const AgentUpdates = ({ node }: { node: FleetNode }) => {
  const { pendingUpdate, failedUpdates, updateError } = node;
  // The agent tells its last error until it is started anew; it stands among those that failed as well.
  const told = updateError && !failedUpdates.some(({ reason }) => reason === updateError);
  if (!pendingUpdate && failedUpdates.length === 0 && !told) return null;
  return (
    <div className="agent-updates">
      {pendingUpdate && <Pending node={node} update={pendingUpdate} />}
      {told && (
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
      <button
        type="button"
        className="button"
        data-size="small"
        disabled={reason !== null || cancel.isPending}
        data-tip={reason ?? undefined}
        onClick={() => cancel.mutate()}
      >
        Cancel the update
      </button>
      {cancel.isError && <InlineError error={cancel.error} />}
    </div>
  );
};
