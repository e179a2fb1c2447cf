import { NO_FIGURES } from '../../fixtures/recommendations.ts';
import type { Side } from '../../scenes/two-teams.ts';
import { freshGraph } from './drafts.ts';
import { environment, type Rows } from './row.ts';

/** A pending one about the side's pipeline, in the place of the one before. */
async function pending({ db, environmentId, pipelineId }: Side, n: number) {
  const id = `recommendation-${environmentId.slice(-6)}-${n}`;
  await db('cost_recommendations').where({ pipeline_id: pipelineId, status: 'PENDING' }).delete();
  await db('cost_recommendations').insert({
    ...{ id, environment_id: environmentId, pipeline_id: pipelineId, type: 'LOW_REDUCTION' },
    figures: JSON.stringify(NO_FIGURES),
    change: JSON.stringify({
      ...{ action: 'insertTransform', sink: 'out', componentKey: `sample_${n}`, componentType: 'sample' },
      config: { rate: 10 },
    }),
  });
  return { environmentId, id };
}

export const COSTS: Rows = {
  'costRecommendation.list': { names: 'scope', input: environment },
  'costRecommendation.summary': { names: 'scope', input: environment },
  'costRecommendation.getById': { names: 'scope', input: pending },
  'costRecommendation.dismiss': { names: 'scope', input: pending },
  'costRecommendation.markApplied': { names: 'scope', input: pending },
  // Of a pipeline that the UI owns: for one of git it would be a pull request, under another action.
  'costRecommendation.apply': {
    names: 'scope',
    input: async (side, n, root) =>
      pending({ ...side, pipelineId: (await freshGraph(side, n, root)).pipelineId }, n),
  },
  'costRecommendation.triggerAnalysis': { names: 'scope', input: environment },
};
