import { join } from 'node:path';
import { base64, LEAF } from '../../fixtures/certificates.ts';
import { SECRET_VALUE, type Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { environment, fresh, freshEnvironment, type Rows } from './row.ts';

async function freshSecret({ environmentId }: Side, n: number, root: TestUser) {
  const input = { environmentId, name: `short_lived_${n}`, value: SECRET_VALUE };
  const { id } = await root.mutate<{ id: string }>('secret.create', input);
  return { id, environmentId };
}

/** A store of secrets that is a program, which every editor may set here. */
export const EXEC_SECRETS = join(import.meta.dirname, '../../fixtures/exec-secrets.sh');
const execStore = { secretBackend: 'EXEC', secretBackendConfig: { command: EXEC_SECRETS } };

async function withExecStore(side: Side, n: number, root: TestUser): Promise<string> {
  const id = await freshEnvironment(side, n, root);
  await root.mutate('environment.update', { id, ...execStore });
  return id;
}

const certificateOf = ({ environmentId }: Side, n: number) => ({
  ...{ environmentId, name: `certificate ${n}`, filename: `leaf-${n}.pem`, fileType: 'cert' },
  dataBase64: base64(LEAF),
});

export const ENVIRONMENTS: Rows = {
  'environment.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'environment.get': { names: 'object', input: ({ environmentId }) => ({ id: environmentId }) },
  'environment.create': { names: 'scope', input: ({ teamId }, n) => ({ teamId, name: `made ${n}` }) },
  'environment.update': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await freshEnvironment(side, n, root),
      name: `renamed ${n}`,
      ...execStore,
    }),
  },
  'environment.delete': {
    names: 'object',
    input: async (side, n, root) => ({ id: await freshEnvironment(side, n, root) }),
  },
  'environment.revokeEnrollmentToken': {
    names: 'scope',
    input: async (side, n, root) => {
      const environmentId = await freshEnvironment(side, n, root);
      await root.mutate('environment.generateEnrollmentToken', { environmentId });
      return { environmentId };
    },
  },
  'environment.generateEnrollmentToken': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, maxUses: 3, expiresInHours: 2 }),
  },
  'secret.list': { names: 'scope', input: environment },
  'secret.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({ environmentId, name: `made_${n}`, value: SECRET_VALUE }),
  },
  'secret.register': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: await withExecStore(side, n, root),
      name: `in_the_store_${n}`,
    }),
  },
  'secret.relocate': {
    names: 'scope',
    input: async (side, n, root) => {
      const environmentId = await withExecStore(side, n, root);
      const name = `relocated_${n}`;
      const { id } = await root.mutate<{ id: string }>('secret.register', { environmentId, name });
      return { environmentId, id, path: `elsewhere_${n}` };
    },
  },
  'secret.refresh': {
    names: 'scope',
    input: async (side, n, root) => ({ environmentId: await withExecStore(side, n, root) }),
  },
  'secret.update': {
    names: 'scope',
    input: ({ environmentId, secretId }) => ({ environmentId, id: secretId, value: SECRET_VALUE }),
  },
  'secret.delete': { names: 'scope', input: freshSecret },
  'certificate.list': { names: 'scope', input: environment },
  'certificate.upload': { names: 'scope', input: certificateOf },
  'certificate.delete': {
    names: 'scope',
    input: async (side, n, root) => ({
      environmentId: side.environmentId,
      id: await fresh(root, 'certificate.upload', certificateOf(side, n)),
    }),
  },
  'gitSync.status': { names: 'scope', input: environment },
  'gitSync.jobs': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, status: 'completed', limit: 3 }),
  },
  'gitSync.importErrors': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, limit: 50 }),
  },
  'gitSync.plan': { names: 'scope', input: ({ environmentId }) => ({ environmentId, ref: 'main' }) },
  'gitSync.export': { names: 'scope', input: environment },
  'gitSync.syncNow': { names: 'scope', input: environment },
  'gitSync.configure': {
    names: 'scope',
    input: ({ environmentId }) => ({ environmentId, mode: 'sync', path: 'ours', intervalSeconds: 60 }),
  },
};
