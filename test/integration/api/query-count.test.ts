/** However much there is of everything, a procedure asks the database equally often: no statement runs a row. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { Operation } from '../../../controller/platform/operation/operation.ts';
import type { Role } from '../../../schemas/api/common.ts';
import { insertAnomaly } from '../../support/fixtures/anomalies.ts';
import { SMALL_FLUENTD } from '../../support/fixtures/migrations.ts';
import { NO_FIGURES } from '../../support/fixtures/recommendations.ts';
import { ROOT, useController } from '../../support/harness/controller.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { until } from '../../support/harness/until.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';
import { type Side, useTwoTeams } from '../../support/scenes/two-teams.ts';

const environment = ({ environmentId }: Side) => ({ environmentId });
const team = ({ teamId }: Side) => ({ teamId });
const pipeline = ({ pipelineId }: Side) => ({ pipelineId });
const day = ({ environmentId }: Side) => ({ environmentId, range: '1d' });

/** Input of each query; those of a single thing that has no list in it are named below. */
const INPUTS: Record<string, (side: Side) => object> = {
  'admin.listGroups': () => ({}),
  'admin.listTeams': () => ({}),
  'admin.listUsers': () => ({}),
  'ai.getConversation': pipeline,
  'ai.getDebugConversation': pipeline,
  'ai.getProvider': team,
  'ai.getVrlConversation': ({ pipelineId }) => ({ pipelineId, componentKey: 'lines' }),
  'ai.previewContext': ({ pipelineId }) => ({ pipelineId, conversation: 'debug' }),
  'ai.usage': team,
  'alert.listEvents': environment,
  'alert.listRules': environment,
  'alert.listSilences': environment,
  'alert.openEvents': () => ({}),
  'alert.previewRule': ({ environmentId }) => ({
    ...{ environmentId, metric: 'cpu_usage', condition: 'gt', threshold: 90 },
  }),
  'alert.listWebhooks': environment,
  'alert.listDeliveries': () => ({ webhookId: 'webhook' }),
  'audit.actions': () => ({}),
  'audit.entityTypes': () => ({}),
  'audit.list': environment,
  'audit.users': () => ({}),
  'certificate.list': environment,
  'dashboard.nodeCards': () => ({}),
  'analytics.costByEnvironment': day,
  'analytics.costByPipeline': day,
  'analytics.costBySink': day,
  'analytics.costByTeam': day,
  'analytics.costCsv': day,
  'analytics.costSummary': day,
  'analytics.costTimeSeries': day,
  'analytics.topPipelines': day,
  'anomaly.countByPipeline': environment,
  'anomaly.list': environment,
  'anomaly.maxSeverityByPipeline': environment,
  'costRecommendation.getById': ({ environmentId }) => ({ environmentId, id: 'recommendation' }),
  'costRecommendation.list': environment,
  'costRecommendation.summary': environment,
  'dashboard.chartMetrics': environment,
  'dashboard.operationalOverview': () => ({}),
  'dashboard.pipelineCards': environment,
  'dashboard.recentAudit': () => ({}),
  'dashboard.recentPipelines': () => ({}),
  'dashboard.stats': environment,
  'deploy.environmentInfo': pipeline,
  'deploy.preview': pipeline,
  'environment.get': ({ environmentId }) => ({ id: environmentId }),
  'environment.list': team,
  'filterPreset.list': ({ environmentId }) => ({ environmentId, scope: 'pipeline_list' }),
  'fleet.get': ({ node }) => ({ id: node.nodeId }),
  'fleet.list': environment,
  'fleet.listWithPipelineStatus': environment,
  'fleet.matrix': environment,
  'fleet.nodeLogs': ({ node }) => ({ nodeId: node.nodeId }),
  'fleet.nodeMetrics': ({ node }) => ({ nodeId: node.nodeId }),
  'gitSync.drift': environment,
  'gitSync.holds': environment,
  'gitSync.importErrors': environment,
  'gitSync.jobs': environment,
  'gitSync.export': environment,
  'gitSync.plan': environment,
  'pullRequest.list': environment,
  'pullRequest.get': ({ environmentId }) => ({ environmentId, number: 1 }),
  'gitSync.status': environment,
  'metrics.getComponentLatencyHistory': pipeline,
  'metrics.getComponentMetrics': pipeline,
  'metrics.getLiveRates': environment,
  'metrics.getNodePipelineRates': ({ node }) => ({ nodeId: node.nodeId }),
  'metrics.getPipelineMetrics': pipeline,
  'metrics.getRecentRates': environment,
  'migration.list': team,
  'nodeGroup.groupHealthStats': environment,
  'nodeGroup.list': environment,
  'nodeGroup.nodesInGroup': ({ environmentId }) => ({ environmentId, groupId: '__ungrouped__' }),
  'pipeline.deploymentStatus': pipeline,
  'pipeline.eventSchemas': pipeline,
  'pipeline.get': ({ pipelineId }) => ({ id: pipelineId }),
  'pipeline.list': environment,
  'pipeline.logs': pipeline,
  'pipeline.metrics': pipeline,
  'pipeline.versions': pipeline,
  'promotion.history': pipeline,
  'promotion.list': environment,
  'stagedRollout.getActive': pipeline,
  'stagedRollout.list': pipeline,
  'pipelineDependency.deployWarnings': pipeline,
  'pipelineDependency.graph': environment,
  'pipelineDependency.list': pipeline,
  'pipelineDependency.listCandidates': ({ pipelineId, environmentId }) => ({ pipelineId, environmentId }),
  'pipelineDependency.undeployWarnings': pipeline,
  'pipelineGroup.list': environment,
  'secret.list': environment,
  'serviceAccount.list': environment,
  'sharedComponent.list': environment,
  'settings.get': () => ({}),
  'settings.listBackups': () => ({}),
  'settings.backupRuns': () => ({}),
  'settings.scimRefusals': () => ({}),
  'stream.list': () => ({}),
  'team.get': ({ teamId }) => ({ id: teamId }),
  'team.list': () => ({}),
  'team.myRole': () => ({}),
  'team.teamRole': team,
  'template.list': team,
  'user.listSessions': () => ({}),
  'user.listTokens': () => ({}),
  'user.me': () => ({}),
  'userPreference.get': () => ({}),
  'vrlSnippet.list': team,
  'webhookEndpoint.list': team,
  'webhookEndpoint.listDeliveries': ({ teamId }) => ({ webhookEndpointId: 'endpoint', teamId }),
};
const OF_ONE_THING = [
  'alert.getEvent',
  'engine.catalogue',
  'engine.componentSchema',
  'migration.get',
  'settings.previewBackup',
  'migration.runSamples',
  'pipeline.compareVersions',
  'pipeline.getVersion',
  'pipeline.readYaml',
  'pipeline.renderGraph',
  'pipeline.sampleResult',
  'promotion.diffPreview',
  'promotion.get',
  'promotion.content',
  'promotion.preflight',
  'pullRequest.diff',
  'pullRequest.plan',
  'settings.checkVersion',
  'sharedComponent.getById',
  'template.get',
  'validator.validate',
  'vrl.test',
  'webhookEndpoint.preview',
];
const COPIES = 40;

