/** What is to become of objects whose manifest left the tree. */
import { DEFAULT_POLICY } from '../../../schemas/api/git-policy.ts';
import { KINDS } from '../../kinds/index.ts';
import { identityOf } from '../read/identity.ts';
import type { OperatorInput } from '../read/overrides.ts';
import type { PruneHold, Recorded } from './change.ts';
import type { PlanInput } from './plan.ts';

/**
 * Why nothing may be pruned in this pass; null when it may.
 * @param refusesAny Whether one of the manifests that were read will be refused.
 */
export function holdOf(input: PlanInput, leaving: number, refusesAny: () => boolean): PruneHold | null {
  if (leaving === 0) return null;
  const { desired, descends, allowedDeletes } = input;
  // A rewritten history may have come back to an old commit, whose word was about other objects.
  const allowed = descends && allowedDeletes >= leaving;
  // Git keeps no empty folders: whoever deletes every manifest deletes the path.
  if (!desired.pathExists) return allowed ? null : 'missing-path';
  if (!desired.complete || desired.problems.length > 0 || refusesAny()) return 'broken-manifests';
  if (!descends) return 'rewritten-history';
  // Policy alone (an Environment manifest) does not make a tree that somebody meant to leave.
  if (!allowed && !desired.manifests.some((manifest) => KINDS.has(manifest.kind))) return 'empty-path';
  return null;
}

/** Why one that left the tree stays; null where it may go. */
export function reasonToKeep(
  previous: Recorded,
  hold: PruneHold | null,
  { policy = DEFAULT_POLICY }: PlanInput,
  said: OperatorInput,
): PruneHold | null {
  if (!policy.prune) return 'no-prune';
  const words = said.words.get(identityOf(previous));
  if (words?.suspend) return 'suspended';
  // Where history was rewritten, an ADMIN's word for this one object is as good as a commit on top.
  const left = hold === 'rewritten-history' && words?.prune ? null : hold;
  if (left !== null) return left;
  if (previous.prunePolicy === 'confirm' && words?.prune) return null;
  return previous.prunePolicy === 'auto' ? null : previous.prunePolicy;
}

/** `Headgate-Allow-Delete: 12` in the last paragraph of a commit message, where git has its trailers; a quoted one is none. */
export function allowedDeletes(message: string): number {
  const last =
    message
      .trimEnd()
      .split(/\n[^\S\n]*\r?\n/)
      .at(-1) ?? '';
  const found = /^Headgate-Allow-Delete:[^\S\n]*(\d{1,6})\s*$/im.exec(last);
  return found ? Number(found[1]) : 0;
}
