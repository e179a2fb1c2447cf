/** Dashboards: over everything that somebody sees, and over nothing else. */
import { expect } from 'chai';
import type { Static } from 'typebox';
import { dashboardOperations } from '../../../controller/insight/dashboard/index.ts';
import type {
  DashboardStats,
  NodeCards,
  OperationalOverview,
  PipelineCards,
  RecentAudit,
  RecentPipelines,
} from '../../../schemas/api/insight/dashboard.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { insertAlertEvent } from '../../support/fixtures/alert-events.ts';
import { useController } from '../../support/harness/controller.ts';
import { countStatements } from '../../support/harness/statements.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

type Overview = Static<typeof OperationalOverview>;
type Cards = Static<typeof NodeCards>;

describe('dashboards', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  /** VIEWER in both teams. */
  let both: TestUser;
  /** In no team. */
  let nobody: TestUser;

  before(async () => {
    const roles = { [teams.ours.teamId]: 'VIEWER', [teams.theirs.teamId]: 'VIEWER' } as const;
    await makeUser(test.db, { email: 'both@example.org', teams: roles });
    await makeUser(test.db, { email: 'nobody@example.org' });
    both = await signIn(test.url, 'both@example.org');
    nobody = await signIn(test.url, 'nobody@example.org');
  });

  const stats = (environmentId = teams.ours.environmentId) =>
    teams.viewer.query<DashboardStats>('dashboard.stats', { environmentId });
  const overview = (person = teams.viewer) => person.query<Overview>('dashboard.operationalOverview');
  const nodeCards = (person = teams.viewer) => person.query<Cards>('dashboard.nodeCards');
  const recentAudit = (person = teams.viewer) =>
    person.query<Static<typeof RecentAudit>>('dashboard.recentAudit');
  const recentPipelines = (person = teams.viewer) =>
    person.query<Static<typeof RecentPipelines>>('dashboard.recentPipelines');
  const reportOf = (more: object = {}) => ({
    ...{ pipelineId: teams.ours.pipelineId, version: 1, status: 'RUNNING', pid: 7, uptimeSeconds: 3 },
    ...more,
  });
  const beat = (pipelines: object[], hostMetrics: object = {}) =>
    teams.ours.node.heartbeat(heartbeat({ pipelines, hostMetrics }));

  it('count the nodes, pipelines, rules and deploys of an environment', async () => {
    const { environmentId, teamId, pipelineId } = teams.ours;
    const rule = { environmentId, teamId, metric: 'cpu_usage', condition: 'gt', threshold: 1 };
    const on = await teams.editor.mutate<{ id: string }>('alert.createRule', { ...rule, name: 'on' });
    const off = await teams.editor.mutate<{ id: string }>('alert.createRule', { ...rule, name: 'off' });
    await teams.editor.mutate('alert.updateRule', { id: off.id, enabled: false });
    await teams.editor.mutate('pipeline.create', { environmentId, name: 'a draft' });
    const { recentDeploys, ...counted } = await stats();
    expect(counted).to.deep.equal({
      environmentId,
      nodes: { total: 1, healthy: 1, degraded: 0, unreachable: 0, unknown: 0, maintenance: 0 },
      pipelines: { total: 2, draft: 1, crashed: 0, idle: 0, running: 1, stopped: 0, held: 0, moving: 0 },
      rates: { eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0, asOf: null },
      alertRules: { total: 2, enabled: 1 },
    });
    expect(recentDeploys.total).to.equal(1);
    expect(recentDeploys.latest[0]).to.include({ pipelineId, name: 'orders', version: 1 });
    await test
      .db('pipelines')
      .where({ id: pipelineId })
      .update({ deployed_at: new Date(Date.now() - 25 * 3_600_000) });
    expect((await stats()).recentDeploys).to.deep.equal({ total: 0, latest: [] });
    // Where there are rules, they are evaluated every 15 s, which ends alerts that were made by no rule.
    for (const { id } of [on, off]) await teams.editor.mutate('alert.deleteRule', { id });
  });

  it('tell how fast events go through', async () => {
    let beats = 0;
    const flows = async () => {
      beats += 1;
      await beat([reportOf({ eventsIn: beats * 1_000, errorsTotal: beats })]);
      return (await stats()).rates.eventsIn > 0;
    };
    await until(flows, { what: 'the rate', everyMs: 250 });
    expect((await stats()).rates.errors).to.be.greaterThan(0);
    const [mine] = (await overview()).environments;
    expect(mine?.rates.eventsIn).to.be.greaterThan(0);
    expect(mine?.problems.map(({ key }) => key)).to.include(`errors-${teams.ours.pipelineId}`);
  });

  it('show pipelines as cards, each with its gate, state, nodes and rates', async () => {
    await beat([reportOf()]);
    const { environmentId, pipelineId } = teams.ours;
    const cards = () =>
      teams.viewer.query<Static<typeof PipelineCards>>('dashboard.pipelineCards', { environmentId });
    const card = async () => (await cards()).find(({ id }) => id === pipelineId);
    expect(await card()).to.deep.include({
      name: 'orders',
      isDraft: false,
      managedBy: 'git',
      state: 'running',
    });
    expect((await card())?.nodeCounts).to.include({ total: 1, running: 1 });
    expect((await card())?.gate.map(({ state }) => state)).to.deep.equal(['done', 'done', 'done', 'done']);
    await beat([reportOf({ status: 'CRASHED', lastError: 'exit code 78' })]);
    await until(async () => (await card())?.state === 'crashed', { what: 'the crash to be seen' });
  });

  it('tell of a crash first among what is wrong', async () => {
    await beat([reportOf({ status: 'CRASHED', lastError: 'exit code 78' })]);
    const worst = async () => (await overview()).environments[0]?.problems[0];
    await until(async () => (await worst())?.key === `crash-${teams.ours.pipelineId}`, {
      what: 'the crash to be told of',
    });
    expect(await worst()).to.include({ kind: 'pipeline', id: teams.ours.pipelineId, tone: 'failed' });
    expect((await worst())?.note).to.include('exit code 78');
    const [mine] = (await overview()).environments;
    expect(mine?.pipelines.crashed).to.equal(1);
    await beat([reportOf()]);
    await until(async () => (await overview()).environments[0]?.pipelines.crashed === 0, {
      what: 'it to be over',
    });
  });

  it('show each environment with its gate, its tie to git and its last passes', async () => {
    const { total, environments } = await overview();
    expect(total).to.equal(1);
    const [mine] = environments;
    expect(mine).to.deep.include({
      ...{ environmentId: teams.ours.environmentId, environmentName: 'ours', teamName: 'ours' },
      git: { mode: 'sync', branch: 'main', path: 'ours', suspended: false },
    });
    const status = await teams.viewer.query<{ gate: { state: string; commit: string }[] }>('gitSync.status', {
      environmentId: teams.ours.environmentId,
    });
    expect(mine?.gate).to.deep.equal(status.gate);
    expect(mine?.passes.length).to.be.within(1, 5);
    // Passes that put back what cases before have changed may follow it.
    const first = mine?.passes.find(({ counts }) => counts?.created === 1);
    expect(first?.outcome).to.equal('applied');
    expect(first?.commit).to.include({ author: 'Ada Example', subject: 'change' });
  });

  it('tell of manifests that were refused, twenty at most, and how many there are', async () => {
    const bad = Array.from({ length: 25 }, (_, n) => [
      `ours/bad-${String(n).padStart(2, '0')}.yaml`,
      'kind: [',
    ]);
    await teams.git.commit(Object.fromEntries(bad));
    await teams.git.push();
    const mine = async () => (await overview()).environments[0];
    await until(async () => ((await mine())?.problemCount ?? 0) >= 25, { what: 'the import errors' });
    const found = await mine();
    expect(found?.problems).to.have.length(20);
    const manifest = found?.problems.find(({ kind }) => kind === 'manifest');
    expect(manifest).to.include({ path: 'ours/bad-00.yaml', tone: 'failed', id: null });
    expect(found?.gate[1]).to.include({ point: 'accepted', state: 'failed' });
    await teams.git.commit(Object.fromEntries(bad.map(([path]) => [path, null])));
    await teams.git.push();
    const manifests = async () => (await mine())?.problems.filter(({ kind }) => kind === 'manifest');
    await until(async () => (await manifests())?.length === 0, { what: 'them to be mended' });
  });

  it('tell of open alerts in the place of what is derived, of muted ones not', async () => {
    const { environmentId, pipelineId, node } = teams.ours;
    const mine = async (person = teams.viewer) =>
      (await overview(person)).environments.find((one) => one.environmentId === environmentId);
    const keys = async () => (await mine())?.problems.map(({ key }) => key) ?? [];
    await beat([reportOf({ status: 'CRASHED', lastError: 'exit code 78' })]);
    await until(async () => (await keys()).includes(`crash-${pipelineId}`), { what: 'the crash' });
    const known = (await mine())?.problemCount ?? 0;
    const crash = { metric: 'pipeline_crashed', pipelineId, ruleId: 'crashes' } as const;
    const aMinuteAgo = new Date(Date.now() - 60_000);
    await insertAlertEvent(test.db, { id: 'crash-a', environmentId, ...crash, openedAt: aMinuteAgo });
    await insertAlertEvent(test.db, {
      ...{ id: 'crash-b', environmentId, ...crash, nodeId: node.nodeId, message: 'orders crashed on b' },
    });
    await insertAlertEvent(test.db, { id: 'muted', environmentId, mutedBy: 'maintenance' });
    await insertAlertEvent(test.db, { id: 'over', environmentId, status: 'resolved' });
    expect(await keys())
      .to.include('alert-crash-b')
      .and.not.include(`crash-${pipelineId}`);
    const [worst] = (await mine())?.problems ?? [];
    expect(worst).to.deep.include({
      ...{ kind: 'alert', id: 'crash-b', tone: 'failed', title: 'orders crashed on b, and on 1 more node' },
      note: 'Rule Silent nodes, for less than a minute',
    });
    expect((await mine())?.problemCount).to.equal(known);
    for (let n = 0; n < 30; n += 1)
      await insertAlertEvent(test.db, { id: `cpu-${n}`, environmentId, metric: 'cpu_usage', threshold: 90 });
    expect((await mine())?.problems).to.have.length(20);
    expect((await mine())?.problemCount).to.equal(known + 30);
    expect(await mine(teams.stranger)).to.equal(undefined);
    await test.db('alert_events').where({ environment_id: environmentId }).delete();
    await beat([reportOf()]);
    await until(async () => !(await keys()).includes(`crash-${pipelineId}`), { what: 'it to be over' });
  });

  it('show nodes with what their hosts have to do', async () => {
    const memory = { memoryTotalBytes: 8e9, memoryUsedBytes: 2e9 };
    const mine = async () => (await nodeCards()).nodes.find(({ id }) => id === teams.ours.node.nodeId);
    let beats = 0;
    const isBusy = async () => {
      beats += 1;
      const counters = { cpuSecondsTotal: 1_000 + 4 * beats, cpuSecondsIdle: 500 + beats };
      await beat([reportOf()], { ...memory, ...counters });
      return (await mine())?.cpuPercent === 75;
    };
    await until(isBusy, { what: 'a share of three quarters', everyMs: 300 });
    expect((await mine())?.memoryPercent).to.equal(25);
    expect(await mine()).to.deep.include({
      ...{ name: 'ours-node', environmentName: 'ours', teamId: teams.ours.teamId, status: 'HEALTHY' },
      ...{ pipelinesDesired: 1, pipelinesRunning: 1, pipelinesCrashed: 0, maintenance: false },
    });
  });

  it('hold what the caller’s teams have, and of others nothing', async () => {
    const seen = async (person: TestUser) => ({
      overview: (await overview(person)).environments.map(({ environmentName }) => environmentName),
      nodes: (await nodeCards(person)).nodes.map(({ name }) => name),
      pipelines: [...new Set((await recentPipelines(person)).map((one) => one.environmentName))].sort(),
    });
    const ours = { overview: ['ours'], nodes: ['ours-node'], pipelines: ['ours'] };
    const theirs = { overview: ['theirs'], nodes: ['theirs-node'], pipelines: ['theirs'] };
    expect(await seen(teams.viewer)).to.deep.equal(ours);
    expect(await seen(teams.stranger)).to.deep.equal(theirs);
    const all = {
      overview: ['ours', 'theirs'],
      nodes: ['ours-node', 'theirs-node'],
      pipelines: ['ours', 'theirs'],
    };
    expect(await seen(both)).to.deep.equal(all);
    expect(await seen(teams.root), 'a super admin is in every team').to.deep.equal(all);
    expect(await seen(nobody)).to.deep.equal({ overview: [], nodes: [], pipelines: [] });
    expect(await nodeCards(nobody)).to.deep.equal({ total: 0, nodes: [] });
  });

  it('show the five pipelines that were changed last, newest first, without those that were deleted', async () => {
    const { environmentId } = teams.ours;
    const ids: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      const { id } = await teams.editor.mutate<{ id: string }>('pipeline.create', {
        environmentId,
        name: `p${n}`,
      });
      ids.unshift(id);
    }
    expect((await recentPipelines()).map(({ id }) => id)).to.deep.equal(ids.slice(0, 5));
    await teams.editor.mutate('pipeline.delete', { id: ids[0] });
    await teams.editor.mutate('pipeline.update', { id: ids[6], description: 'changed last' });
    expect((await recentPipelines()).map(({ id }) => id)).to.deep.equal([ids[6], ...ids.slice(1, 5)]);
    expect((await recentPipelines())[0]).to.deep.include({ isDraft: true, managedBy: 'ui', name: 'p0' });
  });

  it('show the last ten things that were done in one’s teams, by git too, and what one did oneself', async () => {
    const entries = await recentAudit();
    expect(entries.length).to.be.at.most(10);
    expect(entries[0]).to.include({
      ...{ action: 'pipeline.updated', userEmail: 'editor@example.org', actorType: 'user' },
      ...{ environmentId: teams.ours.environmentId, teamId: teams.ours.teamId },
    });
    await teams.git.commit({ 'ours/group.yaml': GROUP, 'theirs/group.yaml': GROUP });
    await teams.git.push();
    await until(async () => (await recentAudit())[0]?.actorType === 'git', { what: 'git to be told of' });
    expect((await recentAudit())[0]).to.include({
      entityName: 'edge',
      environmentId: teams.ours.environmentId,
    });
    await teams.viewer.mutate('user.createToken', { name: 'my laptop' });
    expect((await recentAudit())[0]).to.include({ action: 'user.tokenCreated', entityName: 'my laptop' });
    expect((await recentAudit(teams.editor)).map(({ action }) => action)).not.to.include('user.tokenCreated');
  });

  it('show nothing that was done in other teams, and of nothing what it was changed from and to', async () => {
    const { teamId, environmentId } = teams.theirs;
    await teams.stranger.mutate('environment.update', { id: environmentId, maxNodes: 765_432 });
    const snippet = { teamId, name: 'their secret plan', category: 'x', code: '.a = 1' };
    await teams.stranger.mutate('vrlSnippet.create', snippet);
    for (const person of [teams.viewer, nobody]) {
      const { answer } = await person.call('query', 'dashboard.recentAudit');
      for (const told of ['their secret plan', teamId, environmentId, 'stranger@'])
        expect(answer.text).not.to.include(told);
    }
    const own = await recentAudit(nobody);
    expect(own.map(({ action, userEmail }) => [action, userEmail])).to.deep.equal([
      ['user.signedIn', nobody.email],
    ]);
    const { answer } = await teams.stranger.call('query', 'dashboard.recentAudit');
    expect(answer.text).to.include('their secret plan').and.not.to.include('765432');
    expect(answer.text).not.to.include('127.0.0.1');
  });

  it('still tell of an environment that was deleted', async () => {
    const input = { teamId: teams.ours.teamId, name: 'short-lived' };
    const { id } = await teams.editor.mutate<{ id: string }>('environment.create', input);
    await teams.admin.mutate('environment.delete', { id });
    expect((await recentAudit())[0]).to.include({
      ...{ action: 'environment.deleted', entityName: 'short-lived', environmentId: id },
    });
  });

  describe('whatever there is', () => {
    const all = async () => {
      const { environmentId } = teams.ours;
      const roles = { [teams.ours.teamId]: 'VIEWER' } as const;
      const counted: Record<string, number> = {};
      for (const operation of Object.values(dashboardOperations)) {
        const takes = operation.name === 'dashboard.stats' || operation.name === 'dashboard.pipelineCards';
        const input = takes ? { environmentId } : {};
        counted[operation.name] = await countStatements(test, roles, operation, input);
      }
      return counted;
    };

    it('make the same number of statements for few and for many', async () => {
      const before = await all();
      const { environmentId, teamId } = teams.ours;
      await test.db.raw(
        `INSERT INTO environments (id, team_id, name) SELECT 'e-' || n, ?, 'many ' || n FROM generate_series(1, 30) n`,
        [teamId],
      );
      await test.db.raw(
        `INSERT INTO pipelines (id, environment_id, name)
         SELECT 'p-' || n, CASE WHEN n % 2 = 0 THEN 'e-' || (1 + n % 30) ELSE ? END, 'many ' || n
         FROM generate_series(1, 300) n`,
        [environmentId],
      );
      await test.db.raw(
        `INSERT INTO nodes (id, environment_id, name, host)
         SELECT 'n-' || n, CASE WHEN n % 2 = 0 THEN 'e-' || (1 + n % 30) ELSE ? END, 'many ' || n, 'h-' || n
         FROM generate_series(1, 1100) n`,
        [environmentId],
      );
      await test.db.raw(
        `INSERT INTO git_bindings (id, environment_id, mode) SELECT 'b-' || n, 'e-' || n, 'observe' FROM generate_series(1, 30) n`,
      );
      expect(await all()).to.deep.equal(before);
      expect(Math.max(...Object.values(before))).to.be.at.most(11);
    });

    it('show 1,000 nodes at most, and how many there are', async () => {
      const { total, nodes } = await nodeCards();
      expect(total).to.equal(1_101);
      expect(nodes).to.have.length(1_000);
      const places = nodes.map(({ environmentName, name }) => `${environmentName.toLowerCase()}/${name}`);
      expect(nodes[0]?.environmentName).to.equal('many 1');
      expect(new Set(places)).to.have.length(1_000);
    });

    it('show 200 environments at most, and how many there are', async () => {
      await test.db.raw(
        `INSERT INTO environments (id, team_id, name) SELECT 'f-' || n, ?, 'zz ' || n FROM generate_series(1, 200) n`,
        [teams.ours.teamId],
      );
      const { total, environments } = await overview();
      expect(total).to.equal(231);
      expect(environments).to.have.length(200);
      expect(environments.map(({ environmentName }) => environmentName)).to.include('ours');
      expect(environments.every(({ teamId }) => teamId === teams.ours.teamId)).to.equal(true);
    });
  });
});

const GROUP = `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: edge }
spec: { criteria: { role: edge } }
`;