/** Copies every row of `ours` in a table: new ids, new names, all else as it is. */
async function multiply(
  db: TestDb,
  table: string,
  columns: Record<string, string>,
  where = 'true',
): Promise<void> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = ? AND is_generated = 'NEVER' AND is_identity = 'NO'`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const values = names.map((name) => columns[name] ?? `o.${name}`);
  await db.raw(
    `INSERT INTO ${table} (${names.join()}) SELECT ${values.join()} FROM ${table} o, generate_series(1, ${COPIES}) n
     WHERE ${where}`,
  );
}

describe('the database is asked', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let actor: Context['actor'];
  /** Of the call that is under way: the controller has other work of its own. */
  const asking = new AsyncLocalStorage<string[]>();

  before(async function () {
    this.timeout(60_000);
    const { db } = test.controller.systemContext('test');
    db.on('query', ({ sql }: { sql: string }) => asking.getStore()?.push(sql));
    const { id: userId } = await test.db('users').where({ email: ROOT.email }).first('id');
    const roles = new Map<string, Role>();
    actor = {
      type: 'user',
      userId,
      email: ROOT.email,
      name: 'root',
      isSuperAdmin: true,
      roles,
      sessionId: 's',
      requiredAction: null,
    };
    const { environmentId, teamId } = teams.ours;
    const graph = { nodes: [], edges: [] };
    for (const [name, input] of [
      [
        'alert.createRule',
        { environmentId, teamId, name: 'rule', metric: 'cpu_usage', condition: 'gt', threshold: 90 },
      ],
      ['serviceAccount.create', { environmentId, name: 'ci', permissions: ['pipelines.read'] }],
      [
        'sharedComponent.create',
        { environmentId, name: 'one', componentType: 'file', kind: 'SOURCE', config: {} },
      ],
      ['pipelineGroup.create', { environmentId, name: 'group' }],
      ['filterPreset.create', { environmentId, name: 'preset', scope: 'pipeline_list', filters: {} }],
      ['template.create', { teamId, name: 'template', description: '', category: 'any', ...graph }],
      ['migration.create', { teamId, name: 'migration', platform: 'FLUENTD', originalConfig: SMALL_FLUENTD }],
      ['vrlSnippet.create', { teamId, name: 'snippet', category: 'any', code: '.' }],
      ['user.createToken', { name: 'token' }],
      ['userPreference.set', { key: 'theme', value: 'dark' }],
    ] as const)
      await teams.root.mutate(name, input);
    await test.db('directory_groups').insert({ id: 'group', source: 'scim', display_name: 'group' });
    await test
      .db('user_identities')
      .insert({ issuer: 'https://id.example.org', subject: 's', user_id: userId });
    await test.db('promotions').insert({
      ...{
        id: 'promotion',
        pipeline_id: teams.ours.pipelineId,
        pipeline_name: 'orders',
        target_name: 'orders',
      },
      ...{ source_environment_id: environmentId, target_environment_id: teams.theirs.environmentId },
      ...{ status: 'REJECTED', snapshot: '{}', requested_by: 'the tests' },
    });
    const sha = 'a'.repeat(40);
    await test.db('pull_requests').insert({
      ...{ id: 'pull', repository: 'embedded', number: 1, title: 'Topic', body: '', base: 'main' },
      ...{ branch: 'topic', head_sha: sha, state: 'merged', subject: '{}', author: 'Ada' },
    });
    const pull = { pull_request_id: 'pull' };
    await test.db('pull_request_comments').insert({ ...pull, id: 'comment', author: 'Ada', body: 'Well' });
    await test.db('pull_request_reviews').insert({
      ...{ ...pull, id: 'review', reviewer: 'Grace', verdict: 'approve', head_sha: sha },
    });
    await test.db('pull_request_checks').insert({
      ...{ ...pull, environment_id: environmentId, head_sha: sha, base_sha: sha },
      ...{ state: 'success', summary: 'nothing to do' },
    });
    const sealed = { sealed_url: 'opens with no key' };
    await test.db('webhook_endpoints').insert([
      { id: 'endpoint', team_id: teamId, name: 'endpoint', ...sealed },
      { id: 'webhook', environment_id: environmentId, ...sealed },
    ]);
    const delivery = { lane: 'rule', kind: 'firing', state: 'delivered', total: 1 } as const;
    const created_at = new Date();
    await test.db('notification_deliveries').insert([
      { ...delivery, id: 'to-endpoint', endpoint_id: 'endpoint', created_at },
      { ...delivery, id: 'to-webhook', endpoint_id: 'webhook', created_at },
    ]);
    await insertAnomaly(test.db, teams.ours);
    await test.db('cost_recommendations').insert({
      ...{ id: 'recommendation', environment_id: environmentId, pipeline_id: teams.ours.pipelineId },
      ...{ type: 'STALE_PIPELINE', figures: JSON.stringify(NO_FIGURES), change: '{"action":"undeploy"}' },
    });
    const [asker] = await test.db('users').where({ email: ROOT.email }).select('id');
    const used = { created_at: new Date(), used_at: new Date() };
    await test.db('ai_conversations').insert(
      (['pipeline', 'debug', 'vrl'] as const).map((kind) => ({
        ...{ id: kind, kind, pipeline_id: teams.ours.pipelineId, user_id: asker?.id ?? '', ...used },
        component_key: kind === 'vrl' ? 'lines' : '',
      })),
    );
    await test.db('ai_messages').insert(
      ['pipeline', 'debug', 'vrl'].map((id) => ({
        ...{
          id,
          conversation_id: id,
          author: 'user',
          state: 'done',
          content: 'why?',
          created_at: new Date(),
        },
      })),
    );
    await test.db('ai_requests').insert({
      ...{ id: 'request', team_id: teamId, purpose: 'pipeline', started_at: new Date(), reserved_tokens: 1 },
    });
    await test.db('event_streams').insert({
      ...{
        id: 'stream',
        name: 'stream',
        source: 'audit',
        kind: 'otlp',
        url: 'https://example.org',
        cursor: 0,
      },
      enabled: false,
    });
    await test.db('rollouts').insert({
      ...{ id: 'rollout', pipeline_id: teams.ours.pipelineId, environment_id: environmentId },
      ...{ canary_version_id: teams.ours.versionId, canary_selector: '{"ring":"0"}', window_minutes: 10 },
      ...{ status: 'CANARY_DEPLOYED', source: 'ui', created_by: 'the tests' },
    });
  });

  /** What one call asks, after others have filled what is kept in memory; joins are shared for a moment only. */
  async function asked(name: string): Promise<string[]> {
    const operation = OPERATIONS.get(name) as Operation;
    const input = INPUTS[name]?.(teams.ours);
    const ctx: Context = { ...test.controller.systemContext('test'), actor };
    let statements: string[] = [];
    for (let call = 0; call < 3; call += 1) {
      statements = [];
      ctx.services.statuses.drop();
      await asking.run(statements, () => test.controller.execute(operation, ctx, input));
    }
    return statements;
  }

  it('by queries that all stand in this table', () => {
    const queries = [...OPERATIONS.values()].filter(({ kind }) => kind === 'query').map(({ name }) => name);
    expect(
      queries.filter((name) => !INPUTS[name] && !OF_ONE_THING.includes(name) && PROCEDURE_KINDS.has(name)),
    ).to.deep.equal([]);
  });

  it('equally often with forty times as much of everything', async function () {
    this.timeout(60_000);
    const before = new Map<string, string[]>();
    for (const name of Object.keys(INPUTS)) before.set(name, await asked(name));
    expect([...before.values()].flat().length, 'statements that were seen').to.be.above(100);
    await fill();
    for (const name of Object.keys(INPUTS)) {
      const [few, many] = [before.get(name) ?? [], await asked(name)];
      expect(many.length, `${name} asked\n${many.join('\n')}\nand before\n${few.join('\n')}\n`).to.be.at.most(
        few.length,
      );
    }
  });

  async function fill(): Promise<void> {
    const { db } = test;
    const fresh = { id: "o.id || '-' || n", name: "o.name || ' ' || n" };
    await multiply(db, 'environments', fresh);
    await multiply(db, 'teams', fresh);
    await multiply(db, 'users', { ...fresh, email: "n || '-' || o.email" });
    await multiply(db, 'directory_groups', { id: fresh.id, display_name: "o.display_name || ' ' || n" });
    await multiply(db, 'user_identities', { id: fresh.id, subject: "o.subject || '-' || n" });
    await multiply(db, 'team_members', { user_id: "o.user_id || '-' || n" });
    await multiply(db, 'pull_requests', { id: fresh.id, number: 'o.number + n' });
    await multiply(db, 'pull_request_comments', { id: fresh.id });
    await multiply(db, 'pull_request_reviews', { id: fresh.id });
    await multiply(db, 'pull_request_checks', { pull_request_id: "o.pull_request_id || '-' || n" });
    await multiply(db, 'promotions', { id: fresh.id });
    await multiply(db, 'anomalies', { id: fresh.id });
    await multiply(db, 'config_migrations', fresh);
    await multiply(db, 'cost_recommendations', {
      ...{ id: fresh.id, status: "'DISMISSED'", resolved_at: 'now()' },
    });
    await multiply(db, 'ai_messages', { id: fresh.id });
    await multiply(db, 'ai_requests', { id: fresh.id });
    await multiply(db, 'event_streams', fresh);
    await multiply(db, 'rollouts', { id: fresh.id, status: "'ROLLED_BACK'" });
    await multiply(
      db,
      'pipelines',
      { ...fresh, uid: 'NULL', latest_version_id: 'NULL', managed_by: "'ui'" },
      'o.tombstoned_at IS NULL',
    );
    await multiply(db, 'pipeline_versions', { id: "o.id || '-' || n", version: 'o.version + n' });
    await multiply(db, 'nodes', { ...fresh, token_id: 'NULL' });
    await multiply(db, 'sessions', { id: fresh.id });
    await multiply(db, 'node_reports', { node_id: "o.node_id || '-' || n" });
    await multiply(db, 'node_presence', { node_id: "o.node_id || '-' || n" });
    await multiply(db, 'node_pipelines', { node_id: "o.node_id || '-' || n" });
    await multiply(db, 'secrets', { ...fresh, variable: "o.variable || '_' || n" });
    for (const table of [
      'alert_rules',
      'service_accounts',
      'shared_components',
      'pipeline_groups',
      'templates',
      'vrl_snippets',
    ])
      await multiply(db, table, fresh);
    await multiply(db, 'webhook_endpoints', fresh);
    await multiply(db, 'notification_deliveries', { id: fresh.id });
    await multiply(db, 'filter_presets', { ...fresh, is_default: 'false' });
    await multiply(db, 'personal_tokens', fresh);
    await multiply(db, 'user_preferences', { key: 'o.key || n' });
    await multiply(db, 'audit_log', { id: "o.id || '-' || n", seq: 'NULL' });
    await multiply(db, 'git_jobs', { id: "o.id || '-' || n" });
    await db.raw(
      `INSERT INTO pipeline_dependencies (id, upstream_id, downstream_id)
       SELECT p.id || '-up', p.id, ? FROM pipelines p WHERE p.id LIKE ? AND p.environment_id = ?`,
      [teams.ours.pipelineId, `${teams.ours.pipelineId}-%`, teams.ours.environmentId],
    );
    await until(
      async () =>
        (await teams.root.query<unknown[]>('fleet.list', { environmentId: teams.ours.environmentId }))
          .length > COPIES,
      { what: 'the nodes to be listed' },
    );
  }
});
