import { Link } from 'react-router';
import type { Pipeline } from '../../../../schemas/api/pipelines.ts';
import { usePlace } from '../../app/environment.tsx';
import { paths } from '../../app/paths.ts';
import { Icon } from '../../components/icons.tsx';
import { whyNot } from '../fleet/may.ts';
import type { Actions } from '../pipelines/actions.ts';
import { deployFixed, useFixed } from '../pipelines/fixed.tsx';
import { PipelineMenu } from '../pipelines/pipeline-menu.tsx';

interface Props {
  env: string;
  pipeline: Pipeline;
  start: Actions['start'];
}

/** What can be done with the pipeline of the page; what is done most has a button. */
export const PageActions = ({ env, pipeline, start }: Props) => {
  const fixed = useFixed(pipeline.managedBy);
  const { team } = usePlace();
  const mayNotPromote = whyNot(team.role, 'EDITOR');
  const notDeployable = deployFixed(fixed, pipeline);
  return (
    <>
      <Link to={paths.pipelineEditor(env, pipeline.id)} className="button">
        <Icon name="pencil" size={14} /> {fixed ? 'Look at the graph' : 'Edit graph'}
      </Link>
      <button
        type="button"
        className="button"
        data-kind={pipeline.isDraft || pipeline.hasConfigChanges ? 'primary' : undefined}
        disabled={notDeployable !== null}
        data-tip={notDeployable ?? undefined}
        onClick={() => start('deploy', [pipeline])}
      >
        <Icon name="deploy" size={14} /> Deploy
      </button>
      <button
        type="button"
        className="button"
        disabled={mayNotPromote !== null}
        data-tip={mayNotPromote ?? undefined}
        onClick={() => start('promote', [pipeline])}
      >
        <Icon name="promotions" size={14} /> Promote
      </button>
      <PipelineMenu pipeline={pipeline} start={start} without={['deploy', 'promote']} />
    </>
  );
};
