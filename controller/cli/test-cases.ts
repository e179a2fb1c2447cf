/** Transform tests as they are reported. */
import type { TestResult } from '../../schemas/api/delivery/git-plan.ts';
import type { Finding } from './format/finding.ts';
import type { Case } from './format/report.ts';

interface Tested {
  name: string;
  path: string;
  line: number;
  tests: readonly TestResult[];
}

/** The failures of its tests, one each in their order, and its other errors. */
export const apart = <T extends { stage: string }>(
  problems: readonly T[],
  tests: readonly TestResult[],
): { failures: T[]; others: T[] } => ({
  failures: tests.length === 0 ? [] : problems.filter(({ stage }) => stage === 'tests'),
  others: tests.length === 0 ? [...problems] : problems.filter(({ stage }) => stage !== 'tests'),
});

/** A case each: a failed test is reported once, and not again by its manifest. */
export function testCases(
  { name: of, path, line: begin, tests }: Tested,
  failures: readonly Finding[],
  shown: (path: string) => string,
): Case[] {
  const next = failures[Symbol.iterator]();
  return tests.map(({ name, component, status, message, line }) => {
    const place = { path: shown(path), line: line ?? begin };
    const failure = status === 'failed' ? next.next().value : undefined;
    const text = `the test "${name}" of "${component}" failed: ${message ?? ''}`;
    const plain: Finding = { severity: 'error', message: text, hint: '', ...place, column: null };
    return {
      name: `${of} / ${component}: ${name}`,
      ...place,
      outcome: status,
      reason: message,
      findings: status === 'failed' ? [failure ?? plain] : [],
    };
  });
}
