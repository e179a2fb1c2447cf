/** The report of a pass as lines of text: for the job's record, and for the user who pushed. */
import { problemLocation } from '../source/index.ts';
import type { PassReport, ReportEntry } from './pass-report.ts';
import type { PruneHold } from './plan/change.ts';

type ReportOf<T extends PassReport['type']> = Extract<PassReport, { type: T }>;

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

function linesOf(entry: ReportEntry): string[] {
  const notes = 'notes' in entry ? (entry.notes ?? []).map((note) => `      note: ${note}`) : [];
  switch (entry.type) {
    case 'repaired':
      return [`  ~ ${entry.name}: repaired, ${entry.lastGood}`];
    case 'created':
      return [`  + ${entry.name}: created, ${entry.detail}`, ...notes];
    case 'restored':
      return [`  + ${entry.name}: back with its id and history, ${entry.detail}`, ...notes];
    case 'changed': {
      const how = entry.renamedFrom
        ? `renamed from ${entry.renamedFrom}, `
        : entry.drifted
          ? 'set back to what git says, '
          : entry.adopted
            ? "was the UI's and is git's now, "
            : '';
      return [`  ~ ${entry.name}: ${how}${entry.detail}`, ...notes];
    }
    case 'pruned':
      return [
        `  - ${entry.name}: ${entry.stopped ? 'stopped and deleted' : 'deleted'}; add the manifest back within 24 h to get it back with its history`,
      ];
    case 'retained':
      return [`  ! ${entry.name}: its manifest is gone; ${HOLDS[entry.reason]}`];
    case 'failed':
      return [`  ! ${entry.name}: ${entry.message}`];
    case 'observed':
      return [`  ? ${entry.name}: would change`];
    case 'held':
      return [`  = ${entry.name}: held by ${entry.by} (${entry.reason}); a newer spec is taken`];
    case 'drifted':
      return [`  ! ${entry.name}: was changed past git, and is left so (selfHeal: false)`];
    case 'orphaned':
      return [`  = ${entry.name}: git does not own ${entry.kind} here any more; it belongs to the UI now`];
    case 'policy':
      return [`  ~ ${entry.kind} ${entry.name}: holds from the next commit on. ${entry.description}`];
    case 'guarded': {
      const trailer = entry.deletes === null ? [] : [`Headgate-Allow-Delete: ${entry.deletes}`];
      const orTrailer = entry.deletes === null ? '' : ', or push a commit that ends with the line';
      return [
        '  ! nothing of this was applied. The plan',
        ...entry.messages.map((message) => `      ${message}`),
        `    let an ADMIN approve the plan ${entry.planHash.slice(0, 8)} on the git page of the environment${orTrailer}`,
        ...trailer.map((line) => `    ${line}`),
      ];
    }
    case 'problem':
      return [
        `  ! ${problemLocation(entry.problem)}: ${entry.problem.message}`,
        `      ${entry.problem.hint}${entry.lastGood ? ` (${entry.lastGood})` : ''}`,
      ];
  }
}

export function renderReport(report: PassReport | null): string[] {
  switch (report?.type) {
    case 'pass':
      return renderPass(report);
    case 'push':
      return renderPush(report);
    case 'message':
      return [`${report.environment}: ${report.message}`];
    default:
      return [];
  }
}

function renderPass({ environment, commit, entries, counts, skippedCommits }: ReportOf<'pass'>): string[] {
  const sha = commit.sha.slice(0, 7);
  const skipped =
    skippedCommits > 0 ? [`  ${skippedCommits + 1} commits, newest ${sha}; older ones were skipped`] : [];
  const details = entries.flatMap(linesOf);
  const more =
    details.length > MAX_LINES ? [`  … and ${details.length - MAX_LINES} more lines in the UI`] : [];
  if (details.length === 0)
    return [
      `${environment}: nothing to do, ${counts.unchanged} manifest${counts.unchanged === 1 ? '' : 's'} as before`,
      ...skipped,
    ];
  const rest = counts.unchanged > 0 ? [`  ${counts.unchanged} unchanged`] : [];
  return [
    `${environment} at ${sha} "${commit.subject}"`,
    ...skipped,
    ...details.slice(0, MAX_LINES),
    ...more,
    ...rest,
  ];
}

const renderPush = ({ environment, written, leftOut }: ReportOf<'push'>): string[] => [
  `${environment}: ${written === null ? 'git holds all that the database does' : `${written.files} written, ${written.removed} removed`}`,
  ...leftOut.slice(0, MAX_LINES).map(({ kind, name, reason }) => `  ! ${kind} ${name}: left out, ${reason}`),
];
