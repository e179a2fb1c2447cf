/** What the leader deletes by age: history, plans, tokens, tombstones, notes. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import { SWEEPS } from '../../../controller/compose/retention.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import { insertAnomaly } from '../../support/fixtures/anomalies.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { type TestPlatform, usePlatform } from '../../support/harness/platform.ts';

const SYSTEM: Actor = { type: 'system', name: 'test' };
const DAY_MS = 86_400_000;

describe('what is deleted by age', () => {
  const platform = usePlatform();
  let db: TestPlatform['db'];

  before(async () => {
    ({ db } = platform);
    await db('teams').insert({ id: 'team', name: 'Team' });
    await db('environments').insert([
      { id: 'env', team_id: 'team', name: 'env' },
      { id: 'prod', team_id: 'team', name: 'prod' },
    ]);
    await db('users').insert({ id: 'user', email: 'user@example.org', name: 'User' });
    await db('pipelines').insert([
      { id: 'p', environment_id: 'env', name: 'p' },
      { id: 'q', environment_id: 'prod', name: 'q' },
    ]);
    await db('git_bindings').insert({ id: 'b', environment_id: 'env', mode: 'sync' });
  });

  const ago = (days: number) => new Date(Date.now() - days * DAY_MS);
  async function run(name: string): Promise<number> {
    const sweep = SWEEPS.find((one) => one.name === name);
    if (!sweep) throw new Error(`no sweep is called ${name}`);
    return sweep.run(platform.context(SYSTEM));
  }
  /** What the sweep handles where `change` is committed while it waits. */
  async function meanwhile(name: string, change: (tx: Knex) => Promise<unknown>): Promise<number> {
    const { sweeping } = await db.transaction(async (tx) => {
      await change(tx);
      const sweeping = run(name);
      await untilWaiting(db);
      return { sweeping };
    });
    return sweeping;
  }
  const idsOf = (table: string): Promise<string[]> => db(table).orderBy('id').pluck('id');

  it('are runs of backups of more than 13 months ago, but for scheduled ones that made one', async () => {
    const row = (id: string, days: number, more: object = {}) => ({
      ...{ id, kind: 'create', status: 'COMPLETED', triggered_by: 'manual', filename: id },
      ...{ requested_by: 'somebody', started_at: ago(days), ...more },
    });
    await db('backup_runs').insert([
      row('old', 400),
      row('younger', 390),
      row('old and scheduled', 400, { triggered_by: 'scheduled' }),
      row('old and failed', 400, { triggered_by: 'scheduled', status: 'FAILED' }),
    ]);
    expect(await run('runs of backups')).to.equal(2);
    expect(await idsOf('backup_runs')).to.deep.equal(['old and scheduled', 'younger']);
  });

  it('are notifications that were finished 30 days ago, with what they were about', async () => {
    await db('webhook_endpoints').insert({ id: 'w', team_id: 'team', name: 'w', sealed_url: 'x' });
    const delivery = (id: string, days: number, state: 'delivered' | 'failed' | 'waiting') => ({
      ...{ id, endpoint_id: 'w', lane: 'r', kind: 'firing' as const, state, total: 1, created_at: ago(60) },
      finished_at: state === 'waiting' ? null : ago(days),
    });
    await db('notification_deliveries').insert([
      delivery('old', 31, 'delivered'),
      delivery('given up', 31, 'failed'),
      delivery('younger', 29, 'delivered'),
      delivery('to be sent', 0, 'waiting'),
    ]);
    await db('notification_delivery_events').insert(
      ['old', 'younger'].map((id) => ({
        ...{ delivery_id: id, event_id: 'e', position: 0, status: 'firing' as const, notice: '{}' },
      })),
    );
    expect(await run('notifications')).to.equal(2);
    expect(await idsOf('notification_deliveries')).to.deep.equal(['to be sent', 'younger']);
    expect(await db('notification_delivery_events').pluck('delivery_id')).to.deep.equal(['younger']);
  });

  it('are rollouts of 13 months ago, but for the newest 20 of a pipeline and those that go on', async () => {
    await db.raw(
      `INSERT INTO pipeline_versions (id, pipeline_id, version, config_yaml, log_level, graph_nodes, graph_edges, global_config, source)
       VALUES ('v', 'p', 1, '', 'info', '[]', '[]', '{}', 'ui')`,
    );
    const rollout = (id: string, days: number, status = 'BROADENED') => ({
      ...{ id, pipeline_id: 'p', environment_id: 'env', canary_version_id: 'v', canary_selector: '{}' },
      ...{ window_minutes: 5, status, source: 'ui', created_by: 'a', created_at: ago(days) },
      ended_at: status === 'BROADENED' ? ago(days) : null,
    });
    await db('rollouts').insert([
      rollout('active', 500, 'HEALTH_CHECK'),
      rollout('old-1', 450),
      rollout('old-2', 440),
      ...Array.from({ length: 19 }, (_, n) => rollout(`shown-${n}`, 430)),
      rollout('young', 10),
    ]);
    expect(await run('old rollouts')).to.equal(2);
    const left = await idsOf('rollouts');
    expect(left).to.include.members(['active', 'young', 'shown-0', 'shown-18']).and.to.have.length(21);
  });

  it('are questions to the assistant of 90 days ago, and conversations that rested for 30 days', async () => {
    const request = (id: string, days: number) => ({
      ...{ id, team_id: 'team', purpose: 'pipeline', started_at: ago(days), reserved_tokens: 1 },
    });
    await db('ai_requests').insert([request('old', 91), request('younger', 89)]);
    expect(await run('usage of the assistant')).to.equal(1);
    expect(await idsOf('ai_requests')).to.deep.equal(['younger']);
    const conversation = (id: string, kind: string, days: number) => ({
      ...{ id, kind, pipeline_id: 'p', user_id: 'user', created_at: ago(200), used_at: ago(days) },
    });
    await db('ai_conversations').insert([conversation('old', 'debug', 31), conversation('used', 'vrl', 29)]);
    await db('ai_messages').insert({
      ...{ id: 'm', conversation_id: 'old', author: 'user', state: 'done', content: 'why?' },
      created_at: ago(31),
    });
    expect(await run('conversations with the assistant')).to.equal(1);
    expect(await idsOf('ai_conversations')).to.deep.equal(['used']);
    expect(await idsOf('ai_messages')).to.deep.equal([]);
  });

  it('are recommendations that were dismissed or applied 13 months ago', async () => {
    const recommendation = (id: string, type: string, status: string, days: number) => ({
      ...{ id, environment_id: 'env', pipeline_id: 'p', type, status, figures: '{}', created_at: ago(500) },
      resolved_at: status === 'PENDING' ? null : ago(days),
    });
    await db('cost_recommendations').insert([
      recommendation('old', 'LOW_REDUCTION', 'DISMISSED', 396),
      recommendation('younger', 'LOW_REDUCTION', 'APPLIED', 394),
      recommendation('pending', 'LOW_REDUCTION', 'PENDING', 0),
    ]);
    expect(await run('resolved recommendations')).to.equal(1);
    expect(await idsOf('cost_recommendations')).to.deep.equal(['pending', 'younger']);
  });

  it('are promotions of 13 months ago, but for the newest 20, those that wait, and what the next one is merged with', async () => {
    const promotion = (id: string, days: number, more: object = {}) => ({
      ...{ id, pipeline_id: 'p', source_environment_id: 'env', target_environment_id: 'prod' },
      ...{ target_pipeline_id: 'q', pipeline_name: 'p', target_name: 'q', status: 'DEPLOYED' },
      ...{ snapshot: '{"form":"manifest"}', requested_by: 'a', created_at: ago(days), updated_at: ago(days) },
      ...{ deployed_at: ago(days), ...more },
    });
    await db('promotions').insert([
      promotion('waits', 500, { status: 'PENDING', target_name: 'z' }),
      promotion('earlier', 460),
      promotion('base', 450),
      promotion('other-target', 450, { target_name: 'elsewhere' }),
      promotion('rejected', 440, { status: 'REJECTED' }),
      ...Array.from({ length: 20 }, (_, n) => promotion(`shown-${n}`, 430, { status: 'CANCELLED' })),
      promotion('of-nothing', 430, { pipeline_id: null }),
      promotion('of-nothing-young', 300, { pipeline_id: null }),
    ]);
    expect(await run('old promotions')).to.equal(3);
    const left = await idsOf('promotions');
    expect(left).to.include.members(['waits', 'base', 'other-target', 'of-nothing-young']);
    expect(left.filter((id) => id.startsWith('shown'))).to.have.length(20);
    expect(left).to.have.length(24);
  });

  it('are plans of pull requests that were closed 90 days ago, and the whole pull request of a forge after 13 months', async () => {
    const pull = (id: string, number: number, more: object) => ({
      ...{ id, number, repository: 'embedded', title: id, base: 'main', branch: id, head_sha: 'h' },
      ...{ author: 'a', state: 'merged', ...more },
    });
    await db('pull_requests').insert([
      pull('closed-91', 1, { closed_at: ago(91) }),
      pull('closed-89', 2, { closed_at: ago(89) }),
      pull('open', 3, { state: 'open', updated_at: ago(500) }),
      pull('kept-here', 4, { closed_at: ago(500) }),
      pull('of-forge', 5, { closed_at: ago(500), forge: 'github' }),
      pull('of-promotion', 6, { closed_at: ago(500), forge: 'github' }),
    ]);
    await db('promotions').where({ id: 'base' }).update({ pull_request_id: 'of-promotion' });
    await db('pull_request_checks').insert(
      (await idsOf('pull_requests')).map((id) => ({
        ...{ pull_request_id: id, environment_id: 'env', head_sha: 'h', base_sha: 'b' },
        ...{ state: 'success', summary: '1 change', plan: '{}' },
      })),
    );
    expect(await run('pull requests of forges')).to.equal(1);
    expect(await idsOf('pull_requests')).to.not.include('of-forge');
    expect(await run('plans of closed pull requests')).to.equal(3);
    const checks = await db('pull_request_checks')
      .orderBy('pull_request_id')
      .select('pull_request_id', 'plan', 'reason', 'summary');
    expect(checks.filter(({ plan }) => plan !== null).map((check) => check.pull_request_id)).to.deep.equal([
      'closed-89',
      'open',
    ]);
    expect(checks.find((check) => check.pull_request_id === 'closed-91')).to.include({
      summary: '1 change',
      reason: 'The plan was removed: plans are kept for 90 days after the pull request was closed.',
    });
    expect(await run('plans of closed pull requests')).to.equal(0);
  });

  it('are not pull requests that are reopened while somebody else has them', async () => {
    await db('pull_requests').insert({
      ...{ id: 'back', number: 7, repository: 'embedded', title: 'back', base: 'main', branch: 'back' },
      ...{ head_sha: 'h', author: 'a', state: 'closed', closed_at: ago(500), forge: 'github' },
    });
    const swept = await meanwhile('pull requests of forges', (tx) =>
      tx('pull_requests').where({ id: 'back' }).update({ state: 'open', closed_at: null }),
    );
    expect(swept).to.equal(0);
    expect(await idsOf('pull_requests')).to.include('back');
  });

  it('are personal tokens a month after they expired', async () => {
    const token = (id: string, expires_at: Date | null) => ({
      ...{ id, user_id: 'user', name: id, token_hash: Buffer.from(id), expires_at },
    });
    await db('personal_tokens').insert([
      token('31', ago(31)),
      token('29', ago(29)),
      token('never', null),
      token('works', ago(-1)),
    ]);
    expect(await run('expired personal tokens')).to.equal(1);
    expect(await idsOf('personal_tokens')).to.deep.equal(['29', 'never', 'works']);
  });

  it('are enrollment tokens that ended 13 months ago: until then a revoked one says that it was', async () => {
    const token = (id: string, more: object) => ({
      ...{ id, environment_id: 'env', token_hash: Buffer.from(id), ...more },
    });
    await db('enrollment_tokens').insert([
      token('revoked-396', { revoked_at: ago(396) }),
      token('revoked-300', { revoked_at: ago(300) }),
      token('expired-396', { expires_at: ago(396) }),
      token('live', {}),
    ]);
    expect(await run('old enrollment tokens')).to.equal(2);
    expect(await idsOf('enrollment_tokens')).to.deep.equal(['live', 'revoked-300']);
  });

  it('are holds that were released 13 months ago', async () => {
    const hold = (id: string, released_at: Date | null) => ({
      ...{ id, binding_id: 'b', kind: 'Pipeline', name_key: id, spec_hash: 'h', reason: 'r', released_at },
    });
    await db('git_holds').insert([hold('396', ago(396)), hold('300', ago(300)), hold('stands', null)]);
    expect(await run('released holds')).to.equal(1);
    expect(await idsOf('git_holds')).to.deep.equal(['300', 'stands']);
  });

  it('are tombstones whose purge job was lost, an hour after it should have run', async () => {
    const ended = (id: string, hours: number | null) => ({
      ...{ id, environment_id: 'env', name: id },
      tombstoned_at: hours === null ? null : new Date(Date.now() - hours * 3_600_000),
    });
    await db('pipelines').insert([ended('t26', 26), ended('t24', 24), ended('living', null)]);
    await db('node_groups').insert([ended('g26', 26)]);
    await db('alert_rules').insert({
      ...{ ...ended('r26', 26), metric: 'm', condition: 'gt', threshold: 1 },
    });
    expect(await run('tombstones')).to.equal(3);
    expect(await idsOf('pipelines')).to.deep.equal(['living', 'p', 'q', 't24']);
    expect(await idsOf('node_groups')).to.deep.equal([]);
  });

  it('are not tombstones that are brought back in the meantime', async () => {
    await db('pipelines').insert({
      ...{ id: 'back', environment_id: 'env', name: 'back' },
      tombstoned_at: new Date(Date.now() - 26 * 3_600_000),
    });
    const swept = await meanwhile('tombstones', (tx) =>
      tx('pipelines').where({ id: 'back' }).update({ tombstoned_at: null }),
    );
    expect(swept).to.equal(0);
    expect(await idsOf('pipelines')).to.include('back');
  });

  it('are notes that no pass takes, but for one of each environment', async () => {
    await db('object_changes').delete();
    const note = (environment_id: string, days: number) => ({ environment_id, at: ago(days) });
    await db('object_changes').insert([
      ...Array.from({ length: 50 }, () => note('env', 2)),
      note('prod', 3),
      note('prod', 0),
    ]);
    expect(await run('notes of changed objects')).to.equal(50);
    expect(await db('object_changes').orderBy('environment_id').pluck('environment_id')).to.deep.equal([
      'env',
      'prod',
    ]);
  });

  it('are notes in the time that so many take, and not in that of each beside each', async function () {
    this.timeout(10_000);
    await db('object_changes').delete();
    await db.raw(
      `INSERT INTO object_changes (environment_id, at)
       SELECT 'env', now() - interval '2 days' - n * interval '1 millisecond' FROM generate_series(1, 30000) n`,
    );
    expect(await run('notes of changed objects')).to.equal(29_999);
    expect(await run('notes of changed objects')).to.equal(0);
  });

  it('are anomalies that began 13 months ago', async () => {
    const of = { environmentId: 'env', pipelineId: 'p' };
    await insertAnomaly(db, of, { started_at: ago(396), status: 'acknowledged' });
    const young = await insertAnomaly(db, of, { started_at: ago(394) });
    expect(await run('anomalies')).to.equal(1);
    expect(await idsOf('anomalies')).to.deep.equal([young]);
  });

  it('are jobs that failed for the last time 90 days ago', async () => {
    const { jobs } = platform.context(SYSTEM).services;
    for (const key of ['old', 'young', 'waits']) await jobs.add(db, 'nobody-does-this', {}, { key });
    await db.raw(
      "UPDATE graphile_worker._private_jobs SET attempts = max_attempts, updated_at = now() - interval '91 days' WHERE key = 'old'",
    );
    await db.raw("UPDATE graphile_worker._private_jobs SET attempts = max_attempts WHERE key = 'young'");
    expect(await run('failed jobs')).to.equal(1);
    const { rows } = await db.raw('SELECT key FROM graphile_worker._private_jobs ORDER BY key');
    expect(rows).to.deep.equal([{ key: 'waits' }, { key: 'young' }]);
  });

  it('have schedules of their own, none at the moment of another', () => {
    expect(new Set(SWEEPS.map(({ cron }) => cron)).size).to.equal(SWEEPS.length);
    expect(new Set(SWEEPS.map(({ name }) => name)).size).to.equal(SWEEPS.length);
  });
});
