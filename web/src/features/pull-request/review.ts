/** What a review is about, and what became of what was merged. No drawing. */
import type { GitPlan } from '../../../../schemas/api/delivery/git-plan.ts';
import type { GitSyncStatus, ManifestStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import type {
  MergeMethod,
  PullRequest,
  PullRequestDiff,
} from '../../../../schemas/api/delivery/pull-requests.ts';
import type { Tone } from '../../ui/primitives/tone.ts';
import { plural } from '../../ui/text/format.ts';
import { gateState } from '../gate/gate-state.ts';
import { CHECKS, type Step } from '../promotions/promotion-text.ts';

export type ChangedFile = PullRequestDiff['files'][number];

export const METHODS: Record<MergeMethod, { word: string; means: (base: string) => string }> = {
  merge: {
    word: 'Merge',
    means: (base) => `Keeps its commits as they are, and adds one to ${base} that joins them.`,
  },
  squash: {
    word: 'Squash',
    means: (base) => `Puts everything into one commit on ${base}, with the title of the pull request.`,
  },
  rebase: {
    word: 'Rebase',
    means: (base) => `Replays each of its commits on top of ${base}, without a merge commit.`,
  },
};

const MOST_OPENED = 8;
const MOST_LINES = 400;

/** Whose text is shown without a click: the first few, as long as they are short. */
export function openedAtFirst(files: readonly ChangedFile[]): Set<string> {
  const short = files
    .slice(0, MOST_OPENED)
    .filter(({ patch, additions, deletions }) => patch !== null && additions + deletions <= MOST_LINES);
  return new Set(short.map(({ path }) => path));
}

/** `3 files, 12 lines added, 4 taken away`. */
export function filesText({ files, filesTotal }: Pick<PullRequestDiff, 'files' | 'filesTotal'>): string {
  const sum = (of: (file: ChangedFile) => number): number =>
    files.reduce((total, file) => total + of(file), 0);
  return `${plural(filesTotal, 'file')}, ${plural(
    sum(({ additions }) => additions),
    'line',
  )} added, ${sum(({ deletions }) => deletions).toLocaleString('en')} taken away`;
}

export interface TestSum {
  passed: number;
  failed: number;
  skipped: number;
}

export function testsOf({ changes }: Pick<GitPlan, 'changes'>): TestSum {
  const sum: TestSum = { passed: 0, failed: 0, skipped: 0 };
  for (const { tests } of changes) for (const { status } of tests) sum[status] += 1;
  return sum;
}

export function testsText({ passed, failed, skipped }: TestSum): string {
  const parts = [
    failed > 0 && `${failed} failed`,
    passed > 0 && `${passed} passed`,
    skipped > 0 && `${skipped} skipped`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : 'none';
}

export type ConversationEntry =
  | { kind: 'comment'; id: string; by: string; at: Date; body: string; own: boolean }
  | {
      kind: 'review';
      id: string;
      by: string;
      at: Date;
      body: string;
      verdict: PullRequest['reviews'][number]['verdict'];
      headSha: string;
      current: boolean;
    };

/** Comments and reviews, oldest first. */
export function conversationOf({
  comments,
  reviews,
}: Pick<PullRequest, 'comments' | 'reviews'>): ConversationEntry[] {
  const entries: ConversationEntry[] = [
    ...comments.map(({ id, author, createdAt, body, own }) => ({
      ...{ kind: 'comment' as const, id, by: author, at: createdAt, body, own },
    })),
    ...reviews.map(({ reviewer, createdAt, ...rest }) => ({
      ...{ kind: 'review' as const, by: reviewer, at: createdAt, ...rest },
    })),
  ];
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime());
}

export interface Landing {
  tone: Tone;
  title: string;
  text: string;
  /** What it changed and is there now. */
  manifests: ManifestStatus[];
}

type Merged = Pick<PullRequest, 'mergeSha' | 'baseSha' | 'closedAt' | 'base'>;
type Status = Pick<
  GitSyncStatus,
  'mode' | 'suspended' | 'headCommit' | 'lastSyncAt' | 'waitingPlan' | 'manifests' | 'environmentName'
>;

/** A pass has read it: its own commit, or another one since. */
const isRead = ({ headCommit, lastSyncAt }: Status, { mergeSha, baseSha, closedAt }: Merged): boolean =>
  headCommit !== null &&
  (headCommit.sha === mergeSha ||
    (headCommit.sha !== baseSha && lastSyncAt !== null && closedAt !== null && lastSyncAt > closedAt));

/** Where what was merged stands in the environment. `changes`: what the plan foretold; unknown where there was none. */
export function landingOf(status: Status, pull: Merged, changes: GitPlan['changes'] | null): Landing {
  const { environmentName: name, mode, suspended, waitingPlan } = status;
  const touched = changes?.filter(({ action }) => action !== 'delete' && action !== 'keep') ?? [];
  const manifests = status.manifests.filter((manifest) =>
    touched.some((change) => change.kind === manifest.kind && change.name === manifest.name),
  );
  if (mode !== 'sync' || suspended) {
    const why = suspended ? 'its loop is suspended' : `its mode is ${mode}`;
    return {
      tone: 'held',
      title: `Merged, and not applied to ${name}`,
      text: `Nothing of git is applied there: ${why}.`,
      manifests,
    };
  }
  if (!isRead(status, pull)) {
    return {
      tone: 'moving',
      title: 'Merged',
      text: `${name} reads ${pull.base} now.`,
      manifests: [],
    };
  }
  const inState = (state: ReturnType<typeof gateState>): number =>
    manifests.filter(({ gate }) => gateState(gate) === state).length;
  const gone = touched.filter(
    ({ kind, name: of }) => !manifests.some((each) => each.kind === kind && each.name === of),
  );
  const failed = inState('failed');
  if (failed > 0) {
    return {
      tone: 'failed',
      title: `Merged, and ${failed === manifests.length ? 'not running' : 'not all of it runs'} in ${name}`,
      text: `${plural(failed, 'object is', 'objects are')} refused or do not run: what ran before goes on.`,
      manifests,
    };
  }
  if (waitingPlan) {
    return {
      tone: 'held',
      title: `Merged, and waits for an ADMIN of ${name}`,
      text: 'It goes beyond the guards: nothing of it is applied before the plan is approved.',
      manifests,
    };
  }
  const held = inState('held');
  if (held > 0) {
    return {
      tone: 'held',
      title: `Merged, and held back in ${name}`,
      text: `${plural(held, 'object waits', 'objects wait')} for somebody or something.`,
      manifests,
    };
  }
  const ready = manifests.filter((each) => each.ready).length;
  if (ready < manifests.length) {
    return {
      tone: 'moving',
      title: `On its way to ${name}`,
      text: `${ready} of ${plural(manifests.length, 'object')} ${ready === 1 ? 'runs' : 'run'} as merged.`,
      manifests,
    };
  }
  const rest = gone.length > 0 ? ` ${plural(gone.length, 'object has', 'objects have')} left git since.` : '';
  return {
    tone: 'ok',
    title: `${name} runs what was merged`,
    text:
      manifests.length > 0
        ? `${plural(manifests.length, 'object is', 'objects are')} applied and rolled out.${rest}`
        : `Nothing that runs there is changed by it, or it has left git since.`,
    manifests,
  };
}

/** The way of a pull request into an environment. `landing`: once it is merged. */
export function stepsOfPull(
  pull: Pick<
    PullRequest,
    | 'state'
    | 'mergeable'
    | 'conflicts'
    | 'approvals'
    | 'requiredApprovals'
    | 'author'
    | 'mergedBy'
    | 'reviews'
  >,
  check: Pick<PullRequest['checks'][number], 'state' | 'summary'> | null,
  landing: Pick<Landing, 'tone' | 'title'> | null,
): Step[] {
  const { state, mergeable, conflicts, approvals, requiredApprovals, author, mergedBy } = pull;
  const opened: Step = { word: 'opened', tone: 'ok', means: `by ${author}` };
  const checked: Step =
    state === 'open' && mergeable === 'conflict'
      ? { word: 'checked', tone: 'failed', means: `conflicts in ${plural(conflicts.length, 'file')}` }
      : {
          word: 'checked',
          tone: check ? CHECKS[check.state].tone : 'unknown',
          means: check?.summary ?? 'not yet',
        };
  const wantsChanges = pull.reviews.some(({ verdict, current }) => current && verdict === 'request-changes');
  const approved: Step = {
    word: 'approved',
    tone: wantsChanges
      ? 'failed'
      : approvals > 0 && approvals >= requiredApprovals
        ? 'ok'
        : requiredApprovals > 0
          ? 'held'
          : 'unknown',
    means: wantsChanges
      ? 'changes are wanted'
      : requiredApprovals > 0
        ? `${approvals} of ${requiredApprovals} that are asked for`
        : `${plural(approvals, 'approval')}, none is asked for`,
  };
  if (state === 'closed') {
    return [opened, checked, approved, { word: 'closed', tone: 'unknown', means: 'without being merged' }];
  }
  if (state === 'open') {
    return [
      ...[opened, checked, approved],
      { word: 'merged', tone: 'unknown', means: 'not yet' },
      { word: 'running', tone: 'unknown', means: 'not yet' },
    ];
  }
  return [
    ...[opened, checked, approved],
    { word: 'merged', tone: 'ok', means: mergedBy ? `by ${mergedBy}` : 'by somebody' },
    { word: 'running', tone: landing?.tone ?? 'unknown', means: landing?.title ?? 'unknown' },
  ];
}
