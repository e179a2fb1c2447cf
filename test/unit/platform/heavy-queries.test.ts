/** Which queries take a slot of heavy work, by what they are asked. */
import { expect } from 'chai';
import { fleetOperations } from '../../../controller/fleet/index.ts';
import { logOperations } from '../../../controller/fleet/logs/index.ts';
import { auditOperations } from '../../../controller/insight/audit/index.ts';

interface Weighed {
  name: string;
  weight?: unknown;
}

describe('a query', () => {
  const weightOf = ({ weight }: Weighed, input: object): unknown =>
    typeof weight === 'function' ? weight(input) : (weight ?? 'light');
  const [pipeline, node] = [logOperations.pipelineLogs, logOperations.nodeLogs];
  const audit = auditOperations.list;
  const fleet = fleetOperations.list;
  const environmentId = 'e';

  const ROWS: readonly { query: Weighed; input: object; weight: 'light' | 'heavy' }[] = [
    { query: pipeline, input: { pipelineId: 'p' }, weight: 'light' },
    { query: pipeline, input: { pipelineId: 'p', cursor: '7', limit: 500 }, weight: 'light' },
    { query: pipeline, input: { pipelineId: 'p', contains: '' }, weight: 'light' },
    { query: pipeline, input: { pipelineId: 'p', nodeId: 'n' }, weight: 'heavy' },
    { query: pipeline, input: { pipelineId: 'p', contains: 'x' }, weight: 'heavy' },
    { query: node, input: { nodeId: 'n' }, weight: 'light' },
    { query: node, input: { nodeId: 'n', pipelineId: 'p' }, weight: 'heavy' },
    { query: node, input: { nodeId: 'n', levels: ['ERROR'] }, weight: 'heavy' },
    { query: node, input: { nodeId: 'n', since: '2026-01-31T00:00:00Z' }, weight: 'heavy' },
    { query: audit, input: {}, weight: 'light' },
    { query: audit, input: { environmentId, cursor: '7', startDate: '2026-01-31' }, weight: 'light' },
    { query: audit, input: { teamId: 't' }, weight: 'light' },
    { query: audit, input: { environmentId, userId: 'u' }, weight: 'heavy' },
    { query: audit, input: { environmentId, action: 'secret.created' }, weight: 'heavy' },
    { query: audit, input: { actorType: 'git' }, weight: 'heavy' },
    { query: audit, input: { search: 'x' }, weight: 'heavy' },
    { query: fleet, input: { environmentId }, weight: 'light' },
    { query: fleet, input: { environmentId, includeArchived: false }, weight: 'light' },
    { query: fleet, input: { environmentId, includeArchived: true }, weight: 'heavy' },
  ];
  for (const { query, input, weight } of ROWS) {
    it(`${query.name} is ${weight} for ${JSON.stringify(input)}`, () => {
      expect(weightOf(query, input)).to.equal(weight);
    });
  }
});
