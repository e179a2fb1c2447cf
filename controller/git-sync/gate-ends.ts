/** The first two points of an environment's gate: how far git was read, and how far what it says was accepted. */
import type { GateSegment } from '../../schemas/api/common.ts';
import type { Binding } from './store.ts';

type End = Omit<GateSegment, 'point'>;

const NEVER: End = { state: 'unknown', commit: null, version: null, at: null, reason: 'Not bound to git' };
export const UNBOUND = { git: NEVER, accepted: NEVER };

export interface ManifestCounts {
  importErrors: number;
  manifests: number;
  /** Those whose deletion waits. */
  waiting: number;
  /** A plan waits for an ADMIN. */
  planWaits: boolean;
}

export function gateEnds(
  binding: Pick<
    Binding,
    'mode' | 'suspendedAt' | 'headCommit' | 'appliedCommit' | 'lastPassAt' | 'lastError'
  >,
  { importErrors, manifests, waiting, planWaits }: ManifestCounts,
): { git: End; accepted: End } {
  const { headCommit, appliedCommit } = binding;
  const git: End = {
    state: binding.lastError ? 'failed' : headCommit ? 'done' : 'unknown',
    commit: headCommit?.sha ?? null,
    version: null,
    at: headCommit?.at ?? null,
    reason: binding.lastError ?? headCommit?.subject ?? 'Nothing has been read yet',
  };
  const held = binding.suspendedAt !== null || binding.mode !== 'sync' || planWaits || waiting > 0;
  const accepted: End = {
    state:
      importErrors > 0
        ? 'failed'
        : held
          ? 'held'
          : headCommit?.sha === appliedCommit?.sha
            ? 'done'
            : 'moving',
    commit: appliedCommit?.sha ?? null,
    version: null,
    at: binding.lastPassAt,
    reason:
      importErrors > 0
        ? `${importErrors} import error${importErrors === 1 ? '' : 's'}; what was accepted before runs on`
        : binding.suspendedAt !== null
          ? 'Suspended'
          : binding.mode !== 'sync'
            ? `Mode ${binding.mode}: nothing is applied`
            : planWaits
              ? 'A plan waits for an approval'
              : waiting > 0
                ? `${waiting} deletion${waiting === 1 ? ' waits' : 's wait'}`
                : `${manifests} manifest${manifests === 1 ? '' : 's'}`,
  };
  return { git, accepted };
}
