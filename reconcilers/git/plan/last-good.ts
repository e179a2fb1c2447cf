/** Describes what stays in effect while a manifest is refused, and finds the manifest that a problem belongs to. */
import { type ManifestKind, nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest, Problem } from '../../source/index.ts';
import type { Inventory } from '../pass-types.ts';
import { identity, identityOf } from '../read/identity.ts';

export function lastGoodText(
  inventory: Inventory,
  of: { kind: string; nameKey: string } | DesiredManifest,
  previousKey: string | null,
): string {
  const record = inventory.get(identity(of.kind, previousKey ?? of.nameKey));
  if (of.kind !== 'Pipeline') return record?.objectId ? 'it stays as it was' : 'nothing of it is kept yet';
  if (!record?.objectId || record.objectVersion === null) return 'nothing of it runs yet';
  return record.objectDeployed
    ? `version ${record.objectVersion} runs on`
    : `version ${record.objectVersion} stays a draft`;
}

export function lastGoodOf(problem: Problem, inventory: Inventory): string {
  if (problem.kind === null || problem.name === null || !KINDS.has(problem.kind as ManifestKind)) return '';
  return lastGoodText(inventory, { kind: problem.kind, nameKey: nameKeyOf(problem.name) }, null);
}

/**
 * Attributes a problem without a name to the manifest of its file, where the inventory knows one manifest of that file and
 * no other file holds it now.
 */
export function attribute(
  problem: Problem,
  inventory: Inventory,
  manifests: readonly DesiredManifest[],
): Problem {
  if (problem.name !== null) return problem;
  const there = [...inventory.values()].filter((record) => record.path === problem.path);
  const only = there.length === 1 ? there[0] : undefined;
  const moved =
    only &&
    manifests.some(
      (manifest) =>
        identityOf(manifest) === identityOf(only) &&
        (manifest.uid === null || only.uid === null || manifest.uid === only.uid),
    );
  return only && !moved ? { ...problem, kind: only.kind, name: only.name } : problem;
}

export interface RefusedDocument {
  kind: string;
  name: string;
  nameKey: string;
  problems: Problem[];
}

export function groupByIdentity(problems: readonly Problem[]): RefusedDocument[] {
  const groups = new Map<string, RefusedDocument>();
  for (const problem of problems) {
    if (problem.kind === null || problem.name === null) continue;
    const nameKey = nameKeyOf(problem.name);
    const key = identity(problem.kind, nameKey);
    const group = groups.get(key) ?? { kind: problem.kind, name: problem.name, nameKey, problems: [] };
    group.problems.push(problem);
    groups.set(key, group);
  }
  return [...groups.values()];
}
