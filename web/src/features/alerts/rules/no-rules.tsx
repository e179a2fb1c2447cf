import { useQuery } from '@tanstack/react-query';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { EmptyState } from '../../../ui/feedback/page-states.tsx';
import { ButtonLink } from '../../../ui/primitives/button.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';

/** Teaches how the first rule is made. */
export const NoRules = () => {
  const { environment, team } = usePlace();
  const git = useQuery(queries.git(environment.id));
  const folder = git.data?.path || 'environments/staging';
  return (
    <EmptyState icon="alerts" title="No alert rules yet">
      <p>
        A rule says what is not well: a node that is silent, a processor that is busy, events that are lost.
        Make one here, or push it as a manifest beside the pipelines.
      </p>
      {team.role === 'VIEWER' ? (
        <p className="muted">Ask an editor of {team.name} to make one.</p>
      ) : (
        <ButtonLink icon="plus" kind="primary" to={paths.alerts(environment.id, { tab: 'rules', new: '1' })}>
          New alert rule
        </ButtonLink>
      )}
      <CommandBlock
        label="commands that push a first alert rule"
        lines={[
          `git clone ${git.data?.cloneUrl ?? '<address from the Git page>'} config && cd config`,
          `mkdir -p ${folder}/alerts`,
          `cat > ${folder}/alerts/busy-cpu.yaml <<'YAML'`,
          'apiVersion: headgate/v1',
          'kind: AlertRule',
          'metadata: { name: Busy CPU }',
          'spec: { metric: cpu_usage, condition: gt, threshold: 90, durationSeconds: 60 }',
          'YAML',
          "git add . && git commit -m 'Add an alert rule' && git push",
        ]}
      />
    </EmptyState>
  );
};
