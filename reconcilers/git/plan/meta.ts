/** A hash of what a manifest sets on its object besides the spec. A change of it updates the row and creates no version. */
import { createHash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';

/** Unchanged manifests are the same objects from pass to pass. */
const known = new WeakMap<DesiredManifest, string>();

export function metaOf(manifest: DesiredManifest): string {
  const cached = known.get(manifest);
  if (cached !== undefined) return cached;
  const { uid, labels } = manifest;
  const text = stringify({ uid, labels, editor: KINDS.get(manifest.kind)?.editorData(manifest) ?? null });
  const meta = createHash('sha256').update(text).digest('hex').slice(0, 16);
  known.set(manifest, meta);
  return meta;
}
