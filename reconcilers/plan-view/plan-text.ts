/** Renders a plan as plain text, for terminals. */
import { visible as clean } from '../../controller/platform/text/visible-text.ts';
import { previewText } from '../../schemas/alerts/preview-text.ts';
import type {
  FleetFinding,
  GitPlan,
  GuardResult,
  PlanFinding,
  PlannedChange,
  TestResult,
  TouchedNodes,
} from '../../schemas/api/delivery/git-plan.ts';

const MAX_CHANGES = 200;
const MAX_FIELDS = 30;
const MAX_DIFF_LINES = 200;
const MAX_CHARACTERS = 300;

const SIGNS: Readonly<Record<PlannedChange['action'], string>> = {
  create: '+',
  update: '~',
  delete: '-',
  adopt: '^',
  rename: '>',
  heal: '<',
  keep: '=',
  refuse: '!',
};
export const ACTION_LABELS: Readonly<Record<PlannedChange['action'], string>> = {
  create: 'create',
  update: 'change',
  delete: 'delete',
  adopt: 'adopt',
  rename: 'rename',
  heal: 'set back',
  keep: 'keep',
  refuse: 'refuse',
};

export const short = (text: string, max = MAX_CHARACTERS): string =>
  text.length > max ? `${text.slice(0, max - 1)}…` : text;
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const formatLocation = ({
  path,
  line,
  column,
}: Pick<PlanFinding, 'path' | 'line' | 'column'>): string =>
  [clean(path), line, column].filter((part) => part !== null && part !== '').join(':');

/** `2 to create, 1 to change; 1 refused; 3 unchanged`. */
export function planSummary({ counts }: GitPlan): string {
  const acting = (['create', 'update', 'delete', 'adopt', 'rename', 'heal'] as const)
    .filter((action) => counts[action] > 0)
    .map((action) => `${counts[action]} to ${ACTION_LABELS[action]}`);
  return [
    acting.length > 0 ? acting.join(', ') : 'nothing to do',
    ...(counts.refuse > 0 ? [`${counts.refuse} refused`] : []),
    ...(counts.keep > 0 ? [`${counts.keep} left as ${counts.keep === 1 ? 'it is' : 'they are'}`] : []),
    ...(counts.unchanged > 0 ? [`${counts.unchanged} unchanged`] : []),
  ].join('; ');
}

/** What happens to the plan next. */
export function stateSentence({ state, hash, approval }: GitPlan): string {
  switch (state) {
    case 'empty':
      return 'Nothing is to be done.';
    case 'ready':
      return 'The next pass over this commit applies it.';
    case 'partial':
      return 'What is refused stays as it is; the rest is applied.';
    case 'waiting':
      return `It is not applied before an ADMIN approves plan ${hash}.`;
    case 'approved':
      return `Approved by ${clean(approval?.by ?? 'an ADMIN')}: the next pass applies exactly this plan.`;
    case 'not-applied':
      return 'Nothing is applied: the binding only observes, is off, or is suspended.';
  }
}

export function nodesText({ count, starts, restarts, stops, hosts }: TouchedNodes): string {
  if (count === 0) return 'none';
  const effects = [
    ...(starts > 0 ? [`starts on ${starts}`] : []),
    ...(restarts > 0 ? [`restarts on ${restarts}`] : []),
    ...(stops > 0 ? [`stops on ${stops}`] : []),
  ];
  const named = hosts.slice(0, 5).map(clean).join(', ');
  return `${effects.join(', ')} (${named}${count > 5 ? ` and ${count - Math.min(hosts.length, 5)} more` : ''})`;
}

export function testsText(tests: readonly TestResult[]): string {
  const of = (status: TestResult['status']) => tests.filter((one) => one.status === status).length;
  return (['passed', 'failed', 'skipped'] as const)
    .filter((status) => of(status) > 0)
    .map((status) => `${of(status)} ${status}`)
    .join(', ');
}

export const severityOf = ({ severity, type }: FleetFinding): string => `${severity}: ${type}`;

/** Fleet findings that no change of the plan already shows with its location. */
export function fleetBeside({ fleet, changes }: GitPlan): FleetFinding[] {
  const known = new Set(changes.flatMap(({ findings }) => findings.map(({ message }) => message)));
  return fleet.filter(({ message }) => !known.has(message));
}

/** Guards that are exceeded, or that this plan counts towards. */
const relevantGuards = ({ guards }: GitPlan): GuardResult[] =>
  guards.filter(({ exceeded, value }) => exceeded || (value !== null && value > 0));

