import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { usePlace } from '../../../app/scope.tsx';
import { Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { DeleteEnvironment } from './delete-environment.tsx';
import { General } from './environment-form.tsx';
import { HiddenKeys } from './hidden-keys.tsx';
import { SecretStoreSettings } from './secret-store-form.tsx';

/** What holds for the whole environment. */
export const EnvironmentTab = () => {
  const place = usePlace();
  const environment = useQuery(queries.environment(place.environment.id));
  return (
    <Loaded
      query={environment}
      what="The environment"
      skeleton={<SkeletonBlock height={560} label="Loading the environment" />}
    >
      {(data) => (
        <Stack gap="md">
          <General environment={data} role={place.team.role} />
          <SecretStoreSettings environment={data} mayEdit={place.team.role !== 'VIEWER'} />
          <HiddenKeys environment={data} mayEdit={place.team.role === 'ADMIN'} />
          <Section title="Git">
            <div className="section-body">
              <p>
                {data.gitMode === 'off'
                  ? 'No repository is followed.'
                  : `A repository is followed: ${data.gitMode}.`}{' '}
                <Link to={paths.git(data.id)}>Set it up on the page Git</Link>
              </p>
            </div>
          </Section>
          <DeleteEnvironment environment={data} mayDelete={place.team.role === 'ADMIN'} />
        </Stack>
      )}
    </Loaded>
  );
};
