import { Link } from 'react-router';
import type { EnvironmentOverview } from '../../../../schemas/api/insight/dashboard.ts';
import { paths } from '../../app/paths.ts';
import { TONE_ICON } from '../../ui/primitives/badge.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';

const MAX_LISTED = 5;

type Problem = EnvironmentOverview['problems'][number];

/** Where a problem shows its cause. */
function causeOf(env: string, { kind, id, key, path }: Problem): string {
  if (kind === 'alert' && id) return paths.alerts(env, { event: id });
  if (kind === 'node' && id) return paths.node(env, id);
  if (kind === 'pipeline' && id)
    return paths.pipeline(env, id, key.startsWith('errors-') ? { tab: 'nodes' } : {});
  return paths.git(env, { focus: path ?? undefined });
}

/** What is wrong now, worst first. */
export const Problems = ({ overview }: { overview: EnvironmentOverview }) => {
  const { environmentId: env, environmentName: name, problems, problemCount } = overview;
  const shown = problems.slice(0, MAX_LISTED);
  const something = overview.pipelines.total + overview.nodes.total > 0;
  return (
    <div className="env-list">
      <h3>Wrong now{problemCount > 0 ? ` · ${problemCount}` : ''}</h3>
      {problemCount === 0 ? (
        <p className="calm-note">
          <Icon name={something ? 'check' : 'dash'} />
          {something ? 'Everything that should run runs.' : 'Nothing should run here yet.'}
        </p>
      ) : (
        <ul aria-label={`Wrong in ${name}`}>
          {shown.map((problem) => (
            <li key={problem.key}>
              <Link to={causeOf(env, problem)} className="item" data-tone={problem.tone}>
                <Icon name={TONE_ICON[problem.tone]} />
                <span className="item-text">
                  <span className="item-title">{problem.title}</span>
                  <span className="item-note">{problem.note}</span>
                </span>
                <Icon name="chevronRight" size={14} />
              </Link>
            </li>
          ))}
          {problemCount > shown.length && (
            <li className="item muted">
              and {problemCount - shown.length} more, on Alerts, Pipelines, Fleet and Git
            </li>
          )}
        </ul>
      )}
    </div>
  );
};
