/** Manifests that name another one. */
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';
import type { Tip } from '../branch-tip.ts';
import { editDocument } from '../yaml/edit-document.ts';
import { explained } from './change-conflict.ts';

export interface Referring {
  manifest: DesiredManifest;
  pointers: string[];
}

export function referringTo(tip: Tip, { kind, nameKey }: DesiredManifest): Referring[] {
  return tip.desired.manifests.flatMap((manifest) => {
    const pointers = (KINDS.get(manifest.kind)?.references(manifest) ?? [])
      .filter((one) => one.kind === kind && nameKeyOf(one.name) === nameKey)
      .map((one) => `/spec${one.pointer}`);
    return pointers.length > 0 ? [{ manifest, pointers }] : [];
  });
}

/** @throws PRECONDITION_FAILED where one of them cannot be written */
export async function renameReferences(
  tip: Tip,
  renamed: DesiredManifest,
  name: string,
  files: Map<string, string | null>,
): Promise<void> {
  for (const { manifest, pointers } of referringTo(tip, renamed)) {
    const text = files.get(manifest.path) ?? (await tip.text(manifest.path));
    try {
      files.set(
        manifest.path,
        editDocument(
          text,
          manifest.docIndex,
          pointers.map((pointer) => ({ pointer, value: name })),
        ),
      );
    } catch (error) {
      throw explained(error, manifest.path, manifest.line);
    }
  }
}
