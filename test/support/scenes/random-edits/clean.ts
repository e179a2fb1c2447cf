/** What the last commit of a sequence is: nothing in it gives a pass a reason to wait for anybody. */
import { freeName, mend, put, slug } from './edits.ts';
import type { Observed } from './observed.ts';
import { docsOf, EDITED_KINDS, filePath, newDoc, type World } from './world.ts';

/** Nothing broken, suspended or kept by an annotation; and not empty, for an emptied tree waits for somebody's word. */
export function clean(world: World): void {
  mend(world);
  for (const doc of docsOf(world)) {
    doc.suspend = false;
    doc.prune = 'auto';
  }
  if (docsOf(world).length === 0) put(world, filePath('pipelines', 'web'), newDoc('Pipeline', 'web'));
}

/**
 * Writes manifests, without the annotation, for what lives on only by one: as the message about it tells people to do.
 * Returns what it wrote, as `<kind>/<name>`.
 */
export function bringBack(world: World, { inventory }: Observed): Set<string> {
  const kept = new Set<string>();
  for (const { kind, name, uid, objectId, prunePolicy } of inventory) {
    if (objectId === null || prunePolicy === 'auto' || !EDITED_KINDS.includes(kind)) continue;
    const docs = docsOf(world).filter((doc) => doc.kind === kind);
    if (uid !== null && docs.some((doc) => doc.uid === uid)) continue;
    const namesake = docs.find((doc) => doc.name.toLowerCase() === name.toLowerCase());
    // One that has taken the name, and is another by its uid, would wait for ever.
    const another =
      namesake?.uid && inventory.some((line) => line.kind === kind && line.uid === namesake.uid);
    if (namesake && !another) continue;
    if (namesake) namesake.name = freeName(world, kind, 0);
    put(world, filePath('more', `back-${slug(name)}`), newDoc(kind, name, { uid }));
    kept.add(`${kind}/${name}`);
  }
  return kept;
}

export function takeOut(world: World, kept: ReadonlySet<string>): void {
  for (const file of world.files)
    file.docs = file.docs.filter(({ kind, name }) => !kept.has(`${kind}/${name}`));
  world.files = world.files.filter((file) => file.docs.length > 0);
}
