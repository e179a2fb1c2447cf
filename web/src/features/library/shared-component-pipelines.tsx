import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { SharedComponent } from '../../../../schemas/api/pipelines/shared-components.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { notify, notifyFailure } from '../../ui/feedback/toast.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { plural } from '../../ui/text/format.ts';
import { pipelinesOf, type Use } from './shared-component-usage.ts';

interface Props {
  env: string;
  component: SharedComponent;
  /** The config is being changed: then all of them would have an update. */
  changing: boolean;
}

/** The same as in the graph editor, without looking at it first. */
const TakeOver = ({ uses, name }: { uses: readonly Use[]; name: string }) => {
  const { team } = usePlace();
  const accept = useMutation({
    mutationFn: async () => {
      for (const { pipelineId, nodeId } of uses)
        await api.sharedComponent.acceptUpdate.mutate({ pipelineId, nodeId });
    },
    onSuccess: () => notify(`${name} has taken it over; deploy it to bring it to the nodes.`),
    onError: (error) => notifyFailure(`${name} has not taken it over`, error),
  });
  if (team.role === 'VIEWER') return null;
  return (
    <Button
      size="small"
      aria-label={`Take it over in ${name}`}
      disabled={accept.isPending}
      onClick={() => accept.mutate()}
    >
      Take over
    </Button>
  );
};

/** Who uses it, with the version that each has accepted. */
export const SharedUsers = ({ env, component, changing }: Props) => {
  const pipelines = useQuery(queries.pipelines(env));
  const users = pipelinesOf(component.usedBy);
  const owner = new Map((pipelines.data ?? []).map(({ id, managedBy }) => [id, managedBy]));
  return (
    <Section
      title={`Used by ${plural(users.length, 'pipeline')}`}
      beside={
        changing &&
        users.length > 0 && (
          <Badge tone="moving">
            {users.length === 1 ? 'it would have an update' : 'all would have an update'}
          </Badge>
        )
      }
    >
      <ul className="dependency-list" aria-label="Pipelines that use it">
        {users.map(({ id, name, uses }) => (
          <li key={id}>
            <span className="dependency-line">
              <Link to={paths.pipelineEditor(env, id, { component: uses[0]?.componentKey })}>{name}</Link>
              <span className="muted">
                as {uses.map(({ componentKey }) => componentKey).join(', ')}
                {owner.get(id) === 'git' && ', described in git'}
              </span>
            </span>
            {uses.every(({ version }) => version === component.version) ? (
              <Badge tone="ok">v{component.version}</Badge>
            ) : (
              <span className="dependency-line">
                <Badge tone="moving" tip="Open it to look at what changes">
                  v{Math.min(...uses.map(({ version }) => version))}, v{component.version} is there
                </Badge>
                <TakeOver uses={uses.filter(({ version }) => version < component.version)} name={name} />
              </span>
            )}
          </li>
        ))}
        {users.length === 0 && (
          <li className="muted">Nobody yet: link it in the graph editor, from the catalogue.</li>
        )}
      </ul>
    </Section>
  );
};
