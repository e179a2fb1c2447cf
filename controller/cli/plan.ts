import { filesOf, openFolder } from '../../reconcilers/without-server/folder.ts';
import type { GitPlan, PlanFile, PlanFinding, PlannedChange } from '../../schemas/api/delivery/git-plan.ts';
import type { GitSyncStatus } from '../../schemas/api/delivery/git-sync.ts';
import {
  CannotRun,
  type Command,
  EXIT,
  FORMAT_OPTION,
  FORMATS,
  formatOf,
  type Io,
  type ParsedOptions,
  UsageError,
} from './command.ts';
import type { Finding } from './format/finding.ts';
import { type Case, type Report, render } from './format/report.ts';
import { reportPathsIn } from './report-paths.ts';
import { KEY_HELP, rejectOtherOptions, SERVER_OPTIONS, type Server, serverOf } from './server-options.ts';
import { apart, testCases } from './test-cases.ts';

const MOST_BYTES = 8 * 1024 * 1024;
const MOST_OF_FILE = 1024 * 1024;
const MOST_FILES = 10_000;

export const plan: Command = {
  usage: [
    'headgate plan <folder> --env <name> --url <address>    what the files of a folder would change',
    'headgate plan --ref <branch> --env <name> --url <address>    what a branch, tag or commit would change',
    'headgate plan --env <name> --url <address>    what the next pass would do',
  ],
  help: `Asks a server what would happen, and changes nothing: objects created, changed and deleted, the difference of the engine's
config, nodes and restarts, transform tests, clashes of ports, missing secrets, guards.

${KEY_HELP}

Exit 0: it would be applied. 1: something is refused, or the plan waits for an approval. 2: there is no plan.`,
  options: {
    ref: { value: '<ref>', help: 'a branch, tag or commit that the server can read' },
    ...SERVER_OPTIONS,
    format: {
      ...FORMAT_OPTION,
      oneOf: [...FORMATS, 'markdown'],
      help: `${FORMAT_OPTION.help}; or markdown, for a summary`,
    },
  },
  positionals: 1,
  async run(given, io) {
    const [dir] = given.positionals;
    const ref = given.value('ref');
    if (dir !== undefined && ref !== undefined) throw new UsageError('name either a folder or --ref');
    const server = serverOf(given, io);
    const { body, shown } =
      dir === undefined
        ? { body: ref === undefined ? {} : { ref }, shown: asIs }
        : await filesFor(dir, server, given, io);
    const { plan: found } = await server.post<{ plan: GitPlan }>('/git/plan', body);
    rejectOtherOptions(given, found.environmentName);
    const { planMarkdown, planText } = await import('../../reconcilers/plan-view/index.ts');
    if (given.value('format') === 'markdown') io.out(planMarkdown(found));
    else io.out(render({ ...reportOf(found, shown), text: planText(found) }, formatOf(given)));
    return isFine(found) ? EXIT.fine : EXIT.findings;
  },
};

type Shown = (path: string) => string;
const asIs: Shown = (path) => path;

/** What of the folder the environment reads, as its binding says. */
async function filesFor(
  dir: string,
  server: Server,
  given: ParsedOptions,
  io: Io,
): Promise<{ body: { files: PlanFile[] }; shown: Shown }> {
  const { status } = await server.get<{ status: GitSyncStatus }>('/git/status');
  rejectOtherOptions(given, status.environmentName);
  if (status.path === null)
    throw new CannotRun(
      `the environment "${status.environmentName}" is not bound to git; configure it first`,
    );
  const { root } = openFolder(dir, [status.path]);
  const files: PlanFile[] = [];
  let bytes = 0;
  for (const { path, content, link } of filesOf({ root, paths: [status.path] }, status.sharedPaths)) {
    const text = content.toString('utf8');
    if (!Buffer.from(text).equals(Buffer.from(content))) {
      if (/\.ya?ml$/i.test(path)) throw new CannotRun(`${path} is not UTF-8; headgate validate tells more`);
      io.err(`headgate plan: ${path} is not sent, it is not text\n`);
      continue;
    }
    if (content.length > MOST_OF_FILE) {
      if (/\.ya?ml$/i.test(path))
        throw new CannotRun(`${path} is larger than 1 MiB, which no manifest may be`);
      io.err(`headgate plan: ${path} is not sent, it is larger than 1 MiB; plan a branch by --ref instead\n`);
      continue;
    }
    bytes += content.length;
    if (bytes > MOST_BYTES || files.length === MOST_FILES)
      throw new CannotRun(
        `the files of "${status.environmentName}" are more than ${MOST_FILES} or larger than 8 MiB together; push them to a branch, and plan that by --ref`,
      );
    files.push({ path, text, ...(link ? { link } : {}) });
  }
  return { body: { files }, shown: reportPathsIn(root, io, formatOf(given) === 'github') };
}

