import { Link } from 'react-router';
import type { MigrationSummary } from '../../../../schemas/api/pipelines/migrations.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';

/** Where what was made of a migration is. */
export const GeneratedLink = ({ generated }: { generated: NonNullable<MigrationSummary['generated']> }) => {
  const { environments } = usePlace();
  const { environmentId, pipelineId, pipelineName, pullRequest } = generated;
  const place = environments.find(({ id }) => id === environmentId)?.name;
  const where = place === undefined ? '' : ` in ${place}`;
  if (environmentId !== null && pipelineId !== null)
    return (
      <Link className="generated-link" to={paths.pipeline(environmentId, pipelineId)}>
        <Icon name="pipelines" size={14} /> {pipelineName}
        {where}
      </Link>
    );
  if (environmentId !== null && pullRequest)
    return (
      <Link className="generated-link" to={paths.pullRequest(environmentId, pullRequest.number)}>
        <Icon name="promotions" size={14} /> Pull request #{pullRequest.number} ({pullRequest.state}){where}
      </Link>
    );
  return <span className="muted">{pipelineName} was deleted since</span>;
};
