/** Manifests of what the database holds. What is written reads back to the same, or is left out with the reason. */
import {
  listObjects,
  type PlainManifest,
  type StoredObject,
} from '../../../controller/delivery/bindings/index.ts';
import { compile, type Definition } from '../../../controller/pipelines/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';
import type { ExportedManifests } from '../../../schemas/api/delivery/git-words.ts';
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import { type DesiredManifest, normaliseSpec, readText, specHash } from '../../source/index.ts';
import { FOLDERS, uniquePath } from './file-names.ts';
import { manifestText, schemaLine } from './manifest-text.ts';
import { definitionOfStored, plainObject } from './plain-object.ts';
import { remarkOnSecrets } from './sealed-endpoint.ts';

const SCOPE = { path: '', sharedPaths: [] };
const REASON_CHARACTERS = 500;

/**
 * Each file begins with the address of its schema on this server. `taken`: paths that are not to be used, in lower case.
 * Paths are relative to the folder of the environment.
 */
export async function exportManifests(
  { db, services, clock }: Pick<Context, 'db' | 'services' | 'clock'>,
  environmentId: string,
  kinds: readonly OwnableKind[],
  taken: ReadonlySet<string> = new Set(),
): Promise<ExportedManifests> {
  const now = clock.now();
  const objects = await listObjects(db, environmentId, kinds);
  const { files, skipped } = exportObjects(
    objects.filter((object) => !isOver(object, now)),
    taken,
  );
  return {
    files: files.map(({ kind, path, text }) => ({ path, text: schemaLine(services.baseUrl, kind) + text })),
    skipped,
  };
}

/** A silence that has ended mutes nothing, so git need not have it. */
const isOver = (object: StoredObject, now: number): boolean =>
  object.kind === 'Silence' && object.endsAt.getTime() <= now;

type ExportedObject = ExportedManifests['files'][number] & { kind: OwnableKind };

export function exportObjects(
  objects: readonly StoredObject[],
  taken: ReadonlySet<string> = new Set(),
): { files: ExportedObject[]; skipped: ExportedManifests['skipped'] } {
  const used = new Set(taken);
  const files: ExportedObject[] = [];
  const skipped: ExportedManifests['skipped'] = [];
  for (const object of objects) {
    const written = asText(object);
    if ('reason' in written) {
      skipped.push({
        kind: object.kind,
        name: object.name,
        reason: written.reason.slice(0, REASON_CHARACTERS),
      });
      continue;
    }
    files.push({
      kind: object.kind,
      path: uniquePath(FOLDERS[object.kind], object.name, used),
      text: written.text,
    });
  }
  return { files, skipped };
}

/** What runs of a pipeline, rather than what is drawn and not deployed yet. `remark` stands above the manifest. */
function asItRuns(object: StoredObject): { object: StoredObject; remark: string | undefined } {
  if (object.kind === 'WebhookEndpoint') return { object, remark: remarkOnSecrets(object) };
  if (object.kind !== 'Pipeline' || object.deployed === null) return { object, remark: undefined };
  const { nodes, edges, globalConfig, logLevel, drainSeconds, nodeSelector } = object.deployed;
  const running = { ...object, nodes, edges, globalConfig, logLevel, drainSeconds, nodeSelector };
  const same = JSON.stringify(plainObject(running).spec) === JSON.stringify(plainObject(object).spec);
  return {
    object: running,
    remark: same ? undefined : 'The editor holds changes that are not deployed; this is what runs.',
  };
}

function asText(stored: StoredObject): { text: string } | { reason: string } {
  const { object, remark } = asItRuns(stored);
  const plain: PlainManifest = { ...plainObject(object, 'chosen'), uid: object.uid ?? object.id };
  const text = manifestText(plain, remark);
  const { documents, problems } = readText('manifest.yaml', text, { scope: SCOPE });
  const [problem] = problems;
  if (problem) return { reason: `${problem.message}. ${problem.hint}` };
  const manifest = documents[0]?.manifest;
  if (!manifest || !readsBack(object, plain, manifest))
    return { reason: 'it holds something that no manifest can say' };
  return { text };
}

function readsBack(object: StoredObject, plain: PlainManifest, manifest: DesiredManifest): boolean {
  if (manifest.hash !== specHash(plain.kind, normaliseSpec(plain.kind, plain.spec))) return false;
  if (object.kind !== 'Pipeline') return true;
  const meant = compile(definitionOfStored(object)).configYaml;
  return compile(manifest.spec as PipelineSpec as Definition).configYaml === meant;
}
