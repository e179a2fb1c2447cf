/** Settings for the pull requests that Headgate opens for a binding, with the templates of title and body. */
import { isDeepStrictEqual } from 'node:util';
import type { PullRequestSettings } from '../../../../schemas/api/delivery/forges.ts';
import type { ConfigureGitSync } from '../../../../schemas/api/delivery/git-sync.ts';
import { badRequest } from '../../../platform/operation/errors.ts';
import type { Binding, ForgeChoice } from '../store.ts';

/** The settings that somebody has set. */
export type PullRequestSettingsParts = Partial<PullRequestSettings>;

const DEFAULTS: PullRequestSettings = {
  deleteBranches: true,
  draft: false,
  labels: [],
  reviewers: [],
  assignees: [],
  title: null,
  body: null,
};

export const pullRequestSettings = ({
  pullRequestSettings: parts,
}: Pick<Binding, 'pullRequestSettings'>): PullRequestSettings => ({ ...DEFAULTS, ...parts });

/** A variable of a template. */
export const VARIABLE = /\{\{([^{}]*)\}\}/g;
const OF_TITLE: readonly string[] = ['title', 'kind', 'name', 'environment', 'author'];
const OF_BODY: readonly string[] = [...OF_TITLE, 'body'];

/** Features that a forge lacks. */
const LACKS: Partial<Record<ForgeChoice, readonly ('labels' | 'assignees' | 'reviewers' | 'draft')[]>> = {
  none: ['labels', 'reviewers', 'assignees', 'draft'],
  bitbucket: ['labels', 'assignees'],
  'bitbucket-data-center': ['labels', 'assignees'],
  'azure-devops': ['assignees'],
};

/** @throws BAD_REQUEST that names the field and what to give */
export function pullRequestSettingsOf(
  { pullRequests: given }: Pick<ConfigureGitSync, 'pullRequests'>,
  before: Binding | null,
  forge: ForgeChoice,
): PullRequestSettingsParts {
  const parts = { ...before?.pullRequestSettings, ...given };
  for (const field of LACKS[forge] ?? []) {
    const value = parts[field];
    if (!(Array.isArray(value) ? value.length > 0 : value)) continue;
    // A value that was set for another forge does not block other changes.
    if (given?.[field] === undefined) {
      delete parts[field];
      continue;
    }
    const where = forge === 'none' ? 'pull requests that Headgate keeps itself' : `pull requests of ${forge}`;
    throw badRequest(
      `pullRequests.${field}: ${where} have none; give ${field === 'draft' ? 'false' : 'an empty list'}`,
    );
  }
  for (const [field, known] of [
    ['title', OF_TITLE],
    ['body', OF_BODY],
  ] as const)
    for (const [whole, name = ''] of parts[field]?.matchAll(VARIABLE) ?? [])
      if (!known.includes(name))
        throw badRequest(
          `pullRequests.${field}: ${whole} is not known; write one of ${known.map((entry) => `{{${entry}}}`).join(', ')}`,
        );
  if (parts.title && /[\r\n]/.test(parts.title))
    throw badRequest('pullRequests.title has a line break; write one line');
  return parts;
}

/** For the audit log. */
export function pullRequestsDiff(
  before: PullRequestSettingsParts,
  after: PullRequestSettingsParts,
): Record<string, [unknown, unknown]> {
  const [was, is] = [
    { ...DEFAULTS, ...before },
    { ...DEFAULTS, ...after },
  ];
  const fields = Object.keys(DEFAULTS) as (keyof PullRequestSettings)[];
  return Object.fromEntries(
    fields
      .filter((field) => !isDeepStrictEqual(was[field], is[field]))
      .map((field) => [`pullRequests.${field}`, [was[field], is[field]]]),
  );
}
