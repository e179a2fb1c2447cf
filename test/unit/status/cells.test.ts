import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_FLEET_SETTINGS } from '../../../controller/fleet/settings/index.ts';
import { joinCells } from '../../../controller/fleet/status/cells.ts';
import { join } from '../../../controller/fleet/status/join-status.ts';
import type {
  NodeRow,
  PipelineRow,
  ReportRow,
  SharedState,
} from '../../../controller/fleet/status/observed-rows.ts';
import type { LabelMap } from '../../../schemas/api/common.ts';
import {
  NOW,
  nodeRow,
  pipelineRow,
  reportRow,
  rolloutRow,
  secondsAgo,
} from '../../support/fixtures/status.ts';

const time = { now: NOW, listeningSince: NOW - 86_400_000, settings: DEFAULT_FLEET_SETTINGS };
const labels = fc.constantFrom<LabelMap>({}, { role: 'edge' }, { role: 'core' });
const nodes = fc
  .array(
    fc.record({
      agentLabels: labels,
      uiLabels: fc.constantFrom<LabelMap>({}, { role: 'edge' }),
      maintenance: fc.boolean(),
      revoked: fc.nat(9).map((n) => n === 0),
      reportedAt: fc.constantFrom(null, secondsAgo(1), secondsAgo(900)),
    }),
    { maxLength: 5 },
  )
  .map((rows) => rows.map((row, n): NodeRow => nodeRow({ ...row, id: `n${n}`, name: `node-${n}` })));
const pipelines = fc
  .array(
    fc.record({
      isDraft: fc.boolean(),
      deployedSelector: fc.constantFrom<LabelMap | null>(null, { role: 'edge' }, { given: 'yes' }),
      rollout: fc.constantFrom(
        null,
        rolloutRow({ canarySelector: { role: 'core' } }),
        rolloutRow({ canarySelector: {} }),
      ),
      deployedAt: fc.constantFrom(secondsAgo(1), secondsAgo(600)),
    }),
    { maxLength: 20 },
  )
  .map((rows) => rows.map((row, p): PipelineRow => pipelineRow({ ...row, id: `p${p}`, name: `web-${p}` })));
const reports = fc
  .uniqueArray(
    fc.record({
      nodeId: fc.nat(4).map((n) => `n${n}`),
      pipelineId: fc.nat(20).map((p) => `p${p}`),
      version: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom('RUNNING' as const, 'CRASHED' as const, 'STOPPED' as const),
    }),
    { maxLength: 60, selector: ({ nodeId, pipelineId }) => `${nodeId} ${pipelineId}` },
  )
  .map((rows) => rows.map((row): ReportRow => reportRow(row)));
const groups = [
  { id: 'g', name: 'edge', criteria: { role: 'edge' }, labelTemplate: { given: 'yes' }, requiredLabels: [] },
];

/** As the database puts them together. */
function saidBy(rows: readonly NodeRow[], all: readonly ReportRow[]): SharedState[] {
  const states = new Map<string, SharedState>();
  for (const { nodeId, pipelineId, version, status } of all) {
    const place = rows.findIndex(({ id }) => id === nodeId);
    if (place < 0) continue;
    const key = `${pipelineId} ${version} ${status}`;
    const one = states.get(key) ?? { pipelineId, version, status, nodeIndexes: [] };
    one.nodeIndexes.push(place);
    states.set(key, one);
  }
  return [...states.values()];
}

describe('the cells of a matrix', () => {
  it('say what the whole join says, of whatever is deployed and reported', () => {
    fc.assert(
      fc.property(nodes, pipelines, reports, (nodes, pipelines, all) => {
        const known = all.filter(({ nodeId }) => nodes.some(({ id }) => id === nodeId));
        const whole = join({ binding: null, nodes, pipelines, reports: known, groups }, time);
        const short = joinCells({ nodes, pipelines, groups, states: saidBy(nodes, known) }, time);
        expect(
          short.nodes.map(({ node, labels, groups, health, cells }) => ({
            ...{ id: node.id, labels, groups, health },
            cells: cells.map(({ pipelineIndex, ...cell }) => ({
              pipeline: pipelines[pipelineIndex]?.id,
              ...cell,
            })),
          })),
        ).to.deep.equal(
          whole.nodes.map(({ node, labels, groups, health, pairs }) => ({
            ...{ id: node.id, labels, groups, health },
            cells: pairs.map(({ pipeline, desired, gate }) => ({
              ...{ pipeline: pipeline.id, desired, status: gate.status, version: gate.version },
              canary: gate.canary,
            })),
          })),
        );
      }),
      { numRuns: 500 },
    );
  });
});
