/** Transform tests as they are told. */
import type { TestResult } from '../../schemas/api/git-plan.ts';
import type { Case } from './format/report.ts';

export const testCase = (
  manifest: { kind: string; name: string; path: string; line: number },
  { name, component, status, message, line }: TestResult,
  shown: (path: string) => string,
): Case => ({
  name: `${manifest.name} / ${component}: ${name}`,
  path: shown(manifest.path),
  line: line ?? manifest.line,
  outcome: status,
  reason: message,
  findings:
    status === 'failed'
      ? [
          {
            severity: 'error',
            message: `test "${name}" of "${component}" failed: ${message ?? ''}`,
            hint: '',
            path: shown(manifest.path),
            line: line ?? manifest.line,
            column: null,
          },
        ]
      : [],
});
