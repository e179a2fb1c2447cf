import type { Side } from '../../scenes/two-teams.ts';
import { NOTHING, type TestUser } from '../../users/person.ts';
import { environment, fresh, freshEnvironment, type Rows } from './row.ts';

async function freshAccount({ environmentId }: Side, n: number, root: TestUser) {
  const input = { environmentId, name: `short-lived ${n}`, permissions: ['pipelines.read'] };
  const { id } = await root.mutate<{ id: string }>('serviceAccount.create', input);
  return { id };
}

const presetScope = ({ environmentId }: Side) => ({ environmentId, scope: 'pipeline_list' });
const presetOf = (environmentId: string, n: number) => ({
  ...{ environmentId, scope: 'pipeline_list', name: `preset ${n}`, filters: { status: ['running'], q: 'x' } },
});

/** In an environment of its own: a list takes 20. */
async function freshPreset(side: Side, n: number, root: TestUser) {
  const environmentId = await freshEnvironment(side, n, root);
  const id = await fresh(root, 'filterPreset.create', presetOf(environmentId, n));
  return { environmentId, id };
}

export const ACCOUNTS: Rows = {
  'user.me': { names: 'own', input: () => NOTHING },
  'user.listTokens': { names: 'own', input: () => NOTHING },
  'user.createToken': { names: 'own', input: (_, n) => ({ name: `laptop ${n}`, expiresInDays: 30 }) },
  'user.deleteToken': {
    names: 'own',
    input: async (_, n, caller) => {
      const { id } = await caller.mutate<{ id: string }>('user.createToken', { name: `old ${n}` });
      return { id };
    },
  },
  'team.list': { names: 'own', input: () => NOTHING },
  'team.create': { names: 'own', input: (_, n) => ({ name: `Team ${n}` }) },
  'serviceAccount.list': { names: 'scope', input: environment },
  'serviceAccount.create': {
    names: 'scope',
    input: ({ environmentId }, n) => ({
      environmentId,
      name: `ci ${n}`,
      description: 'deploys from the build server',
      permissions: ['pipelines.read', 'pipelines.deploy'],
      expiresInDays: 90,
    }),
  },
  'serviceAccount.revoke': { names: 'object', input: freshAccount },
  'serviceAccount.delete': { names: 'object', input: freshAccount },
  'filterPreset.list': { names: 'scope', input: presetScope },
  'filterPreset.create': {
    names: 'scope',
    input: async (side, n, root) => {
      const { environmentId, id } = await freshPreset(side, n, root);
      await root.mutate('filterPreset.delete', { environmentId, id });
      return { ...presetOf(environmentId, n), isDefault: true };
    },
  },
  'filterPreset.update': {
    names: 'scope',
    input: async (side, n, root) => ({
      ...(await freshPreset(side, n, root)),
      name: `renamed ${n}`,
      filters: { status: 'crashed' },
    }),
  },
  'filterPreset.delete': { names: 'scope', input: freshPreset },
  'filterPreset.setDefault': {
    names: 'scope',
    input: async (side, n, root) => ({ ...(await freshPreset(side, n, root)), scope: 'pipeline_list' }),
  },
  'filterPreset.clearDefault': { names: 'scope', input: presetScope },
  'userPreference.get': { names: 'own', input: () => NOTHING },
  'userPreference.set': { names: 'own', input: (_, n) => ({ key: 'columns', value: `some ${n}` }) },
  'userPreference.delete': { names: 'own', input: () => ({ key: 'columns' }) },
};
