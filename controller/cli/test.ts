import type { CheckedManifest, Validation } from '../../reconcilers/without-server/validate.ts';
import { visible } from '../platform/text/visible-text.ts';
import { type Command, formatOf } from './command.ts';
import { checked, exitOf, FOLDER_OPTIONS } from './folder-options.ts';
import { findingLines } from './format/finding.ts';
import { type Case, type Report, render, type Suite } from './format/report.ts';
import { reportPathsIn } from './report-paths.ts';
import { apart, testCases } from './test-cases.ts';
import { toFinding, type ValidationFinding } from './validate.ts';

export const test: Command = {
  usage: ['headgate test [folder] [--path <environment>] …'],
  help: `Runs the transform tests that manifests describe (spec.tests), without a server: by the engine's own test where an engine is on
the path or in HEADGATE_ENGINE_BIN, else by the VRL at hand. A pipeline that is wrong is not tested, and fails.

Exit 0: no test failed. 1: one did, or could not be run for a fault of its manifest. 2: there was nothing to look at.`,
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

function reportOf({ environments }: Validation, shown: ValidationFinding): Report {
  const suites = environments.map(
    ({ path, manifests, problems }): Suite => ({
      name: path || '.',
      cases: [
        ...problems
          .filter(({ kind }) => kind === 'Pipeline' || kind === null)
          .map((one): Case => unread(one.name ?? one.path, [toFinding(one, shown)])),
        ...manifests.filter(({ describedTests }) => describedTests > 0).flatMap((one) => casesOf(one, shown)),
      ],
    }),
  );
  const json = environments.map(({ path, manifests }) => ({
    path,
    pipelines: manifests
      .filter(({ describedTests }) => describedTests > 0)
      .map(({ name, path, tests, problems }) => ({ name, path: shown(path), tests, problems })),
  }));
  return { command: 'test', suites, text: textOf(suites), json: { environments: json } };
}

function casesOf(manifest: CheckedManifest, shown: ValidationFinding): Case[] {
  const { name, problems, tests } = manifest;
  if (tests.length > 0) {
    const failures = apart(problems, tests).failures.map((one) => toFinding(one, shown));
    return testCases(manifest, failures, shown);
  }
  return [
    unread(
      `${name}: not tested`,
      problems.map((one) => toFinding(one, shown)),
    ),
  ];
}

const unread = (name: string, findings: Case['findings']): Case => ({
  name,
  path: findings[0]?.path ?? null,
  line: findings[0]?.line ?? null,
  outcome: 'failed',
  reason: null,
  findings,
});

const MARKS = { passed: 'ok', failed: 'FAILED', skipped: 'skipped' } as const;

function textOf(suites: readonly Suite[]): string {
  const lines: string[] = [];
  for (const { name, cases } of suites) {
    lines.push(`${name}:${cases.length === 0 ? ' no tests' : ''}`);
    for (const one of cases) {
      const why = one.outcome === 'skipped' ? `: ${one.reason}` : '';
      lines.push(`  ${MARKS[one.outcome].padEnd(8)} ${visible(`${one.name}${why}`)}`);
      for (const finding of one.findings) lines.push(...findingLines(finding, '      '));
    }
  }
  const all = suites.flatMap(({ cases }) => cases);
  const of = (outcome: Case['outcome']) => all.filter((one) => one.outcome === outcome).length;
  lines.push('', `${of('passed')} passed, ${of('failed')} failed, ${of('skipped')} skipped`);
  return `${lines.join('\n')}\n`;
}
