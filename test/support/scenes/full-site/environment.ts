/** What people set up beside the pipelines: secrets, certificates, a rule by hand, service accounts, saved filters. */
import type { ApiClient } from '../../../../controller/demo/client.ts';
import { AUTHORITY, base64, EXPIRED, LEAF, LEAF_KEY } from '../../fixtures/certificates.ts';

const CERTIFICATES = [
  { name: 'Company authority', filename: 'ca.pem', fileType: 'ca', pem: AUTHORITY },
  { name: 'shop', filename: 'shop.crt', fileType: 'cert', pem: LEAF },
  { name: 'shop', filename: 'shop.key', fileType: 'key', pem: LEAF_KEY },
  { name: 'old shop', filename: 'old-shop.example.org.crt', fileType: 'cert', pem: EXPIRED },
] as const;

export async function fillEnvironment(api: ApiClient, environmentId: string, teamId: string): Promise<void> {
  for (const name of ['db-password', 'search-token', 'kafka.password'])
    await api.mutate('secret.create', { environmentId, name, value: 'nobody sees it' });
  for (const { pem, ...file } of CERTIFICATES)
    await api.mutate('certificate.upload', { environmentId, ...file, dataBase64: base64(pem) });
  await api.mutate('alert.createRule', {
    environmentId,
    teamId,
    name: 'Memory of the archive',
    metric: 'memory_usage',
    condition: 'gt',
    threshold: 92.5,
    durationSeconds: 600,
  });
  await api.mutate('alert.createSilence', {
    environmentId,
    matchers: { node: 'archive-*' },
    reason: 'The archive moves to other disks',
    endsAt: new Date(Date.now() + 4 * 3_600_000),
  });
  // Nothing answers there.
  await api.mutate('webhookEndpoint.create', {
    teamId,
    name: 'On call',
    url: 'https://hooks.example.org/alerts',
    eventTypes: ['node_unreachable', 'pipeline_crashed'],
  });
  await api.mutate('serviceAccount.create', {
    environmentId,
    name: 'deploys from CI',
    description: 'The build of the shop',
    permissions: ['pipelines.read', 'pipelines.deploy', 'audit.read'],
    expiresInDays: 90,
  });
  const { id } = await api.mutate<{ id: string }>('serviceAccount.create', {
    environmentId,
    name: 'old scraper',
    permissions: ['metrics.read'],
  });
  await api.mutate('serviceAccount.revoke', { id });
  for (const [name, filters] of [
    ['At the edge', { node: 'edge' }],
    ['Not well', { show: 'differs' }],
  ] as const)
    await api.mutate('filterPreset.create', { environmentId, scope: 'fleet_matrix', name, filters });
}
