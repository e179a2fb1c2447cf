/** What pull requests and promotions are called, and how far a promotion has come. */
import type { Role } from '../../../../schemas/api/common.ts';
import type { Promotion } from '../../../../schemas/api/delivery/promotions.ts';
import type {
  CheckState,
  ForgeName,
  PullRequestSummary,
} from '../../../../schemas/api/delivery/pull-requests.ts';
import type { Tone } from '../../ui/primitives/tone.ts';
import { plural } from '../../ui/text/format.ts';

export const FORGE_LABELS: Record<ForgeName, string> = {
  headgate: 'Headgate',
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea',
  bitbucket: 'Bitbucket',
  'bitbucket-data-center': 'Bitbucket Data Center',
  'azure-devops': 'Azure DevOps',
};

export const CHECKS: Record<CheckState, { tone: Tone; word: string }> = {
  pending: { tone: 'moving', word: 'Being planned' },
  success: { tone: 'ok', word: 'Passes' },
  failure: { tone: 'failed', word: 'Fails' },
  error: { tone: 'held', word: 'No plan' },
};

type PullRequestState = Pick<PullRequestSummary, 'state' | 'isDraft' | 'mergeable'>;

/** One word for where it stands. */
export function pullRequestBadge({ state, isDraft, mergeable }: PullRequestState): {
  tone: Tone;
  word: string;
} {
  if (state === 'merged') return { tone: 'ok', word: 'Merged' };
  if (state === 'closed') return { tone: 'unknown', word: 'Closed' };
  if (mergeable === 'conflict') return { tone: 'failed', word: 'Conflicts' };
  return isDraft ? { tone: 'unknown', word: 'Draft' } : { tone: 'moving', word: 'Open' };
}

export const PROMOTION_STATES: Record<Promotion['status'], { tone: Tone; word: string }> = {
  PENDING: { tone: 'held', word: 'Waits for approval' },
  AWAITING_PR_MERGE: { tone: 'moving', word: 'Waits for its pull request' },
  DEPLOYED: { tone: 'ok', word: 'Deployed' },
  REJECTED: { tone: 'failed', word: 'Rejected' },
  CANCELLED: { tone: 'unknown', word: 'Cancelled' },
};

export const isWaiting = ({ status }: Pick<Promotion, 'status'>): boolean =>
  status === 'PENDING' || status === 'AWAITING_PR_MERGE';

/** Those that somebody is to decide first, then those that wait for git; the newest of each first. */
export const inOrderOfNeed = <P extends Pick<Promotion, 'status' | 'createdAt'>>(list: readonly P[]): P[] =>
  [...list].sort(
    (a, b) =>
      Number(b.status === 'PENDING') - Number(a.status === 'PENDING') ||
      b.createdAt.getTime() - a.createdAt.getTime(),
  );

/** Where it stands in a sentence of few words, with what a merged pull request waits for. */
export function statusText({ status, pullRequest, lastError, silentNodes }: Promotion): {
  tone: Tone;
  word: string;
} {
  if (status === 'DEPLOYED' && silentNodes.length > 0)
    return { tone: 'ok', word: `Deployed; ${silentText(silentNodes)} silent` };
  if (status === 'PENDING' && lastError) return { tone: 'failed', word: 'Approved, not deployed' };
  if (status !== 'AWAITING_PR_MERGE' || pullRequest?.state !== 'merged') return PROMOTION_STATES[status];
  return lastError
    ? { tone: 'failed', word: 'Merged, not running' }
    : { tone: 'moving', word: 'Rolling out' };
}

/** So many names are kept of a promotion at most; its note has the count. */
const MOST_NAMED = 100;
const silentText = ({ length }: readonly string[]): string =>
  length < MOST_NAMED ? plural(length, 'node') : `${length} nodes or more`;

export interface Step {
  word: string;
  tone: Tone;
  /** For screen readers and on hover. */
  means: string;
}

/** The way of a promotion: asked for, approved or merged, running. */
export function stepsOf({ status, pullRequest, lastError, decidedBy, requestedBy }: Promotion): Step[] {
  const asked: Step = { word: 'asked', tone: 'ok', means: `asked for by ${requestedBy}` };
  const running = (tone: Tone, means: string): Step => ({ word: 'running', tone, means });
  const inGit = pullRequest !== null || status === 'AWAITING_PR_MERGE';
  const agreed = (tone: Tone, means: string): Step => ({ word: inGit ? 'merged' : 'approved', tone, means });
  const by = decidedBy ? ` by ${decidedBy}` : '';
  if (status === 'DEPLOYED') {
    return [asked, agreed('ok', `${inGit ? 'merged' : 'approved'}${by}`), running('ok', 'it is deployed')];
  }
  if (status === 'REJECTED') {
    return [asked, { word: 'rejected', tone: 'failed', means: `rejected${by}` }, running('unknown', 'never')];
  }
  if (status === 'CANCELLED') {
    return [
      asked,
      { word: 'cancelled', tone: 'unknown', means: 'it was called off' },
      running('unknown', 'never'),
    ];
  }
  if (status === 'PENDING') {
    return [
      asked,
      agreed('held', 'another member of the team decides'),
      lastError ? running('failed', lastError) : running('unknown', 'not yet'),
    ];
  }
  if (pullRequest?.state !== 'merged') {
    const fails = pullRequest?.check?.state === 'failure';
    return [
      asked,
      agreed(fails ? 'failed' : 'moving', pullRequest?.check?.summary ?? 'its pull request is open'),
      running('unknown', 'not yet'),
    ];
  }
  return [
    asked,
    agreed('ok', `merged${by}`),
    lastError ? running('failed', lastError) : running('moving', 'it is being rolled out'),
  ];
}

interface Person {
  id: string;
}

/** Why the one who looks may not approve or reject it; null where they may. `role`: in the team of its target. */
export function whyNotDecide(
  { requestedById, targetEnvironmentName }: Promotion,
  me: Person | undefined,
  role: Role | null,
): string | null {
  if (role === null) return `You are no member of the team of ${targetEnvironmentName}.`;
  if (role === 'VIEWER')
    return `Your role in the team of ${targetEnvironmentName} is VIEWER: this needs EDITOR.`;
  return me?.id === requestedById ? 'You asked for it: another member of the team decides.' : null;
}

export const mayCancel = ({ requestedById }: Promotion, me: Person | undefined): boolean =>
  me !== undefined && me.id === requestedById;
