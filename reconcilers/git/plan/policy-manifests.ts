/** Manifests that say what git may do: they become no object, and what they say holds from the next commit on. */
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

/** headgate.yaml need not say anything of it. */
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

/** What may have been policy is refused, or the folder is not there: then the policy stays as it was. */
export const isUnread = ({ refused, pathExists }: Pick<Desired, 'refused' | 'pathExists'>): boolean =>
  !pathExists || refused.some(({ kind }) => kind === null || kind === 'Repository' || kind === 'Environment');

/** What the commit says of the policy, for the passes after the one that applies it. One that cannot be read says nothing new. */
export function manifestPolicyOf(
  { manifestPolicy }: Pick<Binding, 'manifestPolicy'>,
  { manifests, refused, pathExists }: Pick<Desired, 'manifests' | 'refused' | 'pathExists'>,
): ManifestPolicy {
  return isUnread({ refused, pathExists })
    ? manifestPolicy
    : overlaid(manifests, ['Repository', 'Environment']);
}

/** What one of them tightens, and what of it counts for nothing. */
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
