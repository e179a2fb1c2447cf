import { AnomalyConfigView, UpdateAnomalyConfig } from '../../../schemas/api/insight/anomalies.ts';
import { diffOf } from '../../platform/operation/audit-entry.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { metricsOf } from './config.ts';
import { changeAnomalyConfig } from './config-store.ts';

export const updateAnomalyConfig = mutation({
  name: 'settings.updateAnomalyConfig',
  summary:
    'How anomalies are looked for: what is compared, from when on it is unusual, and how often it is reported',
  role: 'SUPER_ADMIN',
  audit: 'settings.anomalyConfigUpdated',
  input: UpdateAnomalyConfig,
  output: AnomalyConfigView,
  scope: () => ownScope,
  async run(ctx, input) {
    const after = { ...input, enabledMetrics: metricsOf(input).join() };
    const before = await changeAnomalyConfig(ctx.db, after);
    ctx.audit({ entityType: 'Settings', entityId: 'anomalies', diff: diffOf(before, after) });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return after;
  },
});
