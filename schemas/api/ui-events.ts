/** Which parts of open pages are out of date. */

/** Events on GET /api/events: `event: changed`. They say what to look at again, never what it is now. */
export const UI_TOPICS = [
  'pipelines',
  'fleet',
  'git',
  /** Pull requests and promotions. */
  'promotions',
  /** Rollouts by stages. */
  'rollouts',
  'secrets',
  'certificates',
  'environments',
  'teams',
  'alerts',
  'anomalies',
  'logs',
  /** Recommendations that lower costs. */
  'costs',
  /** Answers to requests for samples of events. */
  'samples',
  /** Templates, snippets and migrations of teams. */
  'library',
  'presets',
  /** How far a backup or a restore has come. */
  'backups',
  /** Of the whole installation. */
  'settings',
] as const;

export type UiTopic = (typeof UI_TOPICS)[number];

export interface UiEvent {
  /** `*` for every environment. */
  environmentId: string;
  topics: UiTopic[];
}
