/** A run that `headgate backup` does in its own process. It is no procedure: it may name a file of the machine. */
import Type from 'typebox';
import { BackupRun, BackupRunKind } from '../../../schemas/api/backups.ts';
import { Input, Nullable } from '../../../schemas/api/common.ts';
import { newId } from '../../platform/operation/ids.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { newBackupName } from '../storage/storage.ts';
import { insertBackupRun } from './insert-run.ts';
import { assertListed } from './read-backups.ts';

const CommandRun = Input({
  kind: BackupRunKind,
  /** A path where `isFile`; null for a new name. */
  filename: Nullable(Type.String({ minLength: 1, maxLength: 4_096 })),
  isFile: Type.Boolean(),
});

export const recordCommandRun = mutation({
  name: 'backup.run',
  summary: 'Record a run that the command line does',
  role: 'SUPER_ADMIN',
  audit: 'backup.started',
  input: CommandRun,
  output: BackupRun,
  scope: () => ownScope,
  async prepare(ctx, { kind, filename, isFile }) {
    if (kind !== 'create' && !isFile && filename !== null) await assertListed(ctx, filename);
  },
  run(ctx, { kind, filename }) {
    const now = new Date(ctx.clock.now());
    return insertBackupRun(ctx, kind, filename ?? newBackupName(now, newId()));
  },
});
