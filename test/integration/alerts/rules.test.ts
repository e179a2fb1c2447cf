/** Alert rules that people make: where they may be, what they may say, and that git's are git's. */
import { expect } from 'chai';
import type { AlertRule } from '../../../schemas/api/alerts.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { ONE_OF_TEN, refusal, tenAtOnce } from '../../support/scenes/places.ts';
import { makeTwoTeams, type TwoTeams } from '../../support/scenes/two-teams.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

const manifest = (name: string, threshold = 5) => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name} }
spec: { pipelineRef: orders, metric: error_rate, condition: gt, threshold: ${threshold} }
`;

describe('alert rules', () => {
  let test: TestController;
  let teams: TwoTeams;
  let both: TestUser;
  let made = 0;

  before(async function () {
    this.timeout(30_000);
    test = await startTestController();
    teams = await makeTwoTeams(test);
    const roles = { [teams.ours.teamId]: 'EDITOR', [teams.theirs.teamId]: 'EDITOR' } as const;
    await makeUser(test.db, { email: 'both@example.org', teams: roles });
    both = await signIn(test.url, 'both@example.org');
  });
  after(async () => {
    await teams?.git.remove();
    await test?.stop();
  });

  const input = (more: object = {}) => ({
    ...{ environmentId: teams.ours.environmentId, teamId: teams.ours.teamId, name: `rule ${++made}` },
    ...{ metric: 'cpu_usage', condition: 'gt', threshold: 90 },
    ...more,
  });
  const create = (more?: object) => teams.editor.mutate<AlertRule>('alert.createRule', input(more));
  const tryCreate = (more: object, person = both) =>
    refusal(person, 'mutation', 'alert.createRule', input(more));
  const update = (id: string, more: object) =>
    teams.editor.mutate<AlertRule>('alert.updateRule', { id, ...more });
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
    expect(await tryCreate({ teamId: theirs.teamId })).to.match(/^BAD_REQUEST: teamId is another team/);
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

  it('take a name once in an environment, whatever its case', async () => {
    await create({ name: 'Twice' });
    expect(await tryCreate({ name: 'tWICE ' })).to.match(/^CONFLICT: .*choose another name/);
    const { id } = await create();
    expect(await refusal(both, 'mutation', 'alert.updateRule', { id, name: 'twice' })).to.match(/^CONFLICT/);
    const { environmentId, teamId } = teams.theirs;
    expect(await tryCreate({ name: 'Twice', environmentId, teamId })).to.equal('OK');
  });

  it('make one of ten that come at once with one name', async () => {
    const statuses = await tenAtOnce(() =>
      both.call('mutation', 'alert.createRule', input({ name: 'race', pipelineId: teams.ours.pipelineId })),
    );
    expect(statuses).to.deep.equal(ONE_OF_TEN);
  });

  it('change in part: what is not told stays', async () => {
    const before = await create({ durationSeconds: 5 });
    const after = await update(before.id, { enabled: false, threshold: 1.5 });
    expect({ ...after, updatedAt: before.updatedAt }).to.deep.equal({
      ...before,
      ...{ enabled: false, threshold: 1.5 },
    });
    expect(await update(before.id, { name: ' renamed ', durationSeconds: 86_400 })).to.include({
      ...{ name: 'renamed', durationSeconds: 86_400, enabled: false },
    });
  });

  it('are gone for good once deleted', async () => {
    const { id } = await create();
    expect(await teams.editor.mutate('alert.deleteRule', { id })).to.deep.equal({ deleted: true });
    expect(await test.db('alert_rules').where({ id })).to.deep.equal([]);
    for (const name of ['alert.deleteRule', 'alert.updateRule'])
      expect(await refusal(both, 'mutation', name, { id })).to.match(/^NOT_FOUND: Alert rule/);
  });

  it('are not found by people of another team', async () => {
    const { id } = await create();
    for (const name of ['alert.deleteRule', 'alert.updateRule'])
      expect(await refusal(teams.stranger, 'mutation', name, { id })).to.match(/^NOT_FOUND: Alert rule/);
  });

  const WRONG: { reason: string; more: object; names: string }[] = [
    { reason: 'a threshold that is no number', more: { threshold: '90' }, names: 'threshold' },
    { reason: 'a threshold beyond 10^15', more: { threshold: 1e16 }, names: 'threshold' },
    { reason: 'a negative duration', more: { durationSeconds: -1 }, names: 'durationSeconds' },
    { reason: 'a duration of more than a day', more: { durationSeconds: 86_401 }, names: 'durationSeconds' },
    { reason: 'half a second', more: { durationSeconds: 0.5 }, names: 'durationSeconds' },
    { reason: 'a metric that there is not', more: { metric: 'mood' }, names: 'metric' },
    { reason: 'a condition that there is not', more: { condition: 'ge' }, names: 'condition' },
    { reason: 'a name of 101 characters', more: { name: 'x'.repeat(101) }, names: 'name' },
  ];
  for (const { reason, more, names } of WRONG) {
    it(`refuse ${reason}`, async () => {
      expect(await tryCreate(more)).to.match(new RegExp(`^BAD_REQUEST: ${names} `));
    });
  }

  it('refuse a threshold that is too large to be a number', async () => {
    const body = JSON.stringify({ json: input() }).replace('"threshold":90', '"threshold":1e999');
    const answer = await fetch(`${test.url}/api/trpc/alert.createRule`, {
      ...{ method: 'POST', body },
      headers: { 'content-type': 'application/json', cookie: both.cookie },
    });
    expect(answer.status).to.equal(400);
    expect(await answer.text()).to.include('threshold');
  });

  it('are changed in git alone where a manifest describes them', async () => {
    await teams.git.commit({ 'ours/rule.yaml': manifest('described') });
    const { stderr } = await teams.git.push();
    await until(async () => (await find('described')) !== undefined, { what: `the rule: ${stderr}` });
    const id = (await find('described'))?.id ?? '';
    for (const [name, more] of [
      ['alert.updateRule', { enabled: false }],
      ['alert.deleteRule', {}],
    ] as const) {
      const { fault } = await both.call('mutation', name, { id, ...more });
      expect(fault?.data, name).to.include({ code: 'PRECONDITION_FAILED', path: 'ours/rule.yaml', line: 1 });
      expect(fault?.message).to.include('ours/rule.yaml:1');
    }
    expect(await find('described')).to.include({ enabled: true, managedBy: 'git' });
    expect(await tryCreate({ name: 'DESCRIBED' })).to.match(/^CONFLICT/);
  });

  it('give their name to a manifest that waited for it, as soon as they are deleted', async () => {
    const { id } = await create({ name: 'wanted' });
    await teams.git.commit({ 'ours/wanted.yaml': manifest('wanted', 7) });
    const { stderr } = await teams.git.push();
    expect(stderr).to.include('wanted').and.to.include('owned by the UI');
    await teams.editor.mutate('alert.deleteRule', { id });
    await until(async () => (await find('wanted'))?.managedBy === 'git', {
      what: 'the manifest to be applied',
    });
  });

  it('leave names and changes in the audit log', async () => {
    const { id } = await create({ name: 'audited' });
    await update(id, { threshold: 80 });
    await teams.editor.mutate('alert.deleteRule', { id });
    const rows = await test.db('audit_log').where({ entity_id: id }).orderBy('id');
    expect(rows.map(({ action, diff }) => [action, diff])).to.deep.equal([
      ['alertRule.created', null],
      ['alertRule.updated', { threshold: [90, 80] }],
      ['alertRule.deleted', null],
    ]);
    expect(rows.every(({ metadata }) => metadata.name === 'audited')).to.equal(true);
  });
});