const isRefused = ({ action }: PlannedChange): boolean => action === 'refuse';
const isFine = (found: GitPlan): boolean =>
  found.state !== 'waiting' &&
  found.counts.refuse === 0 &&
  found.findings.length === 0 &&
  errorsOf(found).length === 0;
const errorsOf = ({ fleet }: GitPlan) => fleet.filter(({ severity }) => severity === 'error');

const toFinding = (finding: PlanFinding, shown: Shown): Finding => ({
  severity: 'error',
  message: finding.message,
  hint: finding.hint,
  path: finding.path === '' ? null : shown(finding.path),
  line: finding.line,
  column: finding.column,
});

const placeless = (severity: Finding['severity'], message: string): Finding => ({
  ...{ severity, message, hint: '' },
  ...{ path: null, line: null, column: null },
});

function reportOf(found: GitPlan, shown: Shown): Omit<Report, 'text'> {
  const waits = found.state === 'waiting';
  const reported = new Set(found.changes.flatMap(({ findings }) => findings.map(({ message }) => message)));
  const cases = [
    ...found.changes.flatMap((change): Case[] => {
      const { failures, others } = apart(change.findings, change.tests);
      return [
        changeCase(change, others, shown),
        ...testCases(
          change,
          failures.map((one) => toFinding(one, shown)),
          shown,
        ),
      ];
    }),
    ...found.findings.map((finding): Case => failed(finding.path, [toFinding(finding, shown)])),
    ...found.guards
      .filter(({ exceeded }) => exceeded)
      .map((guard): Case => {
        const finding = placeless(waits ? 'error' : 'warning', guard.message);
        return waits
          ? failed(`guard ${guard.guard}`, [finding])
          : { ...failed(`guard ${guard.guard}`, [finding]), outcome: 'passed' };
      }),
    ...found.fleet
      .filter(({ message }) => !reported.has(message))
      .map((finding): Case => {
        const one = failed(`${finding.type}: ${finding.pipelines.join(', ')}`, [
          placeless(finding.severity, finding.message),
        ]);
        return finding.severity === 'error' ? one : { ...one, outcome: 'passed' };
      }),
  ];
  return {
    command: 'plan',
    suites: [{ name: found.environmentName, cases }],
    json: found,
  };
}

const failed = (name: string, findings: Finding[]): Case => ({
  name,
  path: findings[0]?.path ?? null,
  line: findings[0]?.line ?? null,
  outcome: 'failed',
  reason: null,
  findings,
});

function changeCase(change: PlannedChange, findings: readonly PlanFinding[], shown: Shown): Case {
  const { action, kind, name, path, line, reason } = change;
  const place = { path: path === '' ? null : shown(path), line };
  return {
    name: `${action} ${kind} ${name}`,
    ...place,
    outcome: isRefused(change) ? 'failed' : action === 'keep' ? 'skipped' : 'passed',
    reason: reason?.message ?? null,
    findings:
      isRefused(change) && change.findings.length === 0
        ? [{ ...placeless('error', reason?.message ?? 'refused'), ...place, column: null }]
        : findings.map((one) => toFinding(one, shown)),
  };
}
