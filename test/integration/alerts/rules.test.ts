/** Alert rules that people make: where they may be, what they may say, and that git's are git's. */
import { expect } from 'chai';
import type { AlertRule } from '../../../schemas/api/insight/alerts.ts';
import { useController } from '../../support/harness/controller.ts';
import { refusal } from '../../support/scenes/places.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { signUp, type TestUser } from '../../support/users/person.ts';

describe('alert rules', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let both: TestUser;
  let made = 0;

  before(async () => {
    const roles = { [teams.ours.teamId]: 'EDITOR', [teams.theirs.teamId]: 'EDITOR' } as const;
    both = await signUp(test, { email: 'both@example.org', teams: roles });
  });

  const input = (more: object = {}) => ({
    ...{ environmentId: teams.ours.environmentId, teamId: teams.ours.teamId, name: `rule ${++made}` },
    ...{ metric: 'cpu_usage', condition: 'gt', threshold: 90 },
    ...more,
  });
  const create = (more?: object) => teams.editor.mutate<AlertRule>('alert.createRule', input(more));
  const tryCreate = (more: object, person = both) =>
    refusal(person, 'mutation', 'alert.createRule', input(more));
  const list = () =>
    teams.viewer.query<AlertRule[]>('alert.listRules', { environmentId: teams.ours.environmentId });
  const find = async (name: string) => (await list()).find((one) => one.name === name);

  it('are made on, for 60 seconds and all pipelines, where nothing else is said', async () => {
    const rule = await create();
    expect(rule).to.deep.include({
      ...{ enabled: true, durationSeconds: 60, pipelineId: null, pipelineName: null, labels: {} },
      ...{ metric: 'cpu_usage', condition: 'gt', threshold: 90, managedBy: 'ui', git: null },
      ...{ environmentId: teams.ours.environmentId, teamId: teams.ours.teamId },
    });
    expect(await find(rule.name)).to.deep.equal(rule);
  });

  it('watch one pipeline where it is named, whoever owns that', async () => {
    const { pipelineId } = teams.ours;
    const rule = await create({ pipelineId, durationSeconds: 0, threshold: -0.5, name: ' trimmed ' });
    expect(rule).to.include({ pipelineId, pipelineName: 'orders', durationSeconds: 0, threshold: -0.5 });
    expect(rule.name).to.equal('trimmed');
  });

  it('are of the team of their environment', async () => {
    const { theirs } = teams;
    expect(await tryCreate({ teamId: theirs.teamId })).to.match(/^BAD_REQUEST: teamId is not the team/);
    expect(await tryCreate({ teamId: theirs.teamId }, teams.editor)).to.match(/^FORBIDDEN/);
    expect(await tryCreate({ environmentId: theirs.environmentId }, teams.editor)).to.match(/^FORBIDDEN/);
    expect(await tryCreate({ teamId: 'nobody' })).to.match(/^NOT_FOUND: Team/);
  });

  it('watch no pipeline of another environment, and none that was deleted', async () => {
    expect(await tryCreate({ pipelineId: teams.theirs.pipelineId })).to.match(/^NOT_FOUND: Pipeline/);
    const { environmentId } = teams.ours;
    const { id } = await both.mutate<{ id: string }>('pipeline.create', { environmentId, name: 'gone' });
    await both.mutate('pipeline.delete', { id });
    expect(await tryCreate({ pipelineId: id })).to.match(/^NOT_FOUND: Pipeline/);
  });

  it('are gone for good once deleted', async () => {
    const { id } = await create();
    expect(await teams.editor.mutate('alert.deleteRule', { id })).to.deep.equal({ deleted: true });
    expect(await test.db('alert_rules').where({ id })).to.deep.equal([]);
    for (const name of ['alert.deleteRule', 'alert.updateRule'])
      expect(await refusal(both, 'mutation', name, { id })).to.match(/^NOT_FOUND: Alert rule/);
  });

  it('refuse a threshold that is too large to be a number', async () => {
    const body = JSON.stringify({ json: input() }).replace('"threshold":90', '"threshold":1e999');
    const answer = await fetch(`${test.url}/api/trpc/alert.createRule`, {
      ...{ method: 'POST', body },
      headers: { 'content-type': 'application/json', cookie: both.cookie },
    });
    expect(answer.status).to.equal(400);
    expect(await answer.text()).to.include('threshold');
  });
});
