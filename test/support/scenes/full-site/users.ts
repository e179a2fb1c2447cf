/** People beside the administrator: made by hand, kept by an identity provider, locked, in teams and in none; and another team. */
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { Role } from '../../../../schemas/api/common.ts';
import { scimClient } from '../scim/client.ts';

const BY_HAND: readonly { name: string; role?: Role; locked?: true }[] = [
  { name: 'Ada Lovelace', role: 'ADMIN' },
  { name: 'Alan Turing', role: 'VIEWER', locked: true },
  { name: 'Grace Hopper', role: 'EDITOR' },
  { name: 'Edsger Dijkstra' },
];

const addressOf = (name: string): string => `${name.toLowerCase().replace(' ', '.')}@example.org`;

export async function fillUsers(api: ApiClient, url: string, teamId: string): Promise<void> {
  const { id: paymentsId } = await api.mutate<{ id: string }>('team.create', { name: 'Payments' });
  for (const { name, role, locked } of BY_HAND) {
    const { id: userId } = await api.mutate<{ id: string }>('admin.createUser', {
      ...{ name, email: addressOf(name) },
      ...(role ? { teamId, role } : {}),
    });
    if (locked) await api.mutate('team.lockMember', { teamId, userId });
  }
  await api.mutate('settings.updateOidcTeamMappings', {
    mappings: [
      { group: 'platform-admins', teamId, role: 'ADMIN' },
      { group: 'payments-engineers', teamId: paymentsId, role: 'EDITOR' },
    ],
    defaultTeamId: paymentsId,
    defaultRole: 'VIEWER',
    groupSyncEnabled: true,
    groupsClaim: 'groups',
  });
  await api.mutate('settings.updateScim', { enabled: true });
  const { token } = await api.mutate<{ token: string }>('settings.generateScimToken');
  const provider = scimClient(url, token);
  const katherine = await provider.user(addressOf('Katherine Johnson'), { displayName: 'Katherine Johnson' });
  const dorothy = await provider.user(addressOf('Dorothy Vaughan'), { displayName: 'Dorothy Vaughan' });
  await provider.group('platform-admins', [katherine]);
  await provider.group('payments-engineers', [katherine, dorothy]);
  await provider.group('everyone', [katherine, dorothy]);
  await provider.patch(`/Users/${dorothy}`, { op: 'replace', value: { active: false } });
}
