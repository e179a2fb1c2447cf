/** Finds references to objects that do not exist. Every pass checks them, because the other end may have changed. */
import { closest, distance } from 'fastest-levenshtein';
import { namesOwnedByUi, type OwnedTable } from '../../../controller/delivery/ownership/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { OWNABLE_KINDS } from '../../../schemas/api/delivery/git-policy.ts';
import { type ManifestKind, nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS, type Reference } from '../../kinds/index.ts';
import type { Desired, DesiredManifest, Problem } from '../../source/index.ts';

type Names = ReadonlyMap<string, string>;

/** By manifest, the problems of those candidates that refer to something that does not exist. */
export const danglingReferences = (
  ctx: Context,
  environmentId: string,
  desired: Desired,
  candidates: Iterable<DesiredManifest>,
  /** The kinds that git owns here; manifests of other kinds have no objects. */
  owns: ReadonlySet<string>,
): Promise<Map<DesiredManifest, Problem[]>> =>
  danglingAmong(desired, candidates, (table) => namesOwnedByUi(ctx.db, table, environmentId), owns);

/** `namesBeside` lists the objects of a table that are not from these manifests. */
export async function danglingAmong(
  desired: Desired,
  candidates: Iterable<DesiredManifest>,
  namesBeside: (table: OwnedTable) => Promise<readonly string[]>,
  owns: ReadonlySet<string> = new Set(OWNABLE_KINDS),
): Promise<Map<DesiredManifest, Problem[]>> {
  const named: { manifest: DesiredManifest; reference: Reference }[] = [];
  for (const manifest of candidates)
    if (owns.has(manifest.kind))
      for (const reference of KINDS.get(manifest.kind)?.references(manifest) ?? [])
        named.push({ manifest, reference });
  if (named.length === 0) return new Map();

  const inGit = new Map<ManifestKind, Map<string, string>>();
  const namesInGit = (kind: ManifestKind) => {
    const names = inGit.get(kind) ?? new Map<string, string>();
    inGit.set(kind, names);
    return names;
  };
  for (const { kind, nameKey, name } of desired.manifests)
    if (owns.has(kind)) namesInGit(kind).set(nameKey, name);
  // A refused manifest exists too: its problem is reported once, and not for every manifest that refers to it.
  for (const { kind, name } of desired.refused)
    if (kind !== null && name !== null && owns.has(kind))
      namesInGit(kind as ManifestKind).set(nameKeyOf(name), name);

  const missing = named.filter(({ reference: { kind, name } }) => !namesInGit(kind).has(nameKeyOf(name)));
  const inUi = new Map<ManifestKind, Names>();
  const problems = new Map<DesiredManifest, Problem[]>();
  for (const { manifest, reference } of missing) {
    const table = KINDS.get(reference.kind)?.table;
    if (table && !inUi.has(reference.kind)) {
      const names = await namesBeside(table);
      inUi.set(reference.kind, new Map(names.map((name) => [nameKeyOf(name), name])));
    }
    const others = inUi.get(reference.kind) ?? new Map<string, string>();
    if (others.has(nameKeyOf(reference.name))) continue;
    const known = [...namesInGit(reference.kind).values(), ...others.values()];
    problems.set(manifest, [...(problems.get(manifest) ?? []), explain(manifest, reference, known)]);
  }
  return problems;
}

function explain(manifest: DesiredManifest, reference: Reference, known: readonly string[]): Problem {
  const { kind, name, field, pointer } = reference;
  const others = known.filter((other) => other !== manifest.name || kind !== manifest.kind);
  const near = others.length > 0 ? closest(name, others) : '';
  const noun = kind === 'Pipeline' ? 'pipeline' : kind;
  return {
    kind: manifest.kind,
    name: manifest.name,
    stage: 'references',
    ...manifest.at(pointer),
    message: `${field} names "${name}", and no ${noun} of this environment is called so`,
    hint:
      near && distance(near, name) <= 3
        ? `did you mean "${near}"?`
        : `name a ${noun} of the same environment, or take the entry out`,
  };
}
