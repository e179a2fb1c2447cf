import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { EmptyState } from '../../ui/feedback/page-states.tsx';
import { ButtonLink } from '../../ui/primitives/button.tsx';

/** Teaches what the assistant is, where the team has no provider. */
export const NoProvider = () => {
  const { team, environment } = usePlace();
  return (
    <EmptyState icon="assistant" title="The assistant needs an AI provider">
      <p>
        It explains why a pipeline fails, proposes changes and writes VRL. It asks a model of your team’s
        choice, which may run in your own network.
      </p>
      {team.role === 'ADMIN' ? (
        <ButtonLink kind="primary" to={paths.settings(environment.id, { tab: 'assistant' })}>
          Add a provider
        </ButtonLink>
      ) : (
        <p>An ADMIN of {team.name} adds one under Settings: ask one.</p>
      )}
    </EmptyState>
  );
};
