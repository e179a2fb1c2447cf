import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Banner } from '../../ui/feedback/banner.tsx';
import { notify, notifyFailure } from '../../ui/feedback/toast.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { plural } from '../../ui/text/format.ts';
import { whyFixed } from '../pipelines/actions/fixed-reason.ts';

interface Props {
  env: string;
  pipeline: Pipeline;
}

/** Shared components of the pipeline that have a newer version: to be looked at in the editor, or taken over at once. */
export const SharedUpdates = ({ env, pipeline }: Props) => {
  const { team } = usePlace();
  const linked = pipeline.nodes.filter(({ sharedComponentId }) => sharedComponentId !== undefined);
  const shared = useQuery({ ...queries.sharedComponents(env), enabled: linked.length > 0 });
  const accept = useMutation({
    mutationFn: () => api.sharedComponent.acceptUpdateBulk.mutate({ pipelineId: pipeline.id }),
    onSuccess: ({ accepted }) =>
      notify(`${plural(accepted, 'component')} taken over; deploy to bring them to the nodes.`),
    onError: (error) => notifyFailure('The newer versions were not taken over', error),
  });
  const newest = new Map((shared.data ?? []).map(({ id, version }) => [id, version]));
  const behind = linked.filter(
    ({ sharedComponentId = '', sharedComponentVersion = 0 }) =>
      (newest.get(sharedComponentId) ?? 0) > sharedComponentVersion,
  );
  if (behind.length === 0) return null;
  const fixed = whyFixed(team.role, pipeline.managedBy);
  return (
    <Banner tone="moving" title={`${plural(behind.length, 'shared component')} with a newer version`}>
      <p>
        {behind.map(({ id = '', componentKey }, index) => (
          <span key={id}>
            {index > 0 && ', '}
            <Link to={paths.pipelineEditor(env, pipeline.id, { component: componentKey })}>
              {componentKey}
            </Link>
          </span>
        ))}
        . What runs stays until the next deploy.
      </p>
      <p>
        <Button
          size="small"
          disabled={fixed !== null || accept.isPending}
          tip={fixed ?? undefined}
          onClick={() => accept.mutate()}
        >
          Take over {behind.length === 1 ? 'the newer version' : 'all newer versions'}
        </Button>
      </p>
    </Banner>
  );
};
