import { insertAnomaly } from '../../fixtures/anomalies.ts';
import type { Side } from '../../scenes/two-teams.ts';
import { environment, pipeline, type Rows } from './row.ts';

const day = ({ environmentId }: Side) => ({ environmentId, range: '1d' });
const node = ({ node }: Side) => ({ nodeId: node.nodeId });
/** An open one of the pipeline. */
const anomaly = async ({ db, environmentId, pipelineId }: Side) => ({
  environmentId,
  anomalyId: await insertAnomaly(db, { environmentId, pipelineId }),
});

export const METRICS: Rows = {
  'metrics.getPipelineMetrics': { names: 'object', input: pipeline },
  'metrics.getComponentMetrics': { names: 'object', input: pipeline },
  'metrics.getComponentLatencyHistory': { names: 'object', input: pipeline },
  'metrics.getNodePipelineRates': { names: 'object', input: node },
  'metrics.getLiveRates': { names: 'scope', input: environment },
  'metrics.getRecentRates': { names: 'scope', input: environment },
  'pipeline.metrics': { names: 'object', input: pipeline },
  'fleet.nodeMetrics': { names: 'object', input: node },
  'dashboard.chartMetrics': { names: 'scope', input: environment },
  'analytics.costSummary': { names: 'scope', input: day },
  'analytics.costByPipeline': { names: 'scope', input: day },
  'analytics.topPipelines': { names: 'scope', input: day },
  'analytics.costByTeam': { names: 'scope', input: day },
  'analytics.costByEnvironment': { names: 'scope', input: day },
  'analytics.costBySink': { names: 'scope', input: day },
  'analytics.costTimeSeries': { names: 'scope', input: day },
  'analytics.costCsv': { names: 'scope', input: day },
  'anomaly.list': { names: 'scope', input: environment },
  'anomaly.countByPipeline': { names: 'scope', input: environment },
  'anomaly.maxSeverityByPipeline': { names: 'scope', input: environment },
  'anomaly.acknowledge': { names: 'scope', input: anomaly },
  'anomaly.dismiss': { names: 'scope', input: anomaly },
};
