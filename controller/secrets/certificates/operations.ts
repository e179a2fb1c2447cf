import { Deleted } from '../../../schemas/api/common.ts';
import { EnvironmentId } from '../../../schemas/api/fleet/environments.ts';
import {
  CertificateList,
  type CertificateSummary,
  DeleteCertificate,
  UploadCertificate,
  UploadedCertificate,
} from '../../../schemas/api/secrets/certificates.ts';
import { bumpConfigRevision, lockEnvironment } from '../../fleet/environments/index.ts';
import { environmentScope } from '../../identity/access/index.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { notFound, preconditionFailed } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, query } from '../../platform/operation/operation.ts';
import { inspectFile } from './pem.ts';
import { referenceTo } from './reference.ts';
import {
  deleteCertificate,
  deployedUsers,
  findCertificate,
  findCertificateByName,
  listCertificates,
  type StoredCertificate,
  saveCertificate,
} from './store.ts';

async function summaries(ctx: Context, environmentId: string): Promise<CertificateSummary[]> {
  const certificates = await listCertificates(ctx.db, environmentId);
  const users = await deployedUsers(ctx.db, environmentId);
  return certificates.map((one) => ({
    ...one,
    reference: referenceTo(one.filename),
    expired: one.expiresAt !== null && one.expiresAt.getTime() <= ctx.clock.now(),
    warning: warningFor(one, certificates),
    usedBy: users.get(one.filename) ?? [],
  }));
}

const COUNTERPART = { cert: 'key', key: 'cert', ca: null } as const;

/** Warns where a certificate and the private key of the same name do not match. */
function warningFor(one: StoredCertificate, all: readonly StoredCertificate[]): string | null {
  const other = all.find(
    ({ name, fileType }) =>
      fileType === COUNTERPART[one.fileType] && name.toLowerCase() === one.name.toLowerCase(),
  );
  const [mine, theirs] = [one.facts.publicKey, other?.facts.publicKey ?? null];
  if (mine === null || theirs === null || mine === theirs) return null;
  return `the private key "${one.name}" does not belong to the certificate of that name; an engine that gets both rejects them`;
}

/** The nodes of the environment fetch their config again, and git reconciles manifests that lacked the file. */
async function certificatesChanged(
  ctx: MutationContext,
  environmentId: string,
  reason: string,
): Promise<void> {
  const { bus } = ctx.services;
  await bumpConfigRevision(ctx.db, environmentId);
  await bus.publish(ctx.db, { type: 'config', environmentId, reason });
  await bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger: reason });
  await bus.publish(ctx.db, { type: 'ui', environmentId, topics: ['certificates'] });
}

async function assertUnused(
  ctx: Context,
  environmentId: string,
  filename: string,
  hint: string,
): Promise<void> {
  const users = (await deployedUsers(ctx.db, environmentId)).get(filename) ?? [];
  if (users.length > 0)
    throw preconditionFailed(`${filename} is used by deployed pipelines: ${users.join(', ')}. ${hint}`);
}

export const list = query({
  name: 'certificate.list',
  summary: 'Certificate files of an environment: what is in them and who uses them, never the files',
  role: 'VIEWER',
  input: EnvironmentId,
  output: CertificateList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => summaries(ctx, input.environmentId),
});

export const upload = mutation({
  name: 'certificate.upload',
  summary: 'Store a certificate or key in PEM form, encrypted; one of the same name and type is replaced',
  role: 'EDITOR',
  audit: 'certificate.uploaded',
  input: UploadCertificate,
  output: UploadedCertificate,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  prepare: async (_, input) => inspectFile(input.dataBase64, input.fileType),
  async run(ctx, { environmentId, filename, fileType, ...input }, inspected) {
    const name = input.name.trim();
    await lockEnvironment(ctx.db, environmentId);
    const before = await findCertificateByName(ctx.db, environmentId, { name, fileType });
    if (before && before.filename !== filename) {
      await assertUnused(
        ctx,
        environmentId,
        before.filename,
        `Upload "${name}" under that file name, or give it another name`,
      );
    }
    const id = before?.id ?? newId();
    await saveCertificate(ctx.db, ctx.services.keyring, {
      id,
      environmentId,
      name,
      filename,
      fileType,
      ...inspected,
    });
    const replaced = before !== null;
    ctx.audit({
      entityType: 'Certificate',
      entityId: id,
      metadata: { name, filename, fileType, replaced },
    });
    await certificatesChanged(ctx, environmentId, replaced ? 'certificate replaced' : 'certificate uploaded');
    const saved = (await summaries(ctx, environmentId)).find((one) => one.id === id);
    if (!saved) throw notFound('Certificate');
    return { ...saved, replaced };
  },
});

export const remove = mutation({
  name: 'certificate.delete',
  summary: 'Delete a certificate file that nothing deployed refers to',
  role: 'EDITOR',
  audit: 'certificate.deleted',
  input: DeleteCertificate,
  output: Deleted,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, id }) {
    await lockEnvironment(ctx.db, environmentId);
    const certificate = await findCertificate(ctx.db, environmentId, id);
    if (!certificate) throw notFound('Certificate');
    const { name, filename, fileType } = certificate;
    await assertUnused(
      ctx,
      environmentId,
      filename,
      'Remove the reference from these pipelines first, or replace the file by another upload',
    );
    await deleteCertificate(ctx.db, id);
    ctx.audit({ entityType: 'Certificate', entityId: id, metadata: { name, filename, fileType } });
    await certificatesChanged(ctx, environmentId, 'certificate deleted');
    return { deleted: true as const };
  },
});
