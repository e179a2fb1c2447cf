import { SMALL_FLUENTD } from '../../fixtures/migrations.ts';
import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { fresh, type Rows } from './row.ts';

const inputOf = ({ teamId }: Side, n: number) => ({
  ...{ teamId, name: `migration ${n}`, platform: 'FLUENTD', originalConfig: SMALL_FLUENTD },
});

/** A migration that has come as far as the steps. */
async function after(side: Side, n: number, root: TestUser, steps: readonly string[]) {
  const { teamId } = side;
  const id = await fresh(root, 'migration.create', inputOf(side, n));
  for (const step of steps) await root.mutate(`migration.${step}`, { id, teamId });
  return { id, teamId };
}

const TRANSLATED = ['parse', 'translate'];

export const MIGRATIONS: Rows = {
  'migration.list': { names: 'scope', input: ({ teamId }) => ({ teamId }) },
  'migration.get': { names: 'scope', input: (side, n, root) => after(side, n, root, []) },
  'migration.create': { names: 'scope', input: inputOf },
  'migration.delete': { names: 'scope', input: (side, n, root) => after(side, n, root, []) },
  'migration.parse': { names: 'scope', input: (side, n, root) => after(side, n, root, []) },
  'migration.translate': { names: 'scope', input: (side, n, root) => after(side, n, root, ['parse']) },
  'migration.retranslateBlock': {
    names: 'scope',
    input: async (side, n, root) => ({ ...(await after(side, n, root, TRANSLATED)), blockId: 'b1' }),
  },
  'migration.updateBlockConfig': {
    names: 'scope',
    input: async (side, n, root) => ({
      ...(await after(side, n, root, TRANSLATED)),
      ...{ blockId: 'b1', config: { components: [] } },
    }),
  },
  'migration.validate': { names: 'scope', input: (side, n, root) => after(side, n, root, TRANSLATED) },
  'migration.generate': {
    names: 'scope',
    input: async (side, n, root) => ({
      ...(await after(side, n, root, [...TRANSLATED, 'validate'])),
      ...{ environmentId: side.environmentId, pipelineName: `migrated ${n}`, allowOpen: true },
    }),
  },
  'migration.runSamples': {
    names: 'scope',
    input: async (side, n, root) => ({
      ...(await after(side, n, root, TRANSLATED)),
      lines: ['{"path": "/orders"}'],
    }),
  },
};
