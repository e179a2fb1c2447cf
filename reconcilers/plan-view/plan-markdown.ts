/** Renders a plan as Markdown, for pull requests. */
import { escaped } from '../../controller/platform/text/markdown.ts';
import { visible as clean } from '../../controller/platform/text/visible-text.ts';
import { previewText } from '../../schemas/alerts/preview-text.ts';
import type { GitPlan, PlannedChange } from '../../schemas/api/delivery/git-plan.ts';
import {
  ACTION_LABELS,
  counted,
  fleetBeside,
  formatLocation,
  nodesText,
  planSummary,
  severityOf,
  short,
  stateSentence,
  testsText,
} from './plan-text.ts';

/** GitHub accepts 65,536 characters, other forges more. */
const MAX_CHARACTERS = 60_000;
const MAX_ROWS = 100;
const MAX_FIELDS = 50;
const MAX_DIFF_CHARACTERS = 8_000;

/** A code span. Only a run of as many backticks ends it; a pipe would end a table's cell. */
export function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const inner = clean(text).replaceAll('|', '\\|');
  return inner === ''
    ? ''
    : longest > 0 || inner.startsWith(' ')
      ? `${fence} ${inner} ${fence}`
      : `${fence}${inner}${fence}`;
}

function fenced(text: string, language: string): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...text.split('\n').map(clean), fence];
}

export function planMarkdown(plan: GitPlan): string {
  const head = [
    `### Plan for ${escaped(plan.environmentName)}`,
    '',
    `**${planSummary(plan)}.** ${escaped(stateSentence(plan))}`,
  ];
  const parts = [
    changesTable(plan),
    findings(plan),
    guards(plan),
    fleet(plan),
    plan.nodes.count > 0 ? ['', `Nodes: ${escaped(nodesText(plan.nodes))}`] : [],
    plan.changes.flatMap(details),
    [
      '',
      `<sub>Plan ${code(plan.hash)}${plan.commit ? ` of ${code(plan.commit.sha.slice(0, 7))}` : ''}</sub>`,
    ],
  ];
  let text = head.join('\n');
  let cut = false;
  for (const part of parts) {
    // A part is written whole or not at all, so that no fence stays open.
    const block = part.join('\n');
    if (text.length + block.length > MAX_CHARACTERS) cut = true;
    else if (part.length > 0) text += `\n${block}`;
  }
  return `${text}${cut ? '\n\nThere is more than fits here; `headgate plan` shows all of it.' : ''}\n`;
}

function changesTable({ changes, changesTotal }: GitPlan): string[] {
  if (changes.length === 0) return [];
  const rows = changes.slice(0, MAX_ROWS).map((change) => {
    const { action, kind, name, renamedFrom, nodes, tests, preview, reason } = change;
    const called = renamedFrom === null ? code(name) : `${code(renamedFrom)} → ${code(name)}`;
    const about = [
      ...(reason ? [`${reason.code}: ${escaped(short(reason.message, 200))}`] : []),
      ...(nodes && nodes.count > 0 ? [escaped(nodesText(nodes))] : []),
      ...(tests.length > 0 ? [`tests: ${testsText(tests)}`] : []),
      ...(preview ? [escaped(previewText(preview))] : []),
    ];
    return `| ${ACTION_LABELS[action]} | ${kind} | ${called} | ${about.join('<br>')} |`;
  });
  const more = changesTotal > rows.length ? ['', `… and ${changesTotal - rows.length} more`] : [];
  return ['', '| | Kind | Name | |', '|---|---|---|---|', ...rows, ...more];
}

const findings = (plan: GitPlan): string[] => {
  const all = [...plan.findings, ...plan.changes.flatMap((change) => change.findings)].slice(0, MAX_ROWS);
  if (all.length === 0) return [];
  return [
    '',
    '#### What is wrong',
    '',
    ...all.map(
      (one) =>
        `- ${code(formatLocation(one))}: ${escaped(one.message)}${one.hint === '' ? '' : ` – ${escaped(one.hint)}`}`,
    ),
  ];
};

const guards = ({ guards }: GitPlan): string[] => {
  const exceeded = guards.filter((one) => one.exceeded);
  if (exceeded.length === 0) return [];
  return [
    '',
    '#### Guards',
    '',
    ...exceeded.map(({ guard, message }) => `- ${code(guard)}: the plan ${escaped(message)}`),
  ];
};

function fleet(plan: GitPlan): string[] {
  const found = fleetBeside(plan);
  if (found.length === 0) return [];
  const lines = found.map((one) => `- ${severityOf(one)}: ${escaped(one.message)}`);
  return ['', '#### On the nodes', '', ...lines];
}

/** One folded block; empty where the change has no details. */
function details(change: PlannedChange): string[] {
  const { kind, name, fields, engineDiff, notes, tests, preview } = change;
  const failed = tests.filter(({ status }) => status === 'failed');
  const remarks = [...notes, ...(preview?.note ? [preview.note] : [])];
  if (fields.length === 0 && engineDiff === null && remarks.length === 0 && failed.length === 0) return [];
  const lines = ['', '<details>', `<summary>${kind} ${escaped(name)}</summary>`, ''];
  for (const { pointer, before, after } of fields.slice(0, MAX_FIELDS)) {
    const value = (text: string | null) => (text === null ? '–' : code(short(text, 200)));
    lines.push(`- ${code(pointer)}: ${value(before)} → ${value(after)}`);
  }
  if (fields.length > MAX_FIELDS) lines.push(`- … and ${counted(fields.length - MAX_FIELDS, 'more field')}`);
  if (engineDiff !== null) {
    const diff = engineDiff.trimEnd().slice(0, MAX_DIFF_CHARACTERS);
    lines.push('', ...fenced(diff, 'diff'));
    if (diff.length < engineDiff.trimEnd().length)
      lines.push('', 'The rest of the difference does not fit here.');
  }
  for (const { name: test, message } of failed)
    lines.push(`- test ${code(test)} failed: ${escaped(message ?? '')}`);
  for (const note of remarks) lines.push(`- ${escaped(note)}`);
  return [...lines, '', '</details>'];
}
