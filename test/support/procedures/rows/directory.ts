import { NOTHING } from '../../users/person.ts';
import type { Rows } from './row.ts';

export const DIRECTORY: Rows = {
  'settings.updateOidcTeamMappings': {
    names: 'own',
    input: ({ teamId }, n) => ({
      mappings: [{ group: `engineers ${n}`, teamId, role: 'EDITOR' }],
      defaultTeamId: teamId,
      defaultRole: 'VIEWER',
      groupSyncEnabled: true,
      groupsScope: 'groups',
      groupsClaim: 'groups',
    }),
  },
  'settings.updateOidcRoleMapping': {
    names: 'own',
    input: (_, n) => ({
      defaultRole: 'VIEWER',
      groupsClaim: 'groups',
      adminGroups: `admins ${n}`,
      editorGroups: 'engineers, on call',
    }),
  },
  'settings.updateScim': { names: 'own', input: () => ({ enabled: true }) },
  'settings.scimRefusals': { names: 'own', input: () => ({}) },
  'settings.generateScimToken': {
    names: 'own',
    input: async (side) => {
      await side.db('scim_settings').insert({ id: 'scim', enabled: true }).onConflict('id').merge();
      return NOTHING;
    },
  },
};
