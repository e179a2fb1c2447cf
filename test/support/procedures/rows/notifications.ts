import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { environment, fresh, type Rows } from './row.ts';

/** Nothing listens there: a delivery fails at once. */
const URL = 'http://127.0.0.1:9/hook';

const endpointOf = ({ teamId }: Side, n: number) => ({
  ...{ teamId, name: `endpoint ${n}`, url: URL, eventTypes: ['node_unreachable'] },
});
/** There may be 50 of either: those that earlier calls have left are deleted in time. */
async function makeRoom(list: () => Promise<{ id: string }[]>, remove: (id: string) => Promise<unknown>) {
  const all = await list();
  if (all.length < 40) return;
  const ids = all.map(({ id }) => id).sort();
  for (const id of ids.slice(0, 30)) await remove(id);
}

async function endpointId(side: Side, n: number, root: TestUser): Promise<string> {
  const { teamId } = side;
  await makeRoom(
    () => root.query('webhookEndpoint.list', { teamId }),
    (id) => root.mutate('webhookEndpoint.delete', { id, teamId }),
  );
  return fresh(root, 'webhookEndpoint.create', endpointOf(side, n));
}

async function webhookId({ environmentId }: Side, root: TestUser): Promise<string> {
  await makeRoom(
    () => root.query('alert.listWebhooks', { environmentId }),
    (id) => root.mutate('alert.deleteWebhook', { id }),
  );
  return fresh(root, 'alert.createWebhook', { environmentId, url: URL });
}

const endpoint = async (side: Side, n: number, root: TestUser) => ({
  id: await endpointId(side, n, root),
  teamId: side.teamId,
});
const webhook = async (side: Side, _: number, root: TestUser) => ({ id: await webhookId(side, root) });

export const NOTIFICATIONS: Rows = {
  'webhookEndpoint.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'webhookEndpoint.create': {
    names: 'scope',
    input: endpointOf,
    undo: ({ teamId }, { id }, caller) => caller.mutate('webhookEndpoint.delete', { id, teamId }),
  },
  'webhookEndpoint.update': {
    names: 'scope',
    input: async (side, n, root) => ({ ...(await endpoint(side, n, root)), eventTypes: ['cpu_usage'] }),
  },
  'webhookEndpoint.delete': { names: 'scope', input: endpoint },
  'webhookEndpoint.toggleEnabled': { names: 'scope', input: endpoint },
  'webhookEndpoint.rotateSecret': { names: 'scope', input: endpoint },
  'webhookEndpoint.testDelivery': { names: 'scope', input: endpoint },
  'webhookEndpoint.preview': { names: 'scope', input: ({ teamId }) => ({ teamId, format: 'slack' }) },
  'webhookEndpoint.listDeliveries': {
    names: 'scope',
    input: async (side, n, root) => ({
      webhookEndpointId: await endpointId(side, n, root),
      teamId: side.teamId,
    }),
  },
  'webhookEndpoint.redeliver': {
    names: 'scope',
    input: async (side, n, root) => ({
      deliveryId: await fresh(root, 'webhookEndpoint.testDelivery', await endpoint(side, n, root)),
      teamId: side.teamId,
    }),
  },
  'alert.listWebhooks': { names: 'scope', input: environment },
  'alert.createWebhook': { names: 'scope', input: ({ environmentId }) => ({ environmentId, url: URL }) },
  'alert.updateWebhook': {
    names: 'object',
    input: async (side, n, root) => ({ ...(await webhook(side, n, root)), enabled: false }),
  },
  'alert.deleteWebhook': { names: 'object', input: webhook },
  'alert.testWebhook': { names: 'object', input: webhook },
  'alert.listDeliveries': {
    names: 'object',
    input: async (side, _, root) => ({ webhookId: await webhookId(side, root) }),
  },
  'alert.redeliver': {
    names: 'object',
    input: async (side, n, root) => ({
      deliveryId: await fresh(root, 'alert.testWebhook', await webhook(side, n, root)),
    }),
  },
};
