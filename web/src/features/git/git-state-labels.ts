/** What the git page calls things. */
import type { PlannedChange } from '../../../../schemas/api/delivery/git-plan.ts';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import type { Drift } from '../../../../schemas/api/delivery/git-words.ts';
import type { Tone } from '../../ui/primitives/tone.ts';

type Mode = GitSyncStatus['mode'];

export const MODES: Record<Mode, { tone: Tone; word: string; means: string }> = {
  sync: {
    tone: 'ok',
    word: 'Sync',
    means: 'What is committed is applied, again and again: git decides what runs.',
  },
  observe: {
    tone: 'held',
    word: 'Observe',
    means: 'Commits are read, checked and planned. Nothing is applied.',
  },
  push: {
    tone: 'moving',
    word: 'Push',
    means:
      'The database is written to git as a backup: the UI decides what runs, and nothing of git is applied.',
  },
  off: {
    tone: 'unknown',
    word: 'Off',
    means: 'Git is not read. What runs goes on running and belongs to the UI.',
  },
};

export const UI_EDITS = [
  {
    value: 'refuse',
    word: 'Refused',
    means: 'An edit of what git describes is refused, with the place of its manifest.',
  },
  {
    value: 'propose',
    word: 'Proposed',
    means: 'An edit becomes a branch and a pull request; nothing changes here before it is merged.',
  },
  {
    value: 'commit',
    word: 'Committed',
    means: 'An edit becomes a commit in the name of its author, and comes back from git.',
  },
] as const;

type Action = PlannedChange['action'];
/** In the order of what people look at first. */
export const ACTIONS: readonly { action: Action; tone: Tone; word: string; title: string }[] = [
  { action: 'refuse', tone: 'failed', word: 'refused', title: 'Refused' },
  { action: 'delete', tone: 'failed', word: 'delete', title: 'Deleted' },
  { action: 'update', tone: 'moving', word: 'change', title: 'Changed' },
  { action: 'heal', tone: 'moving', word: 'put back', title: 'Put back as git has it' },
  { action: 'rename', tone: 'moving', word: 'rename', title: 'Renamed' },
  { action: 'adopt', tone: 'moving', word: 'adopt', title: 'Taken over from the UI' },
  { action: 'create', tone: 'ok', word: 'create', title: 'Created' },
  { action: 'keep', tone: 'held', word: 'kept', title: 'Kept as it is' },
];

export const DRIFT_STATES: Record<Drift['states'][number], { tone: Tone; word: string }> = {
  same: { tone: 'calm', word: 'Same everywhere' },
  refused: { tone: 'failed', word: 'Refused' },
  'database-drifted': { tone: 'held', word: 'Changed past git' },
  waiting: { tone: 'held', word: 'Waits' },
  'git-ahead': { tone: 'moving', word: 'Git is ahead' },
  'nodes-drifted': { tone: 'held', word: 'Nodes differ' },
};

type NodeState = NonNullable<Drift['nodes']>['differing'][number]['state'];

export const NODE_STATES: Record<NodeState, { tone: Tone; word: string; means: string }> = {
  same: { tone: 'calm', word: 'same', means: 'runs what it should' },
  other: { tone: 'held', word: 'another', means: 'runs another config than it should' },
  none: { tone: 'held', word: 'missing', means: 'runs nothing of it' },
  extra: { tone: 'held', word: 'extra', means: 'runs it and should not' },
  silent: { tone: 'unknown', word: 'silent', means: 'is not heard of' },
};
