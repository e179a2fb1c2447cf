/** The alerts that fire in all environments of the user and that nobody looks after yet. */
import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { alertQueries } from '../../api/queries/alerts.ts';
import { useLoadError } from '../../ui/feedback/load-error.ts';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import { Icon } from '../../ui/primitives/icons.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { paths } from '../paths.ts';
import { usePlace } from '../scope.tsx';
import { bellMenu } from './bell-menu.ts';

export const Bell = () => {
  const { environment } = usePlace();
  const open = useQuery(alertQueries.openEverywhere());
  const { count, label, groups, rest } = bellMenu(open.data);
  const failed = useLoadError(open) !== null || open.isError;
  const acknowledged = open.data?.acknowledged ?? 0;
  return (
    <Menu position="bottom-end" width={360} shadow="md">
      <Menu.Target>
        <button
          type="button"
          className="bell"
          aria-label={label}
          data-firing={count !== '' || undefined}
          data-tip={label}
        >
          <Icon name="alerts" size={18} />
          {count !== '' && (
            <span className="bell-count" aria-hidden="true">
              {count}
            </span>
          )}
        </button>
      </Menu.Target>
      <Menu.Dropdown className="bell-menu">
        {groups.length === 0 && (
          <Menu.Label>
            {failed ? 'The alerts could not be read; they are asked for again.' : 'Nothing is firing'}
          </Menu.Label>
        )}
        {groups.map(({ environmentId, environmentName, teamName, events }) => (
          <div key={environmentId}>
            <Menu.Label>
              <span className="bell-place">
                {teamName} <EnvironmentTag environment={{ name: environmentName }} />
              </span>
            </Menu.Label>
            {events.map((event) => (
              <Menu.Item
                key={event.id}
                component={Link}
                to={paths.alerts(event.environmentId, { event: event.id })}
                leftSection={<Icon name="alerts" size={14} />}
              >
                <span className="bell-event">{event.message}</span>
                <span className="bell-when">
                  {event.ruleName}, <Time at={event.openedAt} />
                </span>
              </Menu.Item>
            ))}
          </div>
        ))}
        {rest > 0 && <Menu.Label>and {rest.toLocaleString('en')} more</Menu.Label>}
        {acknowledged > 0 && (
          <Menu.Label>{acknowledged.toLocaleString('en')} acknowledged, in all environments</Menu.Label>
        )}
        <Menu.Divider />
        <Menu.Item component={Link} to={paths.alerts(environment.id)}>
          Alerts of {environment.name}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
