import type { Problem } from '../../reconcilers/source/index.ts';
import type { CheckedEnvironment, Validation } from '../../reconcilers/without-server/validate.ts';
import { visible } from '../platform/text/visible-text.ts';
import { type Command, formatOf } from './command.ts';
import { checked, exitOf, FOLDER_OPTIONS } from './folder-options.ts';
import { type Finding, findingLines } from './format/finding.ts';
import { type Case, type Report, render, type Suite } from './format/report.ts';
import { reportPathsIn } from './report-paths.ts';
import { apart, testCases } from './test-cases.ts';

export const validate: Command = {
  usage: ['headgate validate [folder] [--path <environment>] …'],
  help: `Checks manifests without a server, as a push would be checked: fields, references, graphs, placeholders of secrets, VRL,
transform tests, and the engine's own validation where an engine is on the path or in HEADGATE_ENGINE_BIN. What only a server
can say is named as skipped. The folder is a config repository or an environment of one; all environments below
environments/ are checked.

Exit 0: nothing is wrong. 1: something is. 2: it could not be looked at.`,
  options: FOLDER_OPTIONS,
  positionals: 1,
  async run(given, io) {
    const format = formatOf(given);
    const validation = await checked(given, io);
    const report = reportOf(validation, reportPathsIn(validation.root, io, format === 'github'));
    io.out(render(report, format));
    return exitOf(report);
  },
};

export type ValidationFinding = (path: string) => string;

export const toFinding = (problem: Problem, shown: ValidationFinding): Finding => ({
  severity: 'error',
  message: problem.message,
  hint: problem.hint,
  path: shown(problem.path),
  line: problem.line ?? null,
  column: problem.column ?? null,
});

function reportOf(validation: Validation, shown: ValidationFinding): Report {
  const suites = validation.environments.map(
    (one): Suite => ({ name: one.path || '.', cases: casesOf(one, shown) }),
  );
  return { command: 'validate', suites, text: textOf(validation, suites), json: jsonOf(validation, shown) };
}

/** A manifest each; what could not be read as one, by its file or its name. */
function casesOf({ manifests, problems }: CheckedEnvironment, shown: ValidationFinding): Case[] {
  const unread = Map.groupBy(problems, ({ path, kind, name }) => (kind && name ? `${kind} ${name}` : path));
  const sound = new Set(manifests.map(({ kind, name }) => `${kind} ${name}`));
  return [
    ...[...unread].map(
      ([name, found]): Case => ({
        name: sound.has(name) ? `${name} (${found[0]?.stage})` : name,
        path: shown(found[0]?.path ?? ''),
        line: found[0]?.line ?? null,
        outcome: 'failed',
        reason: null,
        findings: found.map((one) => toFinding(one, shown)),
      }),
    ),
    ...manifests.flatMap((one): Case[] => {
      const { failures, others } = apart(one.problems, one.tests);
      return [
        {
          name: `${one.kind} ${one.name}`,
          path: shown(one.path),
          line: one.line,
          outcome: others.length > 0 ? 'failed' : 'passed',
          reason: null,
          findings: others.map((found) => toFinding(found, shown)),
        },
        ...testCases(
          one,
          failures.map((found) => toFinding(found, shown)),
          shown,
        ),
      ];
    }),
  ];
}

/** As somebody would go through the files. */
const inFiles = (a: Finding, b: Finding): number =>
  compare(a.path ?? '', b.path ?? '') || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function textOf({ environments, stages }: Validation, suites: readonly Suite[]): string {
  const lines: string[] = [];
  for (const [index, suite] of suites.entries()) {
    const { manifests = [] } = environments[index] ?? {};
    const fine = counted(manifests.filter(({ problems }) => problems.length === 0).length, 'manifest');
    const findings = suite.cases.flatMap((one) => (one.outcome === 'failed' ? one.findings : []));
    const problems = findings.length === 0 ? '' : `, ${counted(findings.length, 'problem')}`;
    lines.push(`${visible(suite.name)}: ${fine} fine${problems}`);
    for (const finding of findings.sort(inFiles)) lines.push(...findingLines(finding, '  '));
    for (const { kind, name, notes } of manifests)
      for (const note of notes) lines.push(visible(`  note: ${kind} ${name}: ${note}`));
  }
  const of = (status: string) => stages.filter((one) => one.status === status);
  lines.push(
    '',
    `checked: ${of('ran')
      .map(({ stage, detail }) => `${stage} (${detail})`)
      .join(', ')}`,
  );
  for (const { stage, detail } of of('skipped')) lines.push(`skipped: ${stage}: ${detail}`);
  return `${lines.join('\n')}\n`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const jsonOf = (validation: Validation, shown: ValidationFinding) => ({
  ...validation,
  environments: validation.environments.map((one) => ({
    path: one.path,
    problems: one.problems.map((found) => ({ ...found, path: shown(found.path) })),
    manifests: one.manifests.map((manifest) => ({
      ...manifest,
      path: shown(manifest.path),
      problems: manifest.problems.map((found) => ({ ...found, path: shown(found.path) })),
    })),
  })),
});
