/** What is sent of one alert when it fires and when it is resolved. Whatever evaluates rules makes it. */

import type { LabelMap } from '../../../schemas/api/common.ts';
import type { AlertRule } from '../../../schemas/api/insight/alerts.ts';

export interface AlertNotice {
  eventId: string;
  status: 'firing' | 'resolved';
  at: Date;
  firedAt: Date;
  ruleId: string;
  ruleName: string;
  metric: AlertRule['metric'];
  condition: AlertRule['condition'];
  threshold: number;
  durationSeconds: number;
  value: number | null;
  environment: { id: string; name: string };
  team: { id: string; name: string };
  node: { id: string; name: string; labels: LabelMap } | null;
  pipeline: { id: string; name: string } | null;
  /** One sentence. */
  message: string;
}

/** As it is stored. */
export type StoredNotice = Omit<AlertNotice, 'at' | 'firedAt'> & { at: string; firedAt: string };

export const restoreNotice = (stored: StoredNotice): AlertNotice => ({
  ...stored,
  at: new Date(stored.at),
  firedAt: new Date(stored.firedAt),
});
