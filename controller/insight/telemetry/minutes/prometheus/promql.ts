/** PromQL for the series of charts. Windows are whole minutes; each sample lies inside of its minute. Pure. */
import type { MinuteSource } from '../minute-store.ts';

/** Label values as they are in a selector. Ids of an environment are known to be harmless, those of components are not. */
const quoted = (value: string): string => `"${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
const escaped = (value: string): string => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
export const oneOf = (ids: readonly string[]): string => quoted(ids.map(escaped).join('|'));

export interface Selection {
  /** `headgate_pipeline` or `headgate_component`. */
  metric: string;
  /** Labels that are told apart. */
  by: readonly string[];
  /** In braces, without them. */
  matchers: string;
}

export function selectionOf(source: MinuteSource): Selection {
  const metric = source.of === 'components' ? 'headgate_component' : 'headgate_pipeline';
  switch (source.of) {
    case 'pipeline':
      return { metric, by: ['pipeline_id'], matchers: `pipeline_id=${quoted(source.pipelineId)}` };
    case 'pipelines':
      return { metric, by: ['pipeline_id'], matchers: `pipeline_id=~${oneOf(source.pipelineIds)}` };
    case 'components':
      return { metric, by: ['component_id', 'kind'], matchers: `pipeline_id=${quoted(source.pipelineId)}` };
    case 'nodes':
      return { metric, by: ['node_id'], matchers: `pipeline_id=${quoted(source.pipelineId)}` };
    case 'node':
      return { metric, by: [], matchers: `node_id=${quoted(source.nodeId)}` };
    case 'environment': {
      const { environmentId, nodeIds, pipelineIds, groupBy } = source;
      const matchers = [
        `environment_id=${quoted(environmentId)}`,
        ...(nodeIds ? [`node_id=~${oneOf(nodeIds)}`] : []),
        ...(pipelineIds ? [`pipeline_id=~${oneOf(pipelineIds)}`] : []),
      ];
      const by = { pipeline: ['pipeline_id'], node: ['node_id'], aggregate: [] }[groupBy];
      return { metric, by, matchers: matchers.join(',') };
    }
  }
}

const grouped = (by: readonly string[]): string => (by.length > 0 ? ` by (${by.join(', ')})` : '');

/** Per second, of all nodes together: the mean, lowest or highest minute of each step. */
export function rateQuery(
  { metric, by, matchers }: Selection,
  stepSeconds: number,
  how: 'avg' | 'min' | 'max' = 'avg',
): string {
  const [counted, seconds] = ['increase', 'seconds'].map(
    (name) => `sum_over_time(${metric}_${name}{${matchers}}[1m])`,
  );
  const ofMinute = `sum${grouped([...by, 'measure'])} (${counted} / ignoring(measure) group_left() ${seconds})`;
  if (stepSeconds === 60) return ofMinute;
  // A second less than the step, or the last minute of the step before would count where a window has both its ends.
  return `${how}_over_time((${ofMinute})[${stepSeconds - 1}s:1m])`;
}

export const increaseQuery = (
  { metric, by, matchers }: Selection,
  seconds: number,
  measures: readonly string[] | null = null,
): string => {
  const only = measures ? `,measure=~${oneOf(measures)}` : '';
  return `sum${grouped([...by, 'measure'])} (sum_over_time(${metric}_increase{${matchers}${only}}[${seconds}s]))`;
};

export const latencyQuery = ({ metric, by, matchers }: Selection, stepSeconds: number): string =>
  `avg${grouped(by)} (avg_over_time(${metric}_latency_ms{${matchers}}[${stepSeconds}s]))`;

export const utilizationQuery = ({ metric, by, matchers }: Selection, stepSeconds: number): string =>
  `max${grouped(by)} (max_over_time(${metric}_utilization{${matchers}}[${stepSeconds}s]))`;

/** Bytes in and out of each series: of the largest ones, or how many there are. */
export function largestQuery(selection: Selection, seconds: number, limit: number | null): string {
  const { metric, by, matchers } = selection;
  const bytes = `${metric}_increase{${matchers},measure=~"bytes_in|bytes_out"}`;
  const sums = `sum${grouped(by)} (sum_over_time(${bytes}[${seconds}s]))`;
  return limit === null ? `count(${sums})` : `topk(${limit}, ${sums})`;
}

export const hostQuery = (nodeId: string, stepSeconds: number, how: 'avg' | 'max'): string =>
  `${how} by (measure) (${how}_over_time(headgate_host{node_id=${quoted(nodeId)}}[${stepSeconds}s]))`;
