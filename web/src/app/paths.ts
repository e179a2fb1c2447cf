/** The one place that builds addresses of pages. */
import type { UNGROUPED as UngroupedKey } from '../../../schemas/api/fleet/node-groups.ts';

/** In the place of a group's id: the nodes that belong to none. */
export const UNGROUPED: typeof UngroupedKey = '__ungrouped__';

type Query = Record<string, string | undefined>;

function build(segments: string[], query: Query = {}): string {
  const path = `/${segments.map(encodeURIComponent).join('/')}`;
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) search.set(key, value);
  return search.size > 0 ? `${path}?${search}` : path;
}

export type PipelineTab =
  | 'nodes'
  | 'logs'
  | 'events'
  | 'metrics'
  | 'versions'
  | 'rollouts'
  | 'promotions'
  | 'config'
  | 'dependencies'
  | 'settings';
export type MetricsTab = 'throughput' | 'costs';
export type LibraryTab = 'templates' | 'snippets' | 'shared';

export type GitTab = 'plan' | 'drift' | 'holds' | 'passes' | 'settings';

/** Absent: `firing`. */
export type AlertsTab = 'firing' | 'history' | 'rules' | 'silences' | 'endpoints';

export type PromotionsTab = 'requests';
/** What a phone shows of a pull request at a time. */
export type PullRequestPart = 'plan' | 'talk';

/** Absent: `you`. */
export type SettingsTab =
  | 'members'
  | 'assistant'
  | 'environment'
  | 'access'
  | 'users'
  | 'teams'
  | 'sso'
  | 'backups'
  | 'scim'
  | 'streams'
  | 'server';

export const paths = {
  signIn: (next?: string) => build(['sign-in'], { next }),
  apiDocs: () => build(['docs', 'api']),
  overview: (env: string) => build(['e', env, 'overview']),
  pipelines: (
    env: string,
    query?: { q?: string; sort?: string; status?: string; group?: string; new?: string },
  ) => build(['e', env, 'pipelines'], query),
  pipeline: (
    env: string,
    id: string,
    query?: {
      tab?: PipelineTab;
      focus?: string;
      level?: string;
      node?: string;
      /** With `to`, the time of charts, as ISO 8601 has it. */
      from?: string;
      /** Key of a component, with `.port` for a named output. */
      component?: string;
      /** `1` opens the dialog, `canary` with some nodes first. */
      deploy?: string;
      /** `1` opens the dialog of a promotion, `to` the environment that is chosen in it. */
      promote?: string;
      to?: string;
    },
  ) => build(['e', env, 'pipelines', id], query),
  /** The editor of its graph. */
  pipelineEditor: (env: string, id: string, query?: { component?: string }) =>
    build(['e', env, 'pipelines', id, 'edit'], query),
  /** `new` brings a configuration in: `fluentd` or `vector`. */
  migrations: (env: string, query?: { new?: 'fluentd' | 'vector' }) => build(['e', env, 'migrations'], query),
  migration: (
    env: string,
    id: string,
    query?: { step?: 'samples' | 'validate' | 'generate'; block?: string },
  ) => build(['e', env, 'migrations', id], query),
  library: (env: string, query?: { tab?: LibraryTab; id?: string; new?: string }) =>
    build(['e', env, 'library'], query),
  playground: (env: string, query?: { tab?: 'vrl' | 'config' }) => build(['e', env, 'playground'], query),
  fleet: (
    env: string,
    query?: {
      q?: string;
      health?: string;
      state?: string;
      view?: string;
      /** Opens a dialog: `node` one that makes a node by hand, `enroll` one that makes a token, `group` a group. */
      new?: string;
    },
  ) => build(['e', env, 'fleet'], query),
  node: (
    env: string,
    id: string,
    query?: {
      level?: string;
      pipeline?: string;
      /** The time of charts, as ISO 8601 has it. */
      from?: string;
      to?: string;
      /** Opens the dialog of an action. */
      do?: 'maintenance';
    },
  ) => build(['e', env, 'fleet', id], query),
  groups: (env: string) => build(['e', env, 'fleet'], { view: 'groups' }),
  group: (env: string, id: string, query?: { health?: string }) =>
    build(['e', env, 'fleet', 'groups', id], query),
  git: (
    env: string,
    query?: {
      tab?: GitTab;
      /** Path of a manifest, or of a kept object `Kind/name`. */
      focus?: string;
      q?: string;
      /** Another branch, tag or commit that is planned. */
      ref?: string;
      /** `1` shows what does not differ, too. */
      all?: string;
      /** Of passes. */
      commit?: string;
    },
  ) => build(['e', env, 'git'], query),
  promotions: (
    env: string,
    query?: {
      tab?: PromotionsTab;
      /** Of pull requests; absent: those that are open. */
      state?: 'merged' | 'closed' | 'all';
      /** `1` opens the dialog that opens a pull request. */
      new?: string;
    },
  ) => build(['e', env, 'promotions'], query),
  pullRequest: (env: string, number: number, query?: { part?: PullRequestPart; file?: string }) =>
    build(['e', env, 'promotions', String(number)], query),
  alerts: (
    env: string,
    query?: {
      tab?: AlertsTab;
      /** An event with its timeline, in the place of the tabs. */
      event?: string;
      /** Of `history` and `rules`: those about a pipeline. */
      pipeline?: string;
      /** Of `history`. */
      rule?: string;
      node?: string;
      status?: string;
      /** Of `rules`: the filter. */
      q?: string;
      /** The silence that is marked in the list. */
      silence?: string;
      /** Of `endpoints`: the one whose deliveries are open. */
      deliveries?: string;
      /** `1` opens the dialog that makes a rule, or a silence. */
      new?: string;
    },
  ) => build(['e', env, 'alerts'], query),
  secrets: (env: string, query?: { tab?: 'certificates'; new?: string }) =>
    build(['e', env, 'secrets'], query),
  metrics: (env: string, query?: { tab?: MetricsTab; range?: string }) => build(['e', env, 'metrics'], query),
  /** `at` is the number of an event. */
  audit: (env: string, query?: { who?: string; what?: string; q?: string; at?: string }) =>
    build(['e', env, 'audit'], query),
  settings: (env: string, query?: { tab?: SettingsTab }) => build(['e', env, 'settings'], query),
  /** The settings of users without an environment; others are redirected to those of their environment. */
  settingsAnywhere: (query?: { tab?: SettingsTab }) => build(['settings'], query),
};

/** The same page in another environment; a single object does not exist there, so its list is shown. */
export function samePageIn(pathname: string, env: string, search = ''): string {
  const page = pathname.split('/')[3] ?? 'overview';
  // Which of the settings are looked at is none of the environment's business.
  const tab = page === 'settings' ? (new URLSearchParams(search).get('tab') ?? undefined) : undefined;
  return build(['e', env, page], { tab });
}
