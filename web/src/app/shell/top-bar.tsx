import { Menu } from '@mantine/core';
import { useLocation, useNavigate } from 'react-router';
import { useLiveState } from '../../api/events.ts';
import { useReach } from '../../api/reachability.ts';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import { Icon, Logo } from '../../ui/primitives/icons.tsx';
import { samePageIn } from '../paths.ts';
import { usePlace } from '../scope.tsx';
import { Bell } from './bell.tsx';
import { UserMenu } from './user-menu.tsx';

interface Props {
  openPalette: () => void;
  openShortcuts: () => void;
}

export const TopBar = ({ openPalette, openShortcuts }: Props) => (
  <header className="top-bar">
    <span className="top-logo">
      <Logo />
    </span>
    <PlaceMenu />
    <button type="button" className="search-button" onClick={openPalette}>
      <Icon name="search" size={14} />
      <span className="search-word">Go to anything</span>
      <kbd>Ctrl K</kbd>
    </button>
    <LiveDot />
    <Bell />
    <UserMenu openShortcuts={openShortcuts} />
  </header>
);

/** Team and environment, production marked in the button as well as in the list. */
const PlaceMenu = () => {
  const { team, environment, teams } = usePlace();
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  return (
    <Menu position="bottom-start" width={280} shadow="md">
      <Menu.Target>
        <button type="button" className="place-button">
          <span className="sr-only">Team </span>
          <span className="place-team">{team.name}</span>
          <span className="place-slash" aria-hidden="true">
            /
          </span>
          <span className="sr-only">, environment </span>
          <EnvironmentTag environment={environment} />
          <Icon name="chevronDown" size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {teams.map((entry) => (
          <div key={entry.team.id}>
            <Menu.Label>{entry.team.name}</Menu.Label>
            {entry.environments.map((each) => (
              <Menu.Item
                key={each.id}
                aria-current={each.id === environment.id ? 'true' : undefined}
                onClick={() => navigate(samePageIn(pathname, each.id, search))}
                rightSection={each.id === environment.id ? <Icon name="check" size={14} /> : null}
              >
                <EnvironmentTag environment={each} />
                <span className="menu-note mono">{each.pipelineCount} pipelines</span>
              </Menu.Item>
            ))}
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
};

const clockTime = (at: number): string =>
  new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });

/** A stream that is open says nothing while the controller hangs: then pages are as old as their last good answer. */
const useLive = (): ReturnType<typeof useLiveState> => {
  const stream = useLiveState();
  const reach = useReach();
  const silent = reach.kind === 'away' && reach.what !== 'disk';
  return silent && stream.kind === 'connected' ? { kind: 'stale', since: reach.since } : stream;
};

export const LiveDot = () => {
  const live = useLive();
  const word =
    live.kind === 'connected'
      ? 'Live'
      : live.kind === 'stale'
        ? `Stale since ${clockTime(live.since)}`
        : live.kind === 'reconnecting'
          ? 'Reconnecting'
          : 'Connecting';
  return (
    <span
      className="live"
      data-kind={live.kind}
      role="status"
      data-tip={
        live.kind === 'connected'
          ? 'Connected: the page follows every change'
          : 'Not connected: the page shows what was last seen'
      }
    >
      <span className="live-dot" aria-hidden="true" />
      {word}
    </span>
  );
};
