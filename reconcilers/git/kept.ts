/** What runs on while a manifest is refused, and whose a problem is. */
import type { InventoryRecord } from '../../controller/git-sync/index.ts';
import type { ManifestKind } from '../../schemas/manifests/index.ts';
import { KINDS } from '../kinds/index.ts';
import type { DesiredManifest, Problem } from '../source/index.ts';

/** What runs on while a manifest is refused. */
export function keepsText(
  inventory: readonly InventoryRecord[],
  of: { kind: string; nameKey: string } | DesiredManifest,
  previousKey: string | null,
): string {
  const key = previousKey ?? of.nameKey;
  const record = inventory.find((one) => one.kind === of.kind && one.nameKey === key);
  if (!record?.objectId || record.objectVersion === null) return 'nothing of it runs yet';
  return record.objectDeployed
    ? `version ${record.objectVersion} runs on`
    : `version ${record.objectVersion} stays a draft`;
}

export function keptOf(problem: Problem, inventory: readonly InventoryRecord[]): string {
  if (problem.kind === null || problem.name === null || !KINDS.has(problem.kind as ManifestKind)) return '';
  const nameKey = problem.name.normalize('NFC').toLowerCase();
  return keepsText(inventory, { kind: problem.kind, nameKey }, null);
}

/** A problem of a file that holds one known manifest is that manifest's, even where its name could not be read. */
export function attribute(problem: Problem, inventory: readonly InventoryRecord[]): Problem {
  if (problem.name !== null) return problem;
  const there = inventory.filter((record) => record.path === problem.path);
  const only = there.length === 1 ? there[0] : undefined;
  return only ? { ...problem, kind: only.kind, name: only.name } : problem;
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
    const nameKey = problem.name.normalize('NFC').toLowerCase();
    const key = `${problem.kind}/${nameKey}`;
    const group = groups.get(key) ?? { kind: problem.kind, name: problem.name, nameKey, problems: [] };
    group.problems.push(problem);
    groups.set(key, group);
  }
  return [...groups.values()];
}
