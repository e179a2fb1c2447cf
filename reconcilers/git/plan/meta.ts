/** What of a manifest reaches its object although it is not its spec: a change of it writes the row, and makes no version. */
import { createHash } from 'node:crypto';
import stringify from 'fast-json-stable-stringify';
import { KINDS } from '../../kinds/index.ts';
import type { DesiredManifest } from '../../source/index.ts';

/** Manifests that did not change are the same objects from pass to pass. */
const known = new WeakMap<DesiredManifest, string>();

export function metaOf(manifest: DesiredManifest): string {
  const before = known.get(manifest);
  if (before !== undefined) return before;
  const { uid, labels } = manifest;
  const text = stringify({ uid, labels, editor: KINDS.get(manifest.kind)?.editorData(manifest) ?? null });
  const meta = createHash('sha256').update(text).digest('hex').slice(0, 16);
  known.set(manifest, meta);
  return meta;
}
