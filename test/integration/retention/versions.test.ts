/** Versions of pipelines that are deleted by age and number, and those that never are. */
import { expect } from 'chai';
import { pruneVersions } from '../../../controller/pipelines/index.ts';
import type { Actor, Context } from '../../../controller/platform/operation/context.ts';
import { createLease } from '../../../controller/platform/runtime/lease.ts';
import { writeSetting } from '../../../controller/platform/runtime/settings-store.ts';
import { QUIET, type TestPlatform, useEachPlatform } from '../../support/harness/platform.ts';

const SYSTEM: Actor = { type: 'system', name: 'test' };
const KEEP = 10;

describe('the retention of pipeline versions', () => {
  const platform = useEachPlatform();

  beforeEach(async () => {
    const { db } = platform;
    await db('teams').insert({ id: 'team', name: 'Team' });
    await db('environments').insert([
      { id: 'env', team_id: 'team', name: 'env' },
      { id: 'prod', team_id: 'team', name: 'prod' },
    ]);
    await writeSetting(db, 'fleet', { pipelineVersionsRetained: KEEP });
    await pipeline('p', 30);
  });

  /** With versions 1 to `count`, named `<id>-<version>`; the newest is deployed. */
  async function pipeline(id: string, count: number, environment = 'env'): Promise<void> {
    const last = `${id}-${count}`;
    await platform.db('pipelines').insert({
      ...{ id, environment_id: environment, name: id, is_draft: false },
      ...{ latest_version_id: last, deployed_version_id: last },
    });
    await platform.db.raw(
      `INSERT INTO pipeline_versions (id, pipeline_id, version, config_yaml, log_level, graph_nodes, graph_edges, global_config,
         spec_hash, source)
       SELECT :id || '-' || n, :id, n, 'sources: {}', 'info', '[]', '[]', '{}', 'hash-' || n, 'ui'
       FROM generate_series(1, :count) n`,
      { id, count },
    );
  }
  const prune = (batch?: number, more: Partial<Context> = {}) =>
    pruneVersions({ ...platform.context(SYSTEM), ...more }, batch);
  const left = async (id = 'p'): Promise<number[]> =>
    platform.db('pipeline_versions').where({ pipeline_id: id }).orderBy('version').pluck('version');
  const newest = Array.from({ length: KEEP }, (_, index) => 21 + index);

  it('keeps the newest of each pipeline, as many as the setting says, and numbers go on', async () => {
    await pipeline('few', KEEP);
    expect(await prune(7)).to.equal(20);
    expect(await left()).to.deep.equal(newest);
    expect(await left('few')).to.have.length(KEEP);
    expect(await prune()).to.equal(0);
  });

  const KEPT: { reason: string; make(db: TestPlatform['db']): Promise<unknown>; keeps: number[] }[] = [
    {
      reason: 'is deployed though newer ones are not',
      make: (db) => db('pipelines').where({ id: 'p' }).update({ deployed_version_id: 'p-3' }),
      keeps: [3],
    },
    {
      reason: 'was deployed less than 90 days ago',
      make: async (db) => {
        for (const version of [4, 5, 30])
          await db('pipelines')
            .where({ id: 'p' })
            .update({ deployed_version_id: `p-${version}` });
        await db('pipeline_versions')
          .where({ id: 'p-4' })
          .update({ deployed_until: db.raw("now() - interval '91 days'") });
      },
      keeps: [5],
    },
    {
      reason: 'is reported by a node, though it should run another',
      make: async (db) => {
        await db('nodes').insert({ id: 'node', environment_id: 'env', name: 'node', host: 'node' });
        const at = new Date(0);
        await db('node_pipelines').insert({
          ...{ node_id: 'node', pipeline_id: 'p', version: 6, status: 'RUNNING' },
          ...{ status_since: at, reported_at: at },
        });
      },
      keeps: [6],
    },
    {
      reason: 'is what a rollout ships, or what it goes back to',
      make: (db) =>
        db('rollouts').insert({
          ...{ id: 'r', pipeline_id: 'p', environment_id: 'env', canary_selector: '{}', window_minutes: 5 },
          ...{ previous_version_id: 'p-7', canary_version_id: 'p-8', status: 'HEALTH_CHECK' },
          ...{ source: 'ui', created_by: 'a' },
        }),
      keeps: [7, 8],
    },
    {
      reason: 'was promoted from here, or came here by a promotion',
      make: (db) =>
        db('promotions').insert(
          [
            { pipeline_id: 'p', target_pipeline_id: null, source_version: 9, target_version: 1 },
            { pipeline_id: null, target_pipeline_id: 'p', source_version: 2, target_version: 10 },
          ].map((of, index) => ({
            ...of,
            ...{ id: `o${index}`, source_environment_id: 'env', target_environment_id: 'prod' },
            ...{
              pipeline_name: 'p',
              target_name: 'p',
              status: 'DEPLOYED',
              snapshot: '{}',
              requested_by: 'a',
            },
          })),
        ),
      keeps: [9, 10],
    },
    {
      reason: 'is what git applied last, or what somebody holds',
      make: async (db) => {
        await db('git_bindings').insert({ id: 'b', environment_id: 'env', mode: 'sync' });
        await db('git_manifests').insert({
          ...{ binding_id: 'b', kind: 'Pipeline', name_key: 'p', name: 'p', path: 'p.yaml', line: 1 },
          ...{ object_id: 'p', applied_hash: 'hash-11' },
        });
        const of = { binding_id: 'b', kind: 'Pipeline', name_key: 'p', reason: 'bad', created_by: 'a' };
        await db('git_holds').insert([
          { ...of, id: 'h1', spec_hash: 'hash-12' },
          { ...of, id: 'h2', spec_hash: 'hash-13', released_at: new Date() },
        ]);
      },
      keeps: [11, 12],
    },
  ];
  for (const { reason, make, keeps } of KEPT)
    it(`keeps one that ${reason}`, async () => {
      await make(platform.db);
      await prune();
      expect(await left()).to.deep.equal([...keeps, ...newest]);
    });

  it('of versions that say what git applied keeps the newest', async () => {
    await KEPT.at(-1)?.make(platform.db);
    await platform.db('pipeline_versions').where({ id: 'p-2' }).update({ spec_hash: 'hash-11' });
    await prune();
    expect(await left()).to.not.include(2);
  });

  it('deletes nothing once another controller leads', async () => {
    const lease = createLease({ db: platform.db, key: 'leader', log: QUIET });
    await lease.start();
    const epoch = lease.epoch() ?? 0;
    await lease.stop();
    await platform.db('leases').update({ epoch: epoch + 1, holder: 'another' });
    const fence: Context['fence'] = (tx) => lease.fence(tx, epoch);
    expect(await prune(5, { fence }).catch(({ code }) => code)).to.equal('UNAVAILABLE');
    expect(await left()).to.have.length(30);
  });
});
