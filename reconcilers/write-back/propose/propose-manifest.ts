/** A new manifest in a file of its own, on a branch of its own, with a row that asks for a review. */
import type { NewManifest, WrittenProposal } from '../../../controller/delivery/bindings/index.ts';
import { pullRequestUrl } from '../../../controller/delivery/pull-requests/index.ts';
import { conflict, preconditionFailed } from '../../../controller/platform/operation/errors.ts';
import { newId } from '../../../controller/platform/operation/ids.ts';
import { nameKeyOf } from '../../../schemas/manifests/index.ts';
import { readText } from '../../source/index.ts';
import type { Tip } from '../branch-tip.ts';
import { authorOf, identityOf, messageOf } from '../commit/commit-message.ts';
import { hostOf, type RepositoryLocation, wake } from '../commit/workspace.ts';
import { FOLDERS, slugOf, uniquePath } from '../manifest/file-names.ts';
import { manifestText, schemaLine } from '../manifest/manifest-text.ts';
import { baseOf, openOnBranch } from './propose.ts';

const SLUG = 50;

/** @throws CONFLICT where git has a manifest of the name; PRECONDITION_FAILED where it would be no valid manifest */
export async function proposeManifest(
  place: RepositoryLocation,
  { objectId, operation, manifest, texts }: NewManifest,
): Promise<WrittenProposal & { path: string }> {
  const { ctx, binding } = place;
  const base = await baseOf(place);
  const tip = await place.tip(base);
  assertNameIsFree(tip, manifest);
  const file = await fileOf(place, tip, manifest);
  const branch = `headgate/new/${slugOf(manifest.name).slice(0, SLUG)}-${newId().slice(-8)}`;
  const made = await place.commit({
    ...{ branch, from: base },
    draft: async () => ({
      files: new Map([[file.path, file.text]]),
      author: authorOf(ctx.actor, hostOf(ctx)),
      message: messageOf(texts.title, operation),
    }),
  });
  if (!made) throw preconditionFailed('The branch already has this manifest');
  const pull = await openOnBranch(place, {
    ...{ title: texts.title, body: texts.body, branch, base: binding.ref },
    ...{ headSha: made.sha, pushedSha: made.sha },
    subject: { kind: manifest.kind, name: manifest.name, objectId, operation },
    ...identityOf(ctx.actor),
  });
  await wake(ctx, binding);
  const url = pullRequestUrl(ctx, binding.environmentId, pull);
  return {
    proposed: { number: pull.number, url, branch },
    ...{ fields: [], path: file.path, pullRequestId: pull.id },
  };
}

function assertNameIsFree(tip: Tip, { kind, name }: NewManifest['manifest']): void {
  const key = nameKeyOf(name);
  const known =
    tip.desired.manifests.find((one) => one.kind === kind && one.nameKey === key) ??
    tip.desired.refused.find((one) => one.kind === kind && one.name !== null && nameKeyOf(one.name) === key);
  if (known) throw conflict(`git has a ${kind} "${name}" already (${known.path}); choose another name`);
}

async function fileOf(
  place: RepositoryLocation,
  tip: Tip,
  manifest: NewManifest['manifest'],
): Promise<{ path: string; text: string }> {
  const { path: folder } = tip.scope;
  const inFolder = (path: string) => (folder === '' ? path : `${folder}/${path}`);
  const list = await place.list(tip.sha, folder);
  const taken = new Set(list.map((path) => path.slice(inFolder('').length).toLowerCase()));
  const path = inFolder(uniquePath(FOLDERS[manifest.kind], manifest.name, taken));
  const text = schemaLine(place.ctx.services.baseUrl, manifest.kind) + manifestText(manifest);
  const [problem] = readText(path, text, { scope: tip.scope }).problems;
  if (problem)
    throw preconditionFailed(`The manifest would not be valid: ${problem.message}. ${problem.hint}`);
  return { path, text };
}
