/** The first two points of a gate strip, `git` and `accepted`, of an environment and of a manifest. */
import type { GateSegment, GateState } from '../../../../schemas/api/common.ts';
import type { Binding } from '../store.ts';
import type { ManifestRecord } from './inventory-store.ts';

type End = Omit<GateSegment, 'point'>;

const NEVER: End = { state: 'unknown', commit: null, version: null, at: null, reason: 'Not bound to git' };
export const UNBOUND = { git: NEVER, accepted: NEVER };

export interface ManifestCounts {
  importErrors: number;
  manifests: number;
  /** Manifests whose deletion waits. */
  waiting: number;
  /** A plan waits for the approval of an ADMIN. */
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
          : !headCommit
            ? 'unknown'
            : headCommit.sha === appliedCommit?.sha
              ? 'done'
              : 'moving',
    commit: appliedCommit?.sha ?? null,
    version: null,
    at: binding.lastPassAt,
    reason:
      importErrors > 0
        ? `${importErrors} import error${importErrors === 1 ? '' : 's'}; what was accepted before keeps running`
        : binding.suspendedAt !== null
          ? 'Suspended'
          : binding.mode !== 'sync'
            ? `Mode ${binding.mode}: nothing is applied`
            : planWaits
              ? 'A plan waits for an approval'
              : waiting > 0
                ? `${waiting} deletion${waiting === 1 ? ' waits' : 's wait'}`
                : headCommit
                  ? `${manifests} manifest${manifests === 1 ? '' : 's'}`
                  : 'Nothing has been read yet',
  };
  return { git, accepted };
}

const IN_DOCUMENT: ReadonlySet<string> = new Set(['Parsed', 'Validated', 'Tested']);

/** For manifests without nodes: those refused so far, and kinds that run nowhere. */
export function manifestEnds(
  manifest: Pick<ManifestRecord, 'conditions' | 'seenCommit' | 'appliedCommit' | 'prunePending'>,
) {
  const problem = manifest.conditions.find(({ type, status }) => status === 'False' && IN_DOCUMENT.has(type));
  const applied = manifest.conditions.find(({ type }) => type === 'Applied');
  const end = (state: GateState, commit: string | null, reason: string): End => ({
    ...{ state, commit, reason },
    ...{ version: null, at: null },
  });
  const { seenCommit, appliedCommit, prunePending } = manifest;
  const accepted = (state: GateState, reason: string) => end(state, appliedCommit, reason);
  if (problem)
    return {
      git: end('failed', seenCommit, problem.message),
      accepted: accepted('failed', applied?.message ?? 'The change was refused'),
    };
  return {
    git: prunePending
      ? end('held', seenCommit, 'Its manifest is gone')
      : end('done', seenCommit, 'Read and understood'),
    accepted:
      applied?.status === 'True'
        ? accepted('done', applied.reason === 'Drifted' ? applied.message : 'Applied')
        : applied?.status === 'False'
          ? accepted(applied.reason === 'ApplyFailed' ? 'failed' : 'held', applied.message)
          : accepted('unknown', applied?.message ?? 'Nothing was applied'),
  };
}
