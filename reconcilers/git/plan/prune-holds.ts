/** Decides whether objects whose manifest left the tree are pruned or retained. */
import { DEFAULT_POLICY } from '../../../schemas/api/delivery/git-policy.ts';
import { KINDS } from '../../kinds/index.ts';
import { identityOf } from '../read/identity.ts';
import type { OperatorInput } from '../read/overrides.ts';
import type { PruneHold, Recorded } from './change.ts';
import type { PlanInput } from './plan.ts';

/**
 * Why nothing may be pruned in this pass; null where it may.
 * @param objects The number of objects to prune.
 * @param refusesAny Whether one of the manifests that were read will be refused.
 */
export function holdOf(input: PlanInput, objects: number, refusesAny: () => boolean): PruneHold | null {
  if (objects === 0) return null;
  const { desired, descends, allowedDeletes } = input;
  // A rewritten history may lead back to an old commit, whose trailer was about other objects.
  const allowed = descends && allowedDeletes >= objects;
  // Git has no empty folders: deleting every manifest deletes the path.
  if (!desired.pathExists) return allowed ? null : 'missing-path';
  if (!desired.complete || desired.problems.length > 0 || refusesAny()) return 'broken-manifests';
  if (!descends) return 'rewritten-history';
  // A tree with policy only (an Environment manifest) does not count as one that was emptied on purpose.
  if (!allowed && !desired.manifests.some((manifest) => KINDS.has(manifest.kind))) return 'empty-path';
  return null;
}

/** Why the object is retained; null where it may be pruned. */
export function reasonToRetain(
  previous: Recorded,
  hold: PruneHold | null,
  { policy = DEFAULT_POLICY }: PlanInput,
  operatorInput: OperatorInput,
): PruneHold | null {
  if (!policy.prune) return 'no-prune';
  const overrides = operatorInput.overrides.get(identityOf(previous));
  if (overrides?.suspend) return 'suspended';
  // After a rewritten history, an ADMIN's override for this one object counts like a commit on top.
  const effective = hold === 'rewritten-history' && overrides?.prune ? null : hold;
  if (effective !== null) return effective;
  if (previous.prunePolicy === 'confirm' && overrides?.prune) return null;
  return previous.prunePolicy === 'auto' ? null : previous.prunePolicy;
}

/** `Headgate-Allow-Delete: 12` in the last paragraph of a commit message, where git has its trailers; 0 without one. */
export function allowedDeletes(message: string): number {
  const last =
    message
      .trimEnd()
      .split(/\n[^\S\n]*\r?\n/)
      .at(-1) ?? '';
  const found = /^Headgate-Allow-Delete:[^\S\n]*(\d{1,6})\s*$/im.exec(last);
  return found ? Number(found[1]) : 0;
}