export function planText(plan: GitPlan): string {
  const fleet = fleetBeside(plan);
  const guards = relevantGuards(plan);
  const lines = [`${headline(plan)}`, `${planSummary(plan)}`];
  const put = (...more: string[]) => lines.push(...more);
  if (plan.changes.length > 0) put('');
  for (const change of plan.changes.slice(0, MAX_CHANGES)) put(...changeLines(change));
  const left = plan.changesTotal - Math.min(plan.changes.length, MAX_CHANGES);
  if (left > 0) put(`  … and ${left} more`);
  if (plan.findings.length > 0) {
    put('', 'Files that cannot be read:');
    for (const finding of plan.findings.slice(0, MAX_CHANGES)) put(...findingLines(finding, '  '));
  }
  if (plan.nodes.count > 0) put('', `Nodes: ${nodesText(plan.nodes)}`);
  if (fleet.length > 0) {
    put('', 'On the nodes:');
    for (const finding of fleet) {
      const where =
        finding.hosts.length > 0
          ? ` (${finding.hosts.slice(0, 5).map(clean).join(', ')}${finding.hosts.length > 5 ? ', …' : ''})`
          : '';
      put(`  ${severityOf(finding)}: ${clean(finding.message)}${where}`);
    }
  }
  if (guards.length > 0) {
    put('', 'Guards:');
    for (const { guard, exceeded, message } of guards)
      put(`  ${exceeded ? '!' : ' '} ${guard}: the plan ${clean(message)}`);
  }
  put('', stateSentence(plan));
  return `${lines.join('\n')}\n`;
}

export function headline({ environmentName, commit, ref }: GitPlan): string {
  const what = commit
    ? ` at ${commit.sha.slice(0, 7)}${ref === null ? '' : ` (${clean(ref)})`} "${clean(short(commit.subject, 100))}"`
    : ', with the files at hand';
  return `${clean(environmentName)}${what}`;
}

/** The sentence, and what limits it. */
export const previewLines = ({ preview }: PlannedChange): string[] =>
  preview ? [previewText(preview), ...(preview.note === null ? [] : [preview.note])] : [];

const findingLines = (finding: PlanFinding, indent: string): string[] => [
  `${indent}${formatLocation(finding)}`,
  `${indent}    ${clean(finding.message)}`,
  ...(finding.hint === '' ? [] : [`${indent}    ${clean(finding.hint)}`]),
];

function changeLines(change: PlannedChange): string[] {
  const { action, kind, name, renamedFrom, reason, fields, engineDiff, nodes, tests, findings, notes } =
    change;
  const from = renamedFrom === null ? '' : `, called "${clean(renamedFrom)}" before`;
  const lines = [
    `  ${SIGNS[action]} ${ACTION_LABELS[action]} ${kind} ${clean(name)}${from}  ${formatLocation({ ...change, column: null })}`,
  ];
  const put = (text: string) => lines.push(`      ${text}`);
  if (reason && findings.length === 0) put(`${reason.code}: ${clean(reason.message)}`);
  for (const finding of findings.slice(0, MAX_FIELDS)) lines.push(...findingLines(finding, '      '));
  for (const { pointer, before, after } of fields.slice(0, MAX_FIELDS)) {
    const old = before === null ? '' : clean(short(before));
    const made = after === null ? '' : clean(short(after));
    put(
      `${clean(pointer)}: ${before === null ? made : after === null ? `${old} is taken away` : `${old} → ${made}`}`,
    );
  }
  if (fields.length > MAX_FIELDS) put(`… and ${counted(fields.length - MAX_FIELDS, 'more field')}`);
  if (engineDiff !== null) {
    put('engine config:');
    const all = engineDiff
      .trimEnd()
      .split('\n')
      .filter((line) => !/^(---|\+\+\+|===)/.test(line));
    for (const line of all.slice(0, MAX_DIFF_LINES)) put(`  ${clean(line)}`);
    if (all.length > MAX_DIFF_LINES) put(`  … and ${counted(all.length - MAX_DIFF_LINES, 'more line')}`);
  }
  if (nodes !== null && nodes.count > 0) put(`nodes: ${nodesText(nodes)}`);
  if (tests.length > 0) put(`tests: ${testsText(tests)}`);
  const isListed = findings.some(({ stage }) => stage === 'tests');
  for (const { status, name, message } of tests)
    if (status === 'failed' && !isListed) put(`  failed: ${clean(name)}: ${clean(message ?? '')}`);
  for (const line of previewLines(change)) put(clean(line));
  for (const note of notes) put(`note: ${clean(note)}`);
  return lines;
}
