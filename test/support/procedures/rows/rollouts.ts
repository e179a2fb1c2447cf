/** Rollouts by stages, of pipelines that the UI owns. */

import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { freshGraph } from './drafts.ts';
import { pipeline, type Rows } from './row.ts';

const SELECTOR = { ring: 'canary' };

/** A node to be the canary, beside the one that the side has. */
async function canaryNode({ db, environmentId }: Side): Promise<void> {
  const name = `canary of ${environmentId}`;
  await db('nodes')
    .insert({
      ...{ id: name, environment_id: environmentId, name, host: name },
      ui_labels: JSON.stringify(SELECTOR),
    })
    .onConflict('id')
    .ignore();
}

async function wish(side: Side, n: number, root: TestUser) {
  await canaryNode(side);
  const { pipelineId } = await freshGraph(side, n, root);
  return { pipelineId, canarySelector: SELECTOR, healthCheckWindowMinutes: 10, changelog: 'a try' };
}

async function begun(side: Side, n: number, root: TestUser) {
  const input = await wish(side, n, root);
  const { rolloutId } = await root.mutate<{ rolloutId: string }>('stagedRollout.create', input);
  return { rolloutId };
}

export const ROLLOUTS: Rows = {
  'stagedRollout.create': {
    names: 'object',
    input: async (side, n, root) => ({
      ...(await wish(side, n, root)),
      ...{ onPass: 'hold', onFail: 'hold', supersede: false },
    }),
  },
  'stagedRollout.broaden': { names: 'object', input: begun },
  'stagedRollout.rollback': {
    names: 'object',
    input: async (side, n, root) => ({ ...(await begun(side, n, root)), reason: 'it leaks' }),
  },
  'stagedRollout.getActive': { names: 'object', input: pipeline },
  'stagedRollout.list': { names: 'object', input: pipeline },
};
