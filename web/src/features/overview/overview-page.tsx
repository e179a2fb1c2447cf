import { useQuery } from '@tanstack/react-query';
import type { EnvironmentOverview } from '../../../../schemas/api/insight/dashboard.ts';
import { queries } from '../../api/queries/index.ts';
import { usePlace } from '../../app/scope.tsx';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { plural } from '../../ui/text/format.ts';
import { EnvironmentCard } from './environment-card.tsx';
import { NodesToLookAt } from './node-cards.tsx';
import { RecentChanges, RecentDeploys, RecentPipelines } from './recent-activity.tsx';

export const OverviewPage = () => {
  const { team, environment, environments } = usePlace();
  const overview = useQuery(queries.overview());
  return (
    <Page title="Overview" beside={<span className="muted">{team.name}</span>}>
      <Loaded
        query={overview}
        what="The overview"
        skeleton={environments.map(({ id }) => <SkeletonBlock key={id} height={290} />)}
      >
        {(data) => {
          const byId = new Map(data.environments.map((each) => [each.environmentId, each]));
          const shown = environments.flatMap(({ id }): EnvironmentOverview[] => {
            const found = byId.get(id);
            return found ? [found] : [];
          });
          return (
            <>
              {shown.map((each) => (
                <EnvironmentCard key={each.environmentId} overview={each} />
              ))}
              {data.total > data.environments.length && (
                <p className="muted">
                  The first {data.environments.length} of {plural(data.total, 'environment')} are shown.
                </p>
              )}
            </>
          );
        }}
      </Loaded>
      <NodesToLookAt />
      <div className="recent">
        <RecentChanges />
        <RecentDeploys environment={environment} />
        <RecentPipelines />
      </div>
    </Page>
  );
};
