import { Menu, useMantineColorScheme } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from 'react-router';
import { useLiveState } from '../api/events.ts';
import { queries } from '../api/queries.ts';
import { useReach } from '../api/reach.ts';
import { sessionQuery, signOut } from '../api/session.ts';
import { EnvironmentTag } from '../components/bits.tsx';
import { Icon, type IconName, Logo } from '../components/icons.tsx';
import { forgetDrafts } from './drafts.ts';
import { usePlace } from './environment.tsx';
import { paths, samePageIn } from './paths.ts';

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
      <span className="kbd" aria-hidden="true">
        Ctrl K
      </span>
    </button>
    <LiveDot />
    <UserMenu openShortcuts={openShortcuts} />
  </header>
);

/** Team and environment, production marked in the button as well as in the list. */
const PlaceMenu = () => {
  const { team, environment, teams } = usePlace();
  const navigate = useNavigate();
  const { pathname } = useLocation();
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
                onClick={() => navigate(samePageIn(pathname, each.id))}
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

const LiveDot = () => {
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

export const SCHEMES: readonly { value: 'light' | 'dark' | 'auto'; word: string; icon: IconName }[] = [
  { value: 'light', word: 'Light', icon: 'sun' },
  { value: 'dark', word: 'Dark', icon: 'moon' },
  { value: 'auto', word: 'As the system', icon: 'screen' },
];

const UserMenu = ({ openShortcuts }: { openShortcuts: () => void }) => {
  const me = useQuery(queries.me());
  const { environment } = usePlace();
  const navigate = useNavigate();
  const leave = useSignOut();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" width={220} shadow="md">
      <Menu.Target>
        <button type="button" className="icon-button" aria-label="Account">
          <Icon name="user" size={18} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me.data?.email ?? '…'}</Menu.Label>
        {SCHEMES.map(({ value, word, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} size={14} />}
            rightSection={colorScheme === value ? <Icon name="check" size={14} /> : null}
            onClick={() => setColorScheme(value)}
          >
            {word}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="keyboard" size={14} />} onClick={openShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="settings" size={14} />}
          onClick={() => navigate(paths.settings(environment.id))}
        >
          Settings
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="leave" size={14} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

/** Ends the session and forgets everything that was read with it. */
export function useSignOut(): () => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await signOut();
    forgetDrafts();
    await navigate(paths.signIn());
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, { signedIn: false });
  };
}
