import { Link } from 'react-router';
import type { EnvironmentOverview } from '../../../../schemas/api/insight/dashboard.ts';
import { paths } from '../../app/paths.ts';
import { TONE_ICON } from '../../ui/primitives/badge.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { shortCommit } from '../../ui/text/format.ts';
import { countsOf, outcomeOf, triggerOf } from '../git/passes/job-outcome.ts';

/** The last commits, and what became of them. */
export const Passes = ({ overview }: { overview: EnvironmentOverview }) => {
  const { environmentId: env, environmentName: name, passes } = overview;
  return (
    <div className="env-list">
      <h3>Last commits and what became of them</h3>
      {passes.length === 0 && <p className="calm-note muted">Nothing was pushed yet.</p>}
      <ul aria-label={`Last passes of ${name}`}>
        {passes.map((pass) => {
          const { tone, word } = outcomeOf(pass);
          return (
            <li key={pass.id}>
              <Link to={paths.git(env)} className="item" data-tone={tone}>
                <Icon name={TONE_ICON[tone]} />
                <span className="item-text">
                  <span className="item-title">
                    {pass.commit ? (
                      <>
                        <span className="mono">{shortCommit(pass.commit.sha)}</span> {pass.commit.subject}
                      </>
                    ) : (
                      `A pass without a commit: ${triggerOf(pass)}`
                    )}
                  </span>
                  <span className="item-note">
                    {word}: {countsOf(pass)}
                    {pass.commit ? ` · ${pass.commit.author}` : ''}
                  </span>
                </span>
                <span className="item-side">
                  <Time at={pass.finishedAt ?? pass.queuedAt} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
};
