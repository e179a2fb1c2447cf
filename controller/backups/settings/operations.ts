/** Where backups are stored, and when they are made. Only super admins set it: a backup holds what every team has. */
import {
  BackupSettingsView,
  S3ConnectionResult,
  TestS3Connection,
  UpdateBackupSchedule,
  UpdateStorageBackend,
} from '../../../schemas/api/backups.ts';
import { OutgoingError } from '../../platform/net/outgoing/index.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../platform/operation/context.ts';
import { badRequest, DomainError } from '../../platform/operation/errors.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import type { S3Settings } from '../storage/s3-client.ts';
import { assertS3Usable } from '../storage/s3-storage.ts';
import { assertCron } from './cron.ts';
import { MASK, presentBackups } from './present-settings.ts';
import {
  type BackupSettings,
  lockBackupSettings,
  readBackupSettings,
  SECRET_PLACE,
  updateBackupSettings,
} from './settings-store.ts';

const TEST_MS = 20_000;

const publish = ({ db, services }: MutationContext): Promise<void> =>
  services.bus.publish(db, { type: 'ui', environmentId: null, topics: ['settings'] });

export const updateBackupSchedule = mutation({
  name: 'settings.updateBackupSchedule',
  summary: 'Set when backups are made by themselves, and how many of those stay',
  role: 'SUPER_ADMIN',
  audit: 'settings.backupScheduleUpdated',
  input: UpdateBackupSchedule,
  output: BackupSettingsView,
  scope: () => ownScope,
  async run(ctx, { enabled, cron, retentionCount }) {
    assertCron(cron);
    const before = await lockBackupSettings(ctx.db);
    const change = { scheduleEnabled: enabled, cron: cron.trim(), retentionCount };
    // What a schedule of before has missed is not made up for by another one.
    const restarts = enabled && (!before.scheduleEnabled || before.cron !== change.cron);
    const scheduledThrough = restarts ? new Date(ctx.clock.now()) : before.scheduledThrough;
    await updateBackupSettings(ctx.db, { ...change, scheduledThrough });
    ctx.audit({
      entityType: 'Settings',
      entityId: 'backups',
      diff: diffOf<typeof change>(before, change),
    });
    await publish(ctx);
    return presentBackups(ctx, { ...before, ...change, scheduledThrough });
  },
});

/** A stored secret is used for the endpoint and the access key that it was given for, and for no other. */
function secretOf(
  { services }: Context,
  stored: BackupSettings,
  {
    endpoint = null,
    accessKeyId,
    secretAccessKey = MASK,
  }: {
    endpoint?: string | null | undefined;
    accessKeyId: string;
    secretAccessKey?: string | undefined;
  },
): string {
  if (secretAccessKey !== MASK) return secretAccessKey;
  if (stored.sealedSecretAccessKey === null) throw badRequest('secretAccessKey: none is stored yet; give it');
  if (stored.endpoint !== endpoint || stored.accessKeyId !== accessKeyId)
    throw badRequest('secretAccessKey: another endpoint or access key needs it again; give it');
  return services.keyring.open(stored.sealedSecretAccessKey, SECRET_PLACE);
}

/** @throws BAD_REQUEST for an endpoint that Headgate may not connect to */
async function assertEndpoint({ services }: Context, endpoint: string | undefined): Promise<void> {
  if (endpoint === undefined) return;
  try {
    await services.outgoing.check(endpoint);
  } catch (error) {
    if (error instanceof OutgoingError) throw badRequest(`endpoint: ${error.message}`);
    throw error;
  }
}

export const testS3Connection = mutation({
  name: 'settings.testS3Connection',
  summary: 'Write, read, list and delete a small file in a bucket',
  role: 'SUPER_ADMIN',
  audit: 'settings.s3ConnectionTested',
  input: TestS3Connection,
  output: S3ConnectionResult,
  scope: () => ownScope,
  async prepare(ctx, input) {
    await assertEndpoint(ctx, input.endpoint);
    const { bucket, region, prefix = '', endpoint = null, accessKeyId } = input;
    const secretAccessKey = secretOf(ctx, await readBackupSettings(ctx.db), input);
    const settings: S3Settings = { bucket, region, prefix, endpoint, accessKeyId, secretAccessKey };
    const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(TEST_MS)]);
    try {
      await assertS3Usable(settings, ctx.services.backups.parts, signal);
      return { connected: true, message: `Backups can be stored in ${bucket}` };
    } catch (error) {
      if (error instanceof DomainError) return { connected: false, message: error.message };
      if (signal.aborted)
        return { connected: false, message: `${endpoint ?? `S3 in ${region}`} did not answer in time` };
      throw error;
    }
  },
  async run(ctx, { bucket, region, endpoint = null }, result) {
    ctx.audit({
      entityType: 'Settings',
      entityId: 'backups',
      metadata: { bucket, region, endpoint, connected: result.connected },
    });
    return result;
  },
});

const shown = (settings: BackupSettings) => {
  const { backend, bucket, region, prefix, endpoint, accessKeyId } = settings;
  return { backend, bucket, region, prefix, endpoint, accessKeyId };
};

export const updateStorageBackend = mutation({
  name: 'settings.updateStorageBackend',
  summary: 'Set where backups are stored; those that are there stay where they are',
  role: 'SUPER_ADMIN',
  audit: 'settings.storageBackendUpdated',
  input: UpdateStorageBackend,
  output: BackupSettingsView,
  scope: () => ownScope,
  async prepare(ctx, { backend, endpoint, bucket, region, accessKeyId }) {
    if (backend === 'local') return;
    for (const [name, value] of Object.entries({ bucket, region, accessKeyId }))
      if (value === undefined) throw badRequest(`${name}: is required for a bucket`);
    await assertEndpoint(ctx, endpoint);
  },
  async run(ctx, { backend, bucket = '', region = '', accessKeyId = '', ...input }) {
    const before = await lockBackupSettings(ctx.db);
    let after: BackupSettings = { ...before, backend };
    let secretChanged = false;
    if (backend === 's3') {
      const { prefix = '', endpoint = null, secretAccessKey } = input;
      const secret = secretOf(ctx, before, { endpoint, accessKeyId, secretAccessKey });
      secretChanged = secretAccessKey !== undefined && secretAccessKey !== MASK;
      after = { ...after, bucket, region, prefix: prefix.replace(/\/$/, ''), endpoint, accessKeyId };
      if (secretChanged) after.sealedSecretAccessKey = ctx.services.keyring.seal(secret, SECRET_PLACE);
    }
    await updateBackupSettings(ctx.db, after);
    ctx.audit({
      entityType: 'Settings',
      entityId: 'backups',
      diff: diffOf(shown(before), shown(after)),
      ...(secretChanged ? { metadata: { secretAccessKeyChanged: true } } : {}),
    });
    await publish(ctx);
    return presentBackups(ctx, after);
  },
});
