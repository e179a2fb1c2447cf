/** What is to be done about one manifest: by what was applied, what the policy says, and what operators have said. */
import { DEFAULT_POLICY } from '../../../schemas/api/git-policy.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import { identity, identityOf } from '../read/identity.ts';
import { NO_OPERATOR_INPUT, type OperatorInput, type UiObject } from '../read/overrides.ts';
import type { Change, Recorded } from './change.ts';
import { metaOf } from './meta.ts';
import type { PlanInput } from './plan.ts';
import { isPolicy } from './policy-manifests.ts';

/** What decides about each manifest, made once for all of them. */
export interface ClassifyContext {
  owns: ReadonlySet<string>;
  selfHeal: boolean;
  said: OperatorInput;
  /** Of manifests that have no object yet: the one of the UI that they name by its id, or that has their name. */
  ui: ReadonlyMap<DesiredManifest, { object: UiObject; byUid: boolean }>;
}

export function createClassifyContext(
  { policy = DEFAULT_POLICY, said = NO_OPERATOR_INPUT, ui = [] }: PlanInput,
  newcomers: readonly DesiredManifest[],
): ClassifyContext {
  const found = new Map<DesiredManifest, { object: UiObject; byUid: boolean }>();
  if (ui.length > 0) {
    const byUid = new Map<string, UiObject>();
    for (const object of ui) if (object.uid !== null) byUid.set(identity(object.kind, object.uid), object);
    for (const object of ui) byUid.set(identity(object.kind, object.id), object);
    const byName = new Map(ui.map((object) => [identityOf(object), object]));
    for (const manifest of newcomers) {
      const object = manifest.uid === null ? undefined : byUid.get(identity(manifest.kind, manifest.uid));
      // An object has one manifest; whose it is by its id, its name is free for another.
      if (!object || byName.get(identityOf(object)) !== object) continue;
      byName.delete(identityOf(object));
      found.set(manifest, { object, byUid: true });
    }
    for (const manifest of newcomers) {
      const object = byName.get(identityOf(manifest));
      if (object && !found.has(manifest)) found.set(manifest, { object, byUid: false });
    }
  }
  return { owns: new Set(policy.owns), selfHeal: policy.selfHeal, said, ui: found };
}

/** `previous`: the line that stands for the same object. */
export function changeOf(
  manifest: DesiredManifest,
  previous: Recorded | null,
  judge: ClassifyContext,
): Change {
  if (isPolicy(manifest)) return { action: 'policy', manifest, previous };
  const kind = KINDS.get(manifest.kind);
  if (!kind || !judge.owns.has(manifest.kind))
    return { action: 'ignore', manifest, previous: previous?.objectId == null ? previous : null };
  const { words, holds } = judge.said;
  const names = [identityOf(manifest), ...(previous ? [identityOf(previous)] : [])];
  const word = names.flatMap((name) => words.get(name)?.suspend ?? [])[0] ?? null;
  if (word || kind.suspended(manifest)) return { action: 'suspended', manifest, previous, word };
  const hold = names.flatMap((name) => holds.get(name)?.get(manifest.hash) ?? [])[0];
  if (hold) return { action: 'held', manifest, previous, hold };
  if (!previous || previous.objectId === null || judge.ui.has(manifest)) return newcomer(manifest, judge);
  const runsAs = previous.objectName ?? previous.name;
  const renamedFrom = runsAs === manifest.name ? null : runsAs;
  const drifted =
    previous.appliedHash === manifest.hash &&
    (previous.objectHash !== manifest.hash || previous.objectDeployed !== kind.deployed(manifest));
  const described = (previous.appliedMeta ?? null) === null || previous.appliedMeta === metaOf(manifest);
  if (previous.appliedHash === manifest.hash && !drifted && renamedFrom === null && described)
    return { action: 'none', manifest, previous };
  // Where git itself has news of it, that is what it becomes.
  if (drifted && described && previous.name === manifest.name && !judge.selfHeal)
    return { action: 'drifted', manifest, previous };
  return { action: 'update', manifest, previous, renamedFrom, drifted };
}

/** One that git has not applied before. */
function newcomer(manifest: DesiredManifest, { ui, said }: ClassifyContext): Change {
  const found = ui.get(manifest);
  if (!found) return { action: 'create', manifest, previous: null };
  const wanted = found.byUid || said.words.get(identityOf(manifest))?.adopt !== undefined;
  return { action: wanted ? 'adopt' : 'conflict', manifest, previous: null, object: found.object };
}
