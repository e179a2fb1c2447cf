import { AuditRetention } from '../../../schemas/api/settings.ts';
import { mutation, ownScope } from '../../platform/operation/operation.ts';
import { changeRetention } from './retention-store.ts';

export const updateAudit = mutation({
  name: 'settings.updateAudit',
  summary: 'How many days the audit log is kept; null keeps it for ever',
  role: 'SUPER_ADMIN',
  audit: 'settings.auditUpdated',
  input: AuditRetention,
  output: AuditRetention,
  scope: () => ownScope,
  async run(ctx, { retentionDays }) {
    const before = await changeRetention(ctx.db, retentionDays);
    ctx.audit({
      entityType: 'Settings',
      entityId: 'audit',
      ...(before === retentionDays ? {} : { diff: { retentionDays: [before, retentionDays] } }),
    });
    await ctx.services.bus.publish(ctx.db, { type: 'ui', environmentId: null, topics: ['settings'] });
    return { retentionDays };
  },
});
