import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { DeployEnvironmentInfo } from '../../../../../schemas/api/pipelines/deployments.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { EnvironmentTag } from '../../../ui/primitives/environment-tag.tsx';
import { HealthBadge } from '../../../ui/primitives/status-badge.tsx';
import { plural } from '../../../ui/text/format.ts';

/** The others are counted. */
const MAX_NODES = 12;

interface Props {
  env: string;
  pipelineId: string;
  target: DeployEnvironmentInfo;
}

/** Where a deploy goes, and what it waits for that is not there. */
export const DeployTarget = ({ env, pipelineId, target }: Props) => {
  const warnings = useQuery(queries.deployWarnings(pipelineId));
  const { matchingNodes, nodeCount, environmentName } = target;
  const away = matchingNodes.filter(({ health }) => health === 'UNREACHABLE' || health === 'UNKNOWN');
  const missing = warnings.data ?? [];
  return (
    <section className="deploy-part" aria-label="Where it goes">
      <header className="deploy-part-head">
        <h3>
          To {plural(matchingNodes.length, 'node')} of {nodeCount}
        </h3>
        <EnvironmentTag environment={{ name: environmentName }} />
      </header>
      {matchingNodes.length === 0 ? (
        <Notice icon="warning" tone="held">
          {nodeCount === 0
            ? 'There is no node in this environment yet. It is deployed all the same, and runs as soon as one is enrolled.'
            : 'No node carries the labels of its node selector. It is deployed all the same, and runs as soon as one does.'}
        </Notice>
      ) : (
        <ul className="node-chips" aria-label="Nodes that will run it">
          {matchingNodes.slice(0, MAX_NODES).map(({ id, name, health }) => (
            <li key={id}>
              <Link to={paths.node(env, id)}>{name}</Link> <HealthBadge health={health} />
            </li>
          ))}
          {matchingNodes.length > MAX_NODES && (
            <li className="muted">and {matchingNodes.length - MAX_NODES} more</li>
          )}
        </ul>
      )}
      {away.length > 0 && (
        <p className="muted">
          {plural(away.length, 'node is', 'nodes are')} not heard now and will take it when{' '}
          {away.length === 1 ? 'it comes' : 'they come'} back.
        </p>
      )}
      {missing.length > 0 && (
        <Notice icon="warning" tone="held">
          It depends on what is not deployed:{' '}
          {missing.map(({ upstreamId, upstreamName }, index) => (
            <span key={upstreamName}>
              {index > 0 && ', '}
              {upstreamId ? (
                <Link to={paths.pipeline(env, upstreamId)} className="notice-link">
                  {upstreamName}
                </Link>
              ) : (
                `${upstreamName} (which is not there)`
              )}
            </span>
          ))}
          . It will run, and wait for events from there.
        </Notice>
      )}
    </section>
  );
};
