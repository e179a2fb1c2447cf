/** Decides what to do about one manifest: by what was applied, by the policy, and by operator overrides. */
import { DEFAULT_POLICY } from '../../../schemas/api/delivery/git-policy.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import { identity, identityOf } from '../read/identity.ts';
import { NO_OPERATOR_INPUT, type OperatorInput, type UiObject } from '../read/overrides.ts';
import type { Change, Recorded } from './change.ts';
import { metaOf } from './meta.ts';
import type { PlanInput } from './plan.ts';
import { isPolicy } from './policy-manifests.ts';

/** What the decisions depend on, computed once for all manifests of a plan. */
export interface ClassifyContext {
  owns: ReadonlySet<string>;
  selfHeal: boolean;
  operatorInput: OperatorInput;
  /** For manifests without an object: the UI's object that they name by its id, or that has their name. */
  ui: ReadonlyMap<DesiredManifest, { object: UiObject; byUid: boolean }>;
}

export function createClassifyContext(
  { policy = DEFAULT_POLICY, operatorInput = NO_OPERATOR_INPUT, ui = [] }: PlanInput,
  newManifests: readonly DesiredManifest[],
): ClassifyContext {
  const found = new Map<DesiredManifest, { object: UiObject; byUid: boolean }>();
  if (ui.length > 0) {
    const byUid = new Map<string, UiObject>();
    for (const object of ui) if (object.uid !== null) byUid.set(identity(object.kind, object.uid), object);
    for (const object of ui) byUid.set(identity(object.kind, object.id), object);
    const byName = new Map(ui.map((object) => [identityOf(object), object]));
    for (const manifest of newManifests) {
      const object = manifest.uid === null ? undefined : byUid.get(identity(manifest.kind, manifest.uid));
      // An object has one manifest. Once its id has matched one, its name is free for another.
      if (!object || byName.get(identityOf(object)) !== object) continue;
      byName.delete(identityOf(object));
      found.set(manifest, { object, byUid: true });
    }
    for (const manifest of newManifests) {
      const object = byName.get(identityOf(manifest));
      if (object && !found.has(manifest)) found.set(manifest, { object, byUid: false });
    }
  }
  return { owns: new Set(policy.owns), selfHeal: policy.selfHeal, operatorInput, ui: found };
}

/** `previous`: the inventory line of the same object. */
export function changeOf(
  manifest: DesiredManifest,
  previous: Recorded | null,
  context: ClassifyContext,
): Change {
  if (isPolicy(manifest)) return { action: 'policy', manifest, previous };
  const kind = KINDS.get(manifest.kind);
  if (!kind || !context.owns.has(manifest.kind))
    return { action: 'ignore', manifest, previous: previous?.objectId == null ? previous : null };
  const { overrides, holds } = context.operatorInput;
  const names = [identityOf(manifest), ...(previous ? [identityOf(previous)] : [])];
  const override = names.flatMap((name) => overrides.get(name)?.suspend ?? [])[0] ?? null;
  if (override || kind.suspended(manifest)) return { action: 'suspended', manifest, previous, override };
  const hold = names.flatMap((name) => holds.get(name)?.get(manifest.hash) ?? [])[0];
  if (hold) return { action: 'held', manifest, previous, hold };
  if (!previous || previous.objectId === null || context.ui.has(manifest))
    return classifyNew(manifest, context);
  const runsAs = previous.objectName ?? previous.name;
  const renamedFrom = runsAs === manifest.name ? null : runsAs;
  const drifted =
    previous.appliedHash === manifest.hash &&
    (previous.objectHash !== manifest.hash || previous.objectDeployed !== kind.deployed(manifest));
  const described = (previous.appliedMeta ?? null) === null || previous.appliedMeta === metaOf(manifest);
  if (previous.appliedHash === manifest.hash && !drifted && renamedFrom === null && described)
    return { action: 'none', manifest, previous };
  // A new spec in git wins over the drift.
  if (drifted && described && previous.name === manifest.name && !context.selfHeal)
    return { action: 'drifted', manifest, previous };
  return { action: 'update', manifest, previous, renamedFrom, drifted };
}

/** For a manifest that git has not applied before. */
function classifyNew(manifest: DesiredManifest, { ui, operatorInput }: ClassifyContext): Change {
  const found = ui.get(manifest);
  if (!found) return { action: 'create', manifest, previous: null };
  const wanted = found.byUid || operatorInput.overrides.get(identityOf(manifest))?.adopt !== undefined;
  return { action: wanted ? 'adopt' : 'conflict', manifest, previous: null, object: found.object };
}
