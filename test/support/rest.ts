/** Programs, as they come to the REST interface: with the key of a service account. */
import { PERMISSIONS, type Permission } from '../../schemas/api/service-accounts.ts';
import { type Answer, type SendOptions, send } from './http.ts';
import type { Person } from './person.ts';

export interface RestKey {
  accountId: string;
  key: string;
}

let made = 0;

/** A service account with these permissions, all where none are named. */
export async function makeKey(
  admin: Person,
  environmentId: string,
  permissions: readonly Permission[] = PERMISSIONS,
): Promise<RestKey> {
  const { id, key } = await admin.mutate<{ id: string; key: string }>('serviceAccount.create', {
    environmentId,
    name: `program ${++made}`,
    permissions,
  });
  return { accountId: id, key };
}

export type RestCall = (method: string, path: string, options?: SendOptions) => Promise<Answer>;

/** Calls below `/api/v1` with the key, or without one. */
export const restClient =
  (url: string, key: string | null): RestCall =>
  (method, path, options = {}) =>
    send(`${url}/api/v1${path}`, {
      ...options,
      method,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...options.headers },
    });

/** A draft with a source and a sink that the UI owns; answers its id. */
export async function draftPipeline(
  editor: Person,
  environmentId: string,
  name: string,
  config: object = { format: 'shuffle', lines: ['x'] },
): Promise<string> {
  const { id } = await editor.mutate<{ id: string }>('pipeline.create', { environmentId, name });
  const at = { positionX: 0, positionY: 0, disabled: false };
  await editor.mutate('pipeline.saveGraph', {
    pipelineId: id,
    nodes: [
      { ...at, componentKey: 'lines', componentType: 'demo_logs', kind: 'SOURCE', config },
      { ...at, componentKey: 'out', componentType: 'blackhole', kind: 'SINK', config: {} },
    ],
    edges: [{ sourceNodeId: 'lines', targetNodeId: 'out' }],
  });
  return id;
}
