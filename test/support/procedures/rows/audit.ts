import { NOTHING } from '../../users/person.ts';
import type { Rows } from './row.ts';

export const AUDIT: Rows = {
  'audit.list': {
    names: 'scope',
    input: ({ teamId, environmentId }) => ({
      ...{ teamId, environmentId, action: 'secret.created', entityType: 'Secret', search: 'db_password' },
      ...{ actorType: 'user', startDate: '2026-01-31', endDate: '2126-01-31T09:30:00.000Z', limit: 2 },
    }),
  },
  'audit.actions': { names: 'own', input: () => NOTHING },
  'audit.entityTypes': { names: 'own', input: () => NOTHING },
  'audit.users': { names: 'own', input: () => NOTHING },
  'settings.updateAudit': { names: 'own', input: (_, n) => ({ retentionDays: 365 + n }) },
};
