/** How long accounts that an identity provider opens, and personal tokens, last without anybody's word. */
import type { Knex } from 'knex';
import type { AccessView } from '../../../schemas/api/settings.ts';
import {
  claimSetting,
  lockSetting,
  readSetting,
  writeSetting,
} from '../../platform/runtime/settings-store.ts';

export type AccessPolicy = AccessView;

export const ACCESS_SETTING = 'access';
/** Of a personal token for which nobody says how long. */
export const TOKEN_DAYS = 90;
export const DEFAULT_ACCESS_POLICY: AccessPolicy = {
  confirmationDays: 30,
  requestOfflineAccess: false,
  tokenMaxDays: 365,
  onlyByProvider: false,
};

export const accessPolicyOf = (stored: Partial<AccessPolicy> | null): AccessPolicy => ({
  ...DEFAULT_ACCESS_POLICY,
  ...stored,
});

export const readAccessPolicy = async (db: Knex): Promise<AccessPolicy> =>
  accessPolicyOf(await readSetting<Partial<AccessPolicy>>(db, ACCESS_SETTING));

/** In a transaction. Two changes at once are made one after the other. */
export async function changeAccessPolicy(
  tx: Knex,
  change: Partial<AccessPolicy>,
): Promise<{ before: AccessPolicy; after: AccessPolicy }> {
  await claimSetting(tx, ACCESS_SETTING, {});
  const stored = await lockSetting<Partial<AccessPolicy>>(tx, ACCESS_SETTING);
  await writeSetting(tx, ACCESS_SETTING, { ...stored, ...change });
  return { before: accessPolicyOf(stored), after: accessPolicyOf({ ...stored, ...change }) };
}
