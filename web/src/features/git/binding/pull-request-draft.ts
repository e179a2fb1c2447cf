/** What pull requests of Headgate are like while it is written: lists as one text each. */
import type { BoundForge, PullRequestSettings } from '../../../../../schemas/api/delivery/forges.ts';

export interface RequestDraft {
  deleteBranches: boolean;
  draft: boolean;
  labels: string;
  reviewers: string;
  assignees: string;
  title: string;
  body: string;
}

export const requestDraft = (settings: PullRequestSettings): RequestDraft => ({
  deleteBranches: settings.deleteBranches,
  draft: settings.draft,
  labels: settings.labels.join(', '),
  reviewers: settings.reviewers.join(', '),
  assignees: settings.assignees.join(', '),
  title: settings.title ?? '',
  body: settings.body ?? '',
});

const listed = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
];

/** Without what the forge does not have: it is not shown, and what was set for another one stays away. */
export const requestInput = (
  draft: RequestDraft,
  forge: BoundForge['name'],
): Partial<PullRequestSettings> => ({
  deleteBranches: draft.deleteBranches,
  ...(forge === 'none' ? {} : { draft: draft.draft, reviewers: listed(draft.reviewers) }),
  ...(whatForgeHas(forge).labels ? { labels: listed(draft.labels) } : {}),
  ...(whatForgeHas(forge).assignees ? { assignees: listed(draft.assignees) } : {}),
  title: draft.title.trim() === '' ? null : draft.title.trim(),
  body: draft.body.trim() === '' ? null : draft.body,
});

/** Of what pull requests may have, and how it names reviewers. */
export function whatForgeHas(forge: BoundForge['name']): {
  labels: boolean;
  assignees: boolean;
  reviewers: string;
} {
  switch (forge) {
    case 'none':
      return { labels: false, assignees: false, reviewers: '' };
    case 'bitbucket':
      return { labels: false, assignees: false, reviewers: 'Account ids or {uuid}, separated by commas.' };
    case 'bitbucket-data-center':
      return { labels: false, assignees: false, reviewers: 'User names, separated by commas.' };
    case 'azure-devops':
      return { labels: true, assignees: false, reviewers: 'Ids of people or teams, separated by commas.' };
    case 'gitlab':
      return { labels: true, assignees: true, reviewers: 'Names, separated by commas.' };
    default:
      return {
        ...{ labels: true, assignees: true },
        reviewers: 'Names, separated by commas; org/team for a team.',
      };
  }
}
