/** How anomalies are looked for. The defaults of all these numbers are here. */
import {
  ANOMALY_METRICS,
  type AnomalyMetric,
  type UpdateAnomalyConfig,
} from '../../../schemas/api/insight/anomalies.ts';
import { badRequest } from '../../platform/operation/errors.ts';

export type AnomalyConfig = UpdateAnomalyConfig;

export const DEFAULT_ANOMALY_CONFIG: AnomalyConfig = {
  baselineWindowDays: 7,
  sigmaThreshold: 3,
  minStddevFloorPercent: 5,
  dedupWindowHours: 4,
  enabledMetrics: ANOMALY_METRICS.join(),
};

/** @throws DomainError BAD_REQUEST for a name that is not known */
export function metricsOf({ enabledMetrics }: Pick<AnomalyConfig, 'enabledMetrics'>): AnomalyMetric[] {
  const names = enabledMetrics
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = names.find((name) => !(ANOMALY_METRICS as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw badRequest(
      `enabledMetrics: "${unknown}" is no metric. Give names from ${ANOMALY_METRICS.join(', ')}, with commas between them`,
    );
  return ANOMALY_METRICS.filter((metric) => names.includes(metric));
}
