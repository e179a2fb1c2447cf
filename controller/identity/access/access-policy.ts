/** The access policy: how long an account stays active without a confirmation by its identity provider, and how long personal tokens last. */
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
/** The default lifetime of a personal token in days. */
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

/** Runs in a transaction. Concurrent changes wait for each other. */
export async function changeAccessPolicy(
  tx: Knex,
  change: Partial<AccessPolicy>,
): Promise<{ before: AccessPolicy; after: AccessPolicy }> {
  await claimSetting(tx, ACCESS_SETTING, {});
  const stored = await lockSetting<Partial<AccessPolicy>>(tx, ACCESS_SETTING);
  await writeSetting(tx, ACCESS_SETTING, { ...stored, ...change });
  return { before: accessPolicyOf(stored), after: accessPolicyOf({ ...stored, ...change }) };
}
