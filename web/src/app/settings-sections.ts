/** The parts of the settings, in the order in which they stand in the navigation. */
import type { TeamSummary } from '../../../schemas/api/identity/people.ts';
import type { SettingsTab } from './paths.ts';

export interface SettingsPart {
  tab: SettingsTab | 'you';
  group: 'you' | 'team' | 'environment' | 'server';
  word: string;
  icon:
    | 'user'
    | 'overview'
    | 'settings'
    | 'secrets'
    | 'shield'
    | 'sync'
    | 'leave'
    | 'fleet'
    | 'assistant'
    | 'download';
  /** A table of many columns takes all the room that there is. */
  wide?: true;
  /** As the palette calls it. */
  called: (names: { team: string; environment: string }) => string;
}

export const SETTINGS_PARTS: readonly SettingsPart[] = [
  {
    tab: 'you',
    group: 'you',
    word: 'You',
    icon: 'user',
    called: () => 'Your account: password, two-factor, sessions, tokens, theme',
  },
  {
    tab: 'members',
    group: 'team',
    word: 'Members',
    icon: 'user',
    wide: true,
    called: ({ team }) => `Members of ${team}`,
  },
  {
    tab: 'assistant',
    group: 'team',
    word: 'Assistant',
    icon: 'assistant',
    called: ({ team }) => `Assistant of ${team}: AI provider, limits and usage`,
  },
  {
    tab: 'environment',
    group: 'environment',
    word: 'General',
    icon: 'settings',
    called: ({ environment }) => `Settings of ${environment}`,
  },
  {
    tab: 'access',
    group: 'environment',
    word: 'Access',
    icon: 'secrets',
    called: ({ environment }) => `Enrollment token and service accounts of ${environment}`,
  },
  { tab: 'users', group: 'server', word: 'Users', icon: 'user', wide: true, called: () => 'All users' },
  { tab: 'teams', group: 'server', word: 'Teams', icon: 'overview', wide: true, called: () => 'All teams' },
  {
    tab: 'sso',
    group: 'server',
    word: 'Single sign-on',
    icon: 'shield',
    called: () => 'Single sign-on (OpenID Connect) and groups',
  },
  { tab: 'scim', group: 'server', word: 'SCIM', icon: 'sync', called: () => 'SCIM provisioning' },
  {
    tab: 'streams',
    group: 'server',
    word: 'Streams',
    icon: 'leave',
    called: () => 'Streams of the audit log',
  },
  {
    tab: 'backups',
    group: 'server',
    word: 'Backups',
    icon: 'download',
    called: () => 'Backups: create, restore, schedule, storage',
  },
  {
    tab: 'server',
    group: 'server',
    word: 'Fleet and retention',
    icon: 'fleet',
    called: () => 'Server: fleet, anomalies and retention',
  },
];

/** Of the user: their scope, and whether they are a super admin. */
export interface SettingsScope {
  team: TeamSummary | null;
  environment: { id: string; name: string } | null;
  isSuperAdmin: boolean;
}

export const isOffered = (
  { group }: SettingsPart,
  { team, environment, isSuperAdmin }: SettingsScope,
): boolean =>
  group === 'you' ||
  (group === 'team' && team !== null) ||
  (group === 'environment' && environment !== null) ||
  (group === 'server' && isSuperAdmin);
