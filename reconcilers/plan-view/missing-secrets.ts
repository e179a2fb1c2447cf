/** Secrets that a plan wants and that are not there. */
import type { FleetFinding } from '../../schemas/api/git-plan.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import { applies } from '../git/plan/plan.ts';

/** Refused by the check of secrets; told here too, since it is mended in another place than the manifest. */
export function missingSecrets({ plan, checks }: Computed): FleetFinding[] {
  const byMessage = new Map<string, Set<string>>();
  for (const change of plan.changes) {
    if (!applies(change)) continue;
    for (const { stage, message } of checks.get(change)?.problems ?? []) {
      if (stage !== 'secrets' || !/does not exist in this environment/.test(message)) continue;
      byMessage.set(message, (byMessage.get(message) ?? new Set()).add(change.manifest.name));
    }
  }
  return [...byMessage].map(([message, pipelines]) => ({
    type: 'missing-secret',
    severity: 'error',
    message,
    pipelines: [...pipelines].sort(),
    hosts: [],
  }));
}
