import type { Knex } from 'knex';
import {
  claimSetting,
  lockSetting,
  readSetting,
  writeSetting,
} from '../../platform/runtime/settings-store.ts';
import { type AnomalyConfig, DEFAULT_ANOMALY_CONFIG } from './config.ts';

const KEY = 'anomalies';

export async function readAnomalyConfig(db: Knex): Promise<AnomalyConfig> {
  return { ...DEFAULT_ANOMALY_CONFIG, ...(await readSetting<Partial<AnomalyConfig>>(db, KEY)) };
}

/** Must run in a transaction. Returns what was set before. */
export async function changeAnomalyConfig(tx: Knex, config: AnomalyConfig): Promise<AnomalyConfig> {
  await claimSetting(tx, KEY, {});
  const before = await lockSetting<Partial<AnomalyConfig>>(tx, KEY);
  await writeSetting(tx, KEY, config);
  return { ...DEFAULT_ANOMALY_CONFIG, ...before };
}
