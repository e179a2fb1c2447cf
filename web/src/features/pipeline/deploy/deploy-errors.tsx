import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { PipelineOnNode, Refusal } from '../../../../../schemas/api/pipelines/on-nodes.ts';
import { api } from '../../../api/client.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Banner } from '../../../ui/feedback/banner.tsx';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { notify } from '../../../ui/feedback/toast.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useRenewPipelines } from '../../pipelines/actions/pipeline-actions.ts';

/** Those beyond are in the table below. */
const MAX_NAMED = 3;

interface Props {
  rows: readonly PipelineOnNode[];
  title: (count: number) => string;
  /** How one is called on this page: by its node or by its pipeline. */
  nameOf: (row: PipelineOnNode) => string;
  logHref: (row: PipelineOnNode) => string;
  /** What can be done about it, beside trying again. */
  action?: ReactNode;
  /** Set on the page of a node: only this node gets the version again. */
  nodeId?: string;
}

type Refused = PipelineOnNode & { refused: Refusal };

function inWords({ refused, version }: Refused): string {
  const { by, servedVersion, fault } = refused;
  const what =
    by === 'NODE_CHECK'
      ? `its engine refused version ${refused.version}`
      : `version ${refused.version} crashed repeatedly`;
  if (servedVersion !== null)
    return by === 'NODE_CHECK'
      ? `${what}; version ${servedVersion} keeps running.`
      : `${what}; the node was returned to version ${servedVersion}.`;
  if (fault !== null) return `${what}, and the version before cannot be served: ${fault}.`;
  return `${what}; ${version === null ? 'nothing runs' : `version ${version} keeps running`}.`;
}

function about({ component, option, place }: Refusal): string {
  const where = place ? `${place.path}:${place.line}` : null;
  return [component, option && `option ${option}`, where].filter((part) => part).join(', ');
}

/** Versions that do not run on nodes: who refused them, why, and what runs there. Nothing where there are none. */
export const Refusals = ({ rows, title, nameOf, logHref, action, nodeId }: Props) => {
  const { team } = usePlace();
  const renew = useRenewPipelines();
  const refused = rows.filter((row): row is Refused => row.refused !== null);
  const takenBack = [
    ...new Set(refused.filter((row) => row.refused.since !== null).map(({ pipelineId }) => pipelineId)),
  ];
  const retry = useMutation({
    mutationFn: () =>
      Promise.all(
        takenBack.map((pipelineId) =>
          api.deploy.retryVersion.mutate({ pipelineId, ...(nodeId === undefined ? {} : { nodeId }) }),
        ),
      ),
    onSuccess: async () => {
      await renew();
      notify('The version is served again. A node where it fails returns to the version before.');
    },
  });
  if (refused.length === 0) return null;
  return (
    <Banner tone="failed" title={title(refused.length)}>
      <ul className="crashes">
        {refused.slice(0, MAX_NAMED).map((row) => (
          <li key={`${row.nodeId} ${row.pipelineId}`}>
            <strong>{nameOf(row)}</strong>: {inWords(row)}{' '}
            {about(row.refused) && <span className="mono">{about(row.refused)}</span>}{' '}
            <Link to={logHref(row)}>Its errors in the log</Link>
            <span className="crash-error mono" data-tip={row.refused.reason}>
              {row.refused.reason}
            </span>
          </li>
        ))}
      </ul>
      {refused.length > MAX_NAMED && (
        <p className="muted">and on {plural(refused.length - MAX_NAMED, 'other')}, in the table below</p>
      )}
      {takenBack.length > 0 && team.role !== 'VIEWER' && (
        <Button disabled={retry.isPending} onClick={() => retry.mutate()}>
          {retry.isPending ? 'Asking…' : 'Try again'}
        </Button>
      )}
      {retry.error && <InlineError error={retry.error} />}
      {action}
    </Banner>
  );
};
