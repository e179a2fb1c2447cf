import { Menu, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { queries } from '../../api/queries/index.ts';
import { IconButton } from '../../ui/primitives/button.tsx';
import { Icon, type IconName } from '../../ui/primitives/icons.tsx';
import { paths, type SettingsTab } from '../paths.ts';
import { usePlaceIfAny, useTeamIfAny } from '../scope.tsx';
import { useSignOut } from './sign-out.ts';

export const SCHEMES: readonly { value: 'light' | 'dark' | 'auto'; word: string; icon: IconName }[] = [
  { value: 'light', word: 'Light', icon: 'sun' },
  { value: 'dark', word: 'Dark', icon: 'moon' },
  { value: 'auto', word: 'As the system', icon: 'screen' },
];

/** The settings of the environment at hand, or those outside of every one. */
export function useSettingsPath(): (tab?: SettingsTab) => string {
  const place = usePlaceIfAny();
  return (tab) => (place ? paths.settings(place.environment.id, { tab }) : paths.settingsAnywhere({ tab }));
}

export const UserMenu = ({ openShortcuts }: { openShortcuts: () => void }) => {
  const me = useQuery(queries.me());
  const team = useTeamIfAny();
  const settings = useSettingsPath();
  const navigate = useNavigate();
  const leave = useSignOut();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" width={220} shadow="md">
      <Menu.Target>
        <IconButton icon="user" size={18} label="Account" />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="menu-person">
          <b>{me.data?.name ?? '…'}</b>
          <span>{me.data?.email}</span>
        </Menu.Label>
        <Menu.Item leftSection={<Icon name="user" size={14} />} onClick={() => navigate(settings())}>
          Your settings
        </Menu.Item>
        {team && (
          <Menu.Item
            leftSection={<Icon name="overview" size={14} />}
            onClick={() => navigate(settings('members'))}
          >
            Members of {team.name}
          </Menu.Item>
        )}
        {me.data?.isSuperAdmin && (
          <Menu.Item
            leftSection={<Icon name="settings" size={14} />}
            onClick={() => navigate(settings('users'))}
          >
            Server settings
          </Menu.Item>
        )}
        <Menu.Divider />
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
        <Menu.Item leftSection={<Icon name="leave" size={14} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
