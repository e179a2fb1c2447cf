/** The latest audit events with their users. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { EnvironmentSummary } from '../../../../schemas/api/fleet/environments.ts';
import type { RecentAuditEntry } from '../../../../schemas/api/insight/dashboard.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import { Section } from '../../ui/primitives/page.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { plural, shortCommit } from '../../ui/text/format.ts';
import { subjectHref, whatWasDone, whoDidIt } from '../audit/event-text.ts';

interface ItemProps {
  title: ReactNode;
  note: ReactNode;
  at: Date;
  /** Null where there is nothing to go to. */
  href: string | null;
}

const Item = ({ title, note, at, href }: ItemProps) => {
  const inner = (
    <>
      <span className="item-text">
        <span className="item-title">{title}</span>
        <span className="item-note">{note}</span>
      </span>
      <span className="item-side">
        <Time at={at} />
      </span>
    </>
  );
  return (
    <li>
      {href ? (
        <Link to={href} className="item">
          {inner}
        </Link>
      ) : (
        <div className="item">{inner}</div>
      )}
    </li>
  );
};

/** Environments that this person sees, by id. */
function useNames(): Map<string, string> {
  const { teams } = usePlace();
  return new Map(teams.flatMap(({ environments }) => environments.map(({ id, name }) => [id, name])));
}

/** How somebody likes the pages, and that somebody came, changes nothing for others. */
const isNews = ({ entityType, action }: RecentAuditEntry): boolean =>
  entityType !== 'UserPreference' && !/^user\.signed/.test(action);

export const RecentChanges = () => {
  const entries = useQuery(queries.recentAudit());
  const names = useNames();
  return (
    <Section title="Last changes">
      <Loaded query={entries} what="The last changes" skeleton={<SkeletonRows rows={6} />}>
        {(list) => (
          <ul className="recent-list" aria-label="Last changes">
            {list.filter(isNews).map((entry) => {
              const place = entry.environmentId ? names.get(entry.environmentId) : undefined;
              return (
                <Item
                  key={entry.id}
                  title={whatWasDone(entry)}
                  note={[whoDidIt(entry), place].filter(Boolean).join(' · ')}
                  at={entry.createdAt}
                  href={place ? subjectHref(entry) : null}
                />
              );
            })}
            {!list.some(isNews) && <li className="item muted">Nothing was changed yet.</li>}
          </ul>
        )}
      </Loaded>
    </Section>
  );
};

export const RecentDeploys = ({ environment }: { environment: EnvironmentSummary }) => {
  const stats = useQuery(queries.dashboardStats(environment.id));
  const title = `Deployed in ${environment.name} within a day`;
  return (
    <Section
      title={title}
      beside={
        <span className="muted">{stats.data ? plural(stats.data.recentDeploys.total, 'pipeline') : ''}</span>
      }
    >
      <Loaded query={stats} what="What was deployed" skeleton={<SkeletonRows rows={6} />}>
        {({ recentDeploys: { latest }, alertRules }) => (
          <>
            <ul className="recent-list" aria-label={title}>
              {latest.map(({ pipelineId, name, version, commit, deployedAt }) => (
                <Item
                  key={pipelineId}
                  title={name}
                  note={[
                    version === null ? '' : `version ${version}`,
                    commit ? shortCommit(commit) : 'by hand',
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                  at={deployedAt}
                  href={paths.pipeline(environment.id, pipelineId, { tab: 'versions' })}
                />
              ))}
              {latest.length === 0 && <li className="item muted">Nothing was deployed within a day.</li>}
            </ul>
            <p className="recent-foot muted">
              <Link to={paths.alerts(environment.id, { tab: 'rules' })}>
                {plural(alertRules.total, 'alert rule')}
              </Link>
              , {alertRules.enabled} enabled
            </p>
          </>
        )}
      </Loaded>
    </Section>
  );
};

export const RecentPipelines = () => {
  const pipelines = useQuery(queries.recentPipelines());
  return (
    <Section title="Pipelines changed last">
      <Loaded query={pipelines} what="The pipelines changed last" skeleton={<SkeletonRows rows={5} />}>
        {(list) => (
          <ul className="recent-list" aria-label="Pipelines changed last">
            {list.map((pipeline) => (
              <Item
                key={pipeline.id}
                title={
                  <>
                    {pipeline.name} <EnvironmentTag environment={{ name: pipeline.environmentName }} />
                  </>
                }
                note={[
                  pipeline.deployedVersionNumber === null
                    ? 'draft'
                    : `version ${pipeline.deployedVersionNumber} deployed`,
                  pipeline.managedBy === 'git' ? 'from git' : 'made by hand',
                ].join(' · ')}
                at={pipeline.updatedAt}
                href={paths.pipeline(pipeline.environmentId, pipeline.id)}
              />
            ))}
            {list.length === 0 && <li className="item muted">There is no pipeline yet.</li>}
          </ul>
        )}
      </Loaded>
    </Section>
  );
};
