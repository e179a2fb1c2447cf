import type { Knex } from 'knex';
import { readSetting } from '../../platform/runtime/settings-store.ts';
import { LAST_RESTORE, type LastRestore } from '../restore/swap-store.ts';

/** Null where nothing was restored yet. */
export const readLastRestore = (db: Knex): Promise<LastRestore | null> =>
  readSetting<LastRestore>(db, LAST_RESTORE);
