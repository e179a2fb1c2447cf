/** Secrets that a plan needs and that do not exist. */
import type { FleetFinding } from '../../schemas/api/delivery/git-plan.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import { applies } from '../git/plan/plan.ts';

/** The check of secrets refuses such manifests too. They are also listed here, because the fix is not in the manifest. */
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
