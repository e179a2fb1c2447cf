/** Actions of the palette that begin on a page of their own. */
import type { TeamSummary } from '../../../../schemas/api/identity/people.ts';
import type { IconName } from '../../ui/primitives/icons.tsx';
import { paths } from '../paths.ts';

const EVERYBODY: readonly TeamSummary['role'][] = ['VIEWER', 'EDITOR', 'ADMIN'];

export const PALETTE_ACTIONS: readonly {
  id: string;
  icon: IconName;
  word: (environment: string) => string;
  to: (env: string) => string;
  roles: readonly TeamSummary['role'][];
}[] = [
  {
    id: 'do-pipeline',
    icon: 'pipelines',
    word: () => 'New pipeline',
    to: (env) => paths.pipelines(env, { new: '1' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-migrations',
    icon: 'transform',
    word: () => 'Migrations from Fluentd and Vector',
    to: (env) => paths.migrations(env),
    roles: EVERYBODY,
  },
  {
    id: 'do-migrate',
    icon: 'transform',
    word: () => 'Migrate a configuration of Fluentd',
    to: (env) => paths.migrations(env, { new: 'fluentd' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-template',
    icon: 'library',
    word: () => 'New template from a pipeline',
    to: (env) => paths.library(env, { new: '1' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-snippet',
    icon: 'library',
    word: () => 'New VRL snippet',
    to: (env) => paths.library(env, { tab: 'snippets', id: 'new' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-shared',
    icon: 'link',
    word: () => 'New shared component',
    to: (env) => paths.library(env, { tab: 'shared', id: 'new' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-snippets',
    icon: 'library',
    word: () => 'VRL snippets',
    to: (env) => paths.library(env, { tab: 'snippets' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-shared-list',
    icon: 'link',
    word: () => 'Shared components',
    to: (env) => paths.library(env, { tab: 'shared' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-vrl',
    icon: 'playground',
    word: () => 'Try a VRL program',
    to: (env) => paths.playground(env),
    roles: EVERYBODY,
  },
  {
    id: 'do-check',
    icon: 'playground',
    word: () => 'Check an engine config',
    to: (env) => paths.playground(env, { tab: 'config' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-rule',
    icon: 'alerts',
    word: () => 'New alert rule',
    to: (env) => paths.alerts(env, { tab: 'rules', new: '1' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-silence',
    icon: 'held',
    word: () => 'Silence alerts',
    to: (env) => paths.alerts(env, { tab: 'silences', new: '1' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-firing',
    icon: 'alerts',
    word: (environment) => `Alerts that fire in ${environment}`,
    to: (env) => paths.alerts(env),
    roles: EVERYBODY,
  },
  {
    id: 'do-alert-history',
    icon: 'alerts',
    word: (environment) => `History of alerts in ${environment}`,
    to: (env) => paths.alerts(env, { tab: 'history' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-rules',
    icon: 'alerts',
    word: (environment) => `Alert rules of ${environment}`,
    to: (env) => paths.alerts(env, { tab: 'rules' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-silences',
    icon: 'held',
    word: (environment) => `Silences of ${environment}`,
    to: (env) => paths.alerts(env, { tab: 'silences' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-secret',
    icon: 'secrets',
    word: () => 'Add a secret',
    to: (env) => paths.secrets(env, { new: '1' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-certificate',
    icon: 'shield',
    word: () => 'Upload a certificate',
    to: (env) => paths.secrets(env, { tab: 'certificates', new: '1' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-node',
    icon: 'fleet',
    word: () => 'Add a node by hand',
    to: (env) => paths.fleet(env, { new: 'node' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-enroll',
    icon: 'fleet',
    word: () => 'Enroll a node',
    to: (env) => paths.fleet(env, { new: 'enroll' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-node-group',
    icon: 'fleet',
    word: () => 'Make a node group',
    to: (env) => paths.fleet(env, { view: 'groups', new: 'group' }),
    roles: ['ADMIN'],
  },
  {
    id: 'do-certificates',
    icon: 'shield',
    word: () => 'Certificates',
    to: (env) => paths.secrets(env, { tab: 'certificates' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-plan',
    icon: 'git',
    word: (environment) => `Plan of ${environment}: what git would change`,
    to: (env) => paths.git(env, { tab: 'plan' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-drift',
    icon: 'git',
    word: (environment) => `Drift of ${environment}: git, database, nodes`,
    to: (env) => paths.git(env, { tab: 'drift' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-holds',
    icon: 'held',
    word: (environment) => `Holds and pauses of ${environment}`,
    to: (env) => paths.git(env, { tab: 'holds' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-pull-requests',
    icon: 'promotions',
    word: (environment) => `Pull requests of ${environment}`,
    to: (env) => paths.promotions(env),
    roles: EVERYBODY,
  },
  {
    id: 'do-requests',
    icon: 'promotions',
    word: (environment) => `Requests to promote into or out of ${environment}`,
    to: (env) => paths.promotions(env, { tab: 'requests' }),
    roles: EVERYBODY,
  },
  {
    id: 'do-pull-request',
    icon: 'promotions',
    word: () => 'Open a pull request',
    to: (env) => paths.promotions(env, { new: '1' }),
    roles: ['EDITOR', 'ADMIN'],
  },
  {
    id: 'do-binding',
    icon: 'settings',
    word: (environment) => `How ${environment} is bound to git`,
    to: (env) => paths.git(env, { tab: 'settings' }),
    roles: EVERYBODY,
  },
];
