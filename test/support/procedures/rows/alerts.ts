import type { AlertEventPage } from '../../../../schemas/api/insight/alerts.ts';
import { until } from '../../harness/until.ts';
import type { Side } from '../../scenes/two-teams.ts';
import { NOTHING, type TestUser } from '../../users/person.ts';
import { heard } from './fleet.ts';
import { environment, fresh, type Rows } from './row.ts';

const ruleOf = ({ environmentId, teamId, pipelineId }: Side, n: number) => ({
  ...{ environmentId, teamId, pipelineId, name: `rule ${n}` },
  ...{ metric: 'error_rate', condition: 'gt', threshold: 0.5, durationSeconds: 30 },
});
const silenceOf = ({ environmentId }: Side) => ({
  ...{ environmentId, matchers: { node: 'nobody' }, reason: 'disks are replaced' },
  endsAt: new Date(Date.now() + 3_600_000).toISOString(),
});

/** An event of a new rule, which fires whether the node answers or not. */
export async function openEvent(side: Side, n: number, root: TestUser): Promise<{ id: string }> {
  const { environmentId, teamId } = side;
  await heard(side, root);
  const always = { metric: 'node_unreachable', condition: 'lt', threshold: 2, durationSeconds: 0 };
  const name = `always ${n}`;
  const ruleId = await fresh(root, 'alert.createRule', { environmentId, teamId, name, ...always });
  const open = async () =>
    (await root.query<AlertEventPage>('alert.listEvents', { environmentId, ruleId, status: 'open' }))
      .events[0];
  await until(async () => (await open()) !== undefined, { what: 'the rule to fire' });
  return { id: (await open())?.id ?? '' };
}

export const ALERTS: Rows = {
  'alert.listRules': { names: 'scope', input: environment },
  'alert.createRule': { names: 'scope', input: ruleOf },
  'alert.updateRule': {
    names: 'object',
    input: async (side, n, root) => ({
      id: await fresh(root, 'alert.createRule', ruleOf(side, n)),
      ...{ name: `changed ${n}`, enabled: false, threshold: 2, durationSeconds: 60 },
    }),
  },
  'alert.deleteRule': {
    names: 'object',
    input: async (side, n, root) => ({ id: await fresh(root, 'alert.createRule', ruleOf(side, n)) }),
  },
  'alert.previewRule': {
    names: 'scope',
    input: ({ environmentId, pipelineId }) => ({
      ...{ environmentId, pipelineId, metric: 'error_rate', condition: 'gt', threshold: 0.5 },
      ...{ durationSeconds: 30, days: 7 },
    }),
  },
  'alert.listEvents': { names: 'scope', input: environment },
  'alert.openEvents': { names: 'own', input: () => NOTHING },
  'alert.getEvent': { names: 'object', input: openEvent },
  'alert.acknowledgeEvent': { names: 'object', input: openEvent },
  'alert.listSilences': { names: 'scope', input: environment },
  'alert.createSilence': { names: 'scope', input: silenceOf },
  'alert.endSilence': {
    names: 'object',
    input: async (side, _, root) => ({ id: await fresh(root, 'alert.createSilence', silenceOf(side)) }),
  },
};
