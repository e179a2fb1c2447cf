/** Manifests that set the policy: they have no object, and take effect from the next commit on. */
import {
  type Binding,
  describePolicy,
  type ManifestPolicy,
  policiesOf,
} from '../../../controller/delivery/bindings/index.ts';
import type { Desired, DesiredManifest } from '../../source/index.ts';

type PolicyKind = 'Repository' | 'Environment';
export type PolicyManifest = DesiredManifest<PolicyKind>;

export const isPolicy = (manifest: DesiredManifest): manifest is PolicyManifest =>
  manifest.kind === 'Repository' || manifest.kind === 'Environment';

/** A headgate.yaml may leave the policy out. */
export const setsPolicy = ({ spec }: PolicyManifest): boolean =>
  spec.sync !== undefined || spec.guards !== undefined || spec.owns !== undefined || 'autoRevert' in spec;

function overlaid(manifests: readonly DesiredManifest[], kinds: readonly PolicyKind[]): ManifestPolicy {
  const merged: ManifestPolicy = {};
  for (const wanted of kinds) {
    for (const manifest of manifests) {
      if (manifest.kind !== wanted || !isPolicy(manifest)) continue;
      const { sync, guards, owns } = manifest.spec;
      if ('autoRevert' in manifest.spec) merged.autoRevert = manifest.spec.autoRevert;
      if (sync) merged.sync = { ...merged.sync, ...sync };
      if (guards) merged.guards = { ...merged.guards, ...guards };
      if (owns) merged.owns = owns;
    }
  }
  return merged;
}

/** A document that may be policy was refused, or the folder does not exist: then the policy stays as it was. */
export const isUnread = ({ refused, pathExists }: Pick<Desired, 'refused' | 'pathExists'>): boolean =>
  !pathExists || refused.some(({ kind }) => kind === null || kind === 'Repository' || kind === 'Environment');

/** The policy of the commit, for the passes after the one that applies it. A commit that cannot be read leaves it as it was. */
export function manifestPolicyOf(
  { manifestPolicy }: Pick<Binding, 'manifestPolicy'>,
  { manifests, refused, pathExists }: Pick<Desired, 'manifests' | 'refused' | 'pathExists'>,
): ManifestPolicy {
  return isUnread({ refused, pathExists })
    ? manifestPolicy
    : overlaid(manifests, ['Repository', 'Environment']);
}

/** Describes what a policy manifest tightens, and which of its settings have no effect. */
export const describePolicyManifest = (
  binding: Pick<Binding, 'policy' | 'manifestPolicy' | 'intervalSeconds'>,
  { manifests }: Pick<Desired, 'manifests'>,
  manifest: PolicyManifest,
): string =>
  describePolicy(
    { policy: policiesOf(binding).binding, intervalSeconds: binding.intervalSeconds },
    manifest.spec,
    manifest.kind === 'Repository' ? overlaid(manifests, ['Environment']) : {},
  );
