/** What a pass did, a line each: for the record and for whoever pushed. */
import type { CommitInfo, Problem } from '../source/index.ts';
import type { PruneHold } from './plan/plan.ts';

export interface Counts {
  created: number;
  changed: number;
  deleted: number;
  restored: number;
  renamed: number;
  unchanged: number;
  refused: number;
  waiting: number;
}

export const noCounts = (): Counts => ({
  created: 0,
  changed: 0,
  deleted: 0,
  restored: 0,
  renamed: 0,
  unchanged: 0,
  refused: 0,
  waiting: 0,
});

export type Line =
  | {
      type: 'created' | 'changed' | 'restored';
      kind: string;
      name: string;
      detail: string;
      renamedFrom?: string | null;
      drifted?: boolean;
      adopted?: boolean;
      notes?: readonly string[];
    }
  /** Was refused, and is again what was accepted. */
  | { type: 'mended'; name: string; kept: string }
  /** `stopped`: it ran until now. */
  | { type: 'pruned'; kind: string; name: string; stopped: boolean }
  | { type: 'kept'; kind: string; name: string; reason: PruneHold }
  | { type: 'failed'; kind: string; name: string; message: string }
  | { type: 'observed'; kind: string; name: string }
  /** Not applied, since somebody holds this very spec. */
  | { type: 'held'; name: string; by: string; reason: string }
  /** Changed past git, and the policy does not set it back. */
  | { type: 'drifted'; name: string }
  | { type: 'orphaned'; kind: string; name: string }
  /** What git may do here has changed. */
  | { type: 'policy'; kind: string; name: string; words: string }
  /** Why nothing of the plan is applied, and what to do. */
  | { type: 'guard'; messages: readonly string[]; advice: readonly string[] }
  | { type: 'problem'; problem: Problem; kept: string };

const MAX_LINES = 40;

const HOLDS: Record<PruneHold, string> = {
  'broken-manifests': 'kept until the broken manifests are mended',
  'rewritten-history':
    'kept: history was rewritten; the next commit on top prunes it, or an ADMIN confirms it',
  'missing-path':
    'kept: the path of the binding is not in this commit; write Headgate-Allow-Delete: <count> in the commit to delete all',
  'empty-path': 'kept: no manifest is left; write Headgate-Allow-Delete: <count> in the commit to delete all',
  confirm: 'kept (headgate/prune: confirm) until an ADMIN confirms the deletion',
  never: 'kept (headgate/prune: never)',
  'no-prune': 'kept: the policy of this environment deletes nothing (prune: false)',
  suspended: 'kept: it is suspended',
  guarded: 'would be deleted',
  observing: 'kept: the binding only observes',
};

export function problemLocation(problem: Pick<Problem, 'path' | 'line' | 'column'>): string {
  if (problem.line === undefined) return problem.path;
  return `${problem.path}:${problem.line}${problem.column === undefined ? '' : `:${problem.column}`}`;
}

function describe(line: Line): string[] {
  const notes = 'notes' in line ? (line.notes ?? []).map((note) => `      note: ${note}`) : [];
  switch (line.type) {
    case 'mended':
      return [`  ~ ${line.name}: mended, ${line.kept}`];
    case 'created':
      return [`  + ${line.name}: created, ${line.detail}`, ...notes];
    case 'restored':
      return [`  + ${line.name}: back with its id and history, ${line.detail}`, ...notes];
    case 'changed': {
      const how = line.renamedFrom
        ? `renamed from ${line.renamedFrom}, `
        : line.drifted
          ? 'set back to what git says, '
          : line.adopted
            ? "was the UI's and is git's now, "
            : '';
      return [`  ~ ${line.name}: ${how}${line.detail}`, ...notes];
    }
    case 'pruned':
      return [
        `  - ${line.name}: ${line.stopped ? 'stopped and deleted' : 'deleted'}; add the manifest back within 24 h to get it back with its history`,
      ];
    case 'kept':
      return [`  ! ${line.name}: its manifest is gone; ${HOLDS[line.reason]}`];
    case 'failed':
      return [`  ! ${line.name}: ${line.message}`];
    case 'observed':
      return [`  ? ${line.name}: would change`];
    case 'held':
      return [`  = ${line.name}: held by ${line.by} (${line.reason}); a newer spec is taken`];
    case 'drifted':
      return [`  ! ${line.name}: was changed past git, and is left so (selfHeal: false)`];
    case 'orphaned':
      return [`  = ${line.name}: git does not own ${line.kind} here any more; it belongs to the UI now`];
    case 'policy':
      return [`  ~ ${line.kind} ${line.name}: holds from the next commit on. ${line.words}`];
    case 'guard':
      return [
        '  ! nothing of this was applied. The plan',
        ...line.messages.map((message) => `      ${message}`),
        ...line.advice.map((message) => `    ${message}`),
      ];
    case 'problem':
      return [
        `  ! ${problemLocation(line.problem)}: ${line.problem.message}`,
        `      ${line.problem.hint}${line.kept ? ` (${line.kept})` : ''}`,
      ];
  }
}

/** `skipped`: commits that came since the pass before and that this one has overtaken. */
export function renderReport(
  environment: string,
  commit: CommitInfo,
  lines: readonly Line[],
  counts: Counts,
  skipped = 0,
): string[] {
  const sha = commit.sha.slice(0, 7);
  const overtaken = skipped > 0 ? [`  ${skipped + 1} commits, newest ${sha}; older ones were skipped`] : [];
  const details = lines.flatMap(describe);
  const more =
    details.length > MAX_LINES ? [`  … and ${details.length - MAX_LINES} more lines in the UI`] : [];
  if (details.length === 0)
    return [
      `${environment}: nothing to do, ${counts.unchanged} manifest${counts.unchanged === 1 ? '' : 's'} as before`,
      ...overtaken,
    ];
  const rest = counts.unchanged > 0 ? [`  ${counts.unchanged} unchanged`] : [];
  return [
    `${environment} at ${sha} "${commit.subject}"`,
    ...overtaken,
    ...details.slice(0, MAX_LINES),
    ...more,
    ...rest,
  ];
}
