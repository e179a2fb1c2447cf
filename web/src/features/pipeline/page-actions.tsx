import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { Button, ButtonLink } from '../../ui/primitives/button.tsx';
import { AssistantButton } from '../assistant/open-assistant.tsx';
import { useFixed } from '../pipelines/actions/edit-lock.tsx';
import { deployFixed } from '../pipelines/actions/fixed-reason.ts';
import type { Actions } from '../pipelines/actions/pipeline-actions.ts';
import { PipelineMenu } from '../pipelines/actions/pipeline-menu.tsx';

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
      <ButtonLink icon="pencil" to={paths.pipelineEditor(env, pipeline.id)}>
        {fixed ? 'Look at the graph' : 'Edit graph'}
      </ButtonLink>
      <Button
        icon="deploy"
        kind={pipeline.isDraft || pipeline.hasConfigChanges ? 'primary' : undefined}
        disabled={notDeployable !== null}
        tip={notDeployable ?? undefined}
        onClick={() => start('deploy', [pipeline])}
      >
        Deploy
      </Button>
      <Button
        icon="promotions"
        disabled={mayNotPromote !== null}
        tip={mayNotPromote ?? undefined}
        onClick={() => start('promote', [pipeline])}
      >
        Promote
      </Button>
      <AssistantButton />
      <PipelineMenu pipeline={pipeline} start={start} without={['deploy', 'promote']} />
    </>
  );
};
