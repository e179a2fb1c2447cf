/** The condition Tested: the results of the tests that a manifest describes. */
import type { Condition } from '../../../schemas/api/common.ts';
import type { TestResult } from '../../../schemas/api/delivery/git-plan.ts';
import type { ConditionFact } from '../../loops/conditions.ts';
import type { DesiredManifest } from '../../source/index.ts';

type TestedFact = Pick<ConditionFact<'Tested'>, 'status' | 'reason' | 'message'> & { line?: number };

/** Failed or skipped tests that a message names. */
const MAX_NAMED = 3;
const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const named = (results: readonly TestResult[]): string => {
  const texts = results.slice(0, MAX_NAMED).map(({ name, message }) => `"${name}": ${message}`);
  const more = results.length > MAX_NAMED ? [`${results.length - MAX_NAMED} more`] : [];
  return [...texts, ...more].join('; ');
};

/** `results` is null where the manifest was not checked, and empty where an earlier check failed. */
export function testedCondition(
  manifest: DesiredManifest | null,
  results: readonly TestResult[] | null,
): TestedFact | null {
  const described =
    manifest?.kind === 'Pipeline' ? (manifest as DesiredManifest<'Pipeline'>).spec.tests.length : 0;
  if (described === 0) {
    return { status: 'Unknown', reason: 'NoTests', message: 'The manifest describes no tests' };
  }
  if (results === null) return null;
  if (results.length === 0) {
    const message = `${plural(described, 'test')} described; they run once the rest is correct`;
    return { status: 'Unknown', reason: 'NotRun', message };
  }
  const failures = results.filter(({ status }) => status === 'failed');
  const skips = results.filter(({ status }) => status === 'skipped');
  const passed = results.length - failures.length - skips.length;
  const first = failures[0];
  if (first) {
    const message = `${failures.length} of ${plural(results.length, 'test')} failed: ${named(failures)}`;
    return { status: 'False', reason: 'TestFailed', message, ...(first.line ? { line: first.line } : {}) };
  }
  if (skips.length > 0) {
    const message = `${plural(passed, 'test')} passed, ${skips.length} not run: ${named(skips)}`;
    return { status: 'Unknown', reason: 'Skipped', message };
  }
  return { status: 'True', reason: 'Passed', message: `${plural(passed, 'test')} passed` };
}

/** For a manifest that holds again what was accepted, after one whose tests failed. */
export function retestedCondition(
  { conditions }: { conditions: readonly Condition[] },
  manifest: DesiredManifest,
) {
  if (!conditions.some(({ type, status }) => type === 'Tested' && status === 'False')) return [];
  const none = testedCondition(manifest, null);
  const fact = none ?? {
    status: 'True' as const,
    reason: 'Passed',
    message: 'As it was when it was accepted',
  };
  return [{ type: 'Tested' as const, ...fact }];
}
