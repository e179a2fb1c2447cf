/** The loop over rollouts, on a clock that a test moves: restarts in the middle, controllers that take over, silence. */
import { expect } from 'chai';
import {
  pipelineDeploying,
  pipelineEditing,
  pipelineGraphs,
  stagedRollouts,
} from '../../../controller/pipelines/index.ts';
import { unavailable } from '../../../controller/platform/operation/errors.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { createRolloutReconciler, type RolloutReconciler } from '../../../reconcilers/rollouts/index.ts';
import { soundGraph } from '../../support/fixtures/graphs.ts';
import type { TestDb } from '../../support/harness/test-db.ts';
import { until } from '../../support/harness/until.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { ReconcileScene } from '../../support/scenes/reconcile.ts';

const MINUTE = 60_000;

interface Leader {
  epoch: number | null;
}

describe('the loop over rollouts', () => {
  let scene: ReconcileScene;
  let environment: BoundEnvironment;
  let db: TestDb;
  let environmentId: string;
  let clock: ManualClock;
  let current: Leader;
  const loops: RolloutReconciler[] = [];
  let made = 0;

  before(async () => {
    // No controller runs here: passes are those that a test asks for.
    scene = await ReconcileScene.open();
    db = scene.db;
    environment = await scene.environment('off');
    environmentId = environment.id;
    await db('nodes').insert(
      ['0', '1'].map((ring) => ({
        ...{ id: `node-${ring}`, environment_id: environmentId, name: `node-${ring}`, host: `node-${ring}` },
        ui_labels: JSON.stringify({ ring }),
      })),
    );
  });
  after(async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await scene?.close();
  });
  beforeEach(() => {
    clock = manualClock(Date.now());
    current = { epoch: 1 };
  });
  afterEach(async () => {
    await Promise.all(loops.splice(0).map((loop) => loop.stop()));
  });

  /** A controller's loop that leads while `leader` is the one that does; both share the database. */
  function loopOf(leader: Leader): RolloutReconciler {
    const { log } = scene.context(environmentId);
    const loop = createRolloutReconciler({
      ...{ db, clock, log, services: scene.services, execute: scene.execute },
      lease: {
        epoch: () => leader.epoch,
        async fence(_tx, epoch) {
          if (current.epoch !== epoch) throw unavailable('this controller no longer holds the lease');
        },
        onChange: () => {},
      },
    });
    loops.push(loop);
    return loop;
  }

  /** What the node says of the pipeline, now. */
  async function reports(ring: string, pipelineId: string, of: Record<string, unknown>): Promise<void> {
    const at = new Date(clock.now());
    const node = { node_id: `node-${ring}` };
    await db('node_reports')
      .insert({ ...node, reported_at: at, agent_version: '1' })
      .onConflict('node_id')
      .merge({ reported_at: at });
    await db('node_presence')
      .insert({ ...node, heard_at: at })
      .onConflict('node_id')
      .merge();
    const row = { status: 'RUNNING', restarts: 0, ...of, reported_at: at };
    await db('node_pipelines')
      .insert({ ...node, pipeline_id: pipelineId, status_since: at, version: 1, ...row })
      .onConflict(['node_id', 'pipeline_id'])
      .merge(row);
  }
  const events = (count: number) => ({ events_in: count, events_out: count });

  async function begun(more = {}): Promise<{ pipelineId: string; rolloutId: string }> {
    const name = `rolled ${++made}`;
    const { id: pipelineId } = await environment.byHand(pipelineEditing.create, { environmentId, name });
    await environment.byHand(pipelineGraphs.saveGraph, { pipelineId, ...soundGraph() });
    await environment.byHand(pipelineDeploying.deployAgent, { pipelineId, changelog: 'first' });
    await reports('0', pipelineId, { version: 1 });
    await reports('1', pipelineId, { version: 1 });
    const { rolloutId } = await environment.byHand(stagedRollouts.create, {
      ...{ pipelineId, canarySelector: { ring: '0' }, healthCheckWindowMinutes: 10, changelog: 'a try' },
      ...more,
    });
    return { pipelineId, rolloutId };
  }
  const rowOf = (id: string) => db('rollouts').where({ id }).first();
  const statusOf = async (id: string): Promise<string> => (await rowOf(id)).status;

  it('goes on in the middle of the window where another process was, with the counters of that one', async () => {
    const { pipelineId, rolloutId } = await begun();
    await reports('0', pipelineId, { version: 2, ...events(100) });
    const first = loopOf(current);
    await first.reconcile(rolloutId);
    expect(await statusOf(rolloutId)).to.equal('HEALTH_CHECK');
    clock.advance(4 * MINUTE);
    await reports('0', pipelineId, { version: 2, ...events(900) });
    await reports('1', pipelineId, events(500));
    await first.reconcile(rolloutId);
    await first.stop();
    // The engine begins at zero while nobody looks.
    clock.advance(3 * MINUTE);
    await reports('0', pipelineId, { version: 2, ...events(50) });
    const second = loopOf(current);
    await second.reconcile(rolloutId);
    expect((await rowOf(rolloutId)).verdict.canary).to.include({ eventsIn: 850 });
    await reports('0', pipelineId, { version: 2, ...events(60) });
    await reports('1', pipelineId, events(600));
    clock.advance(2.9 * MINUTE);
    await second.reconcile(rolloutId);
    expect(await statusOf(rolloutId)).to.equal('HEALTH_CHECK');
    clock.advance(0.1 * MINUTE);
    // The canary has been silent by now, perhaps for what it was given.
    await second.reconcile(rolloutId);
    expect((await rowOf(rolloutId)).held_reason).to.contain('No canary node that answers runs version 2');
    await reports('0', pipelineId, { version: 2, ...events(70) });
    expect(await second.reconcile(rolloutId)).to.equal(false);
    expect(await statusOf(rolloutId)).to.equal('BROADENED');
  });

  it('ends nothing by reports from before an outage, and goes on once the nodes are heard', async () => {
    const good = { version: 2, ...events(900) };
    const rows = [
      { last: good, after: good, end: 'BROADENED' },
      { last: { ...good, status: 'CRASHED' }, after: good, end: 'BROADENED' },
      { last: good, after: { ...good, restarts: 3 }, end: 'ROLLED_BACK' },
    ];
    const listening = scene.services.listeningSince;
    for (const { last, after, end } of rows) {
      const { pipelineId, rolloutId } = await begun();
      await reports('0', pipelineId, { version: 2, ...events(100) });
      const first = loopOf(current);
      await first.reconcile(rolloutId);
      clock.advance(2 * MINUTE);
      await reports('1', pipelineId, events(500));
      await reports('0', pipelineId, { ...last, status_since: new Date(clock.now()) });
      await first.reconcile(rolloutId);
      await first.stop();
      clock.advance(10 * MINUTE);
      const startedAt = clock.now();
      scene.services.listeningSince = () => startedAt;
      try {
        const second = loopOf(current);
        expect(await second.reconcile(rolloutId)).to.equal(true);
        expect(await statusOf(rolloutId)).to.equal('HEALTH_CHECK');
        clock.advance(5_000);
        await reports('0', pipelineId, after);
        await reports('1', pipelineId, events(600));
        await second.reconcile(rolloutId);
        expect(await statusOf(rolloutId)).to.equal(end);
      } finally {
        scene.services.listeningSince = listening;
      }
    }
  });

  it('looks by itself every five seconds, and no more once it has ended', async () => {
    const { pipelineId, rolloutId } = await begun();
    const loop = loopOf(current);
    await loop.reconcile(rolloutId);
    await reports('0', pipelineId, { version: 2 });
    const advance = async (ms: number, status: string) => {
      // The pass that has just written may not have ended yet.
      await until(() => clock.nextIn() === ms, { what: 'the next look to be set' });
      clock.advance(ms);
      await until(async () => (await statusOf(rolloutId)) === status, { what: `it is ${status}` });
    };
    await advance(5_000, 'HEALTH_CHECK');
    await reports('0', pipelineId, { version: 2, restarts: 3 });
    await advance(5_000, 'ROLLED_BACK');
    const { updated_at: ended } = await rowOf(rolloutId);
    clock.advance(10 * MINUTE);
    await loop.reconcile(rolloutId);
    expect((await rowOf(rolloutId)).updated_at).to.deep.equal(ended);
  });

  it('finds what is active when it starts, and when a signal was lost', async () => {
    const { pipelineId, rolloutId } = await begun();
    await reports('0', pipelineId, { version: 2 });
    loopOf(current).start();
    await until(async () => (await statusOf(rolloutId)) === 'HEALTH_CHECK', { what: 'it is found' });
  });

  it('does nothing where another controller leads, nor once another has taken over', async () => {
    const { pipelineId, rolloutId } = await begun();
    await reports('0', pipelineId, { version: 2 });
    const follower = loopOf({ epoch: null });
    expect(await follower.reconcile(rolloutId)).to.equal(false);
    expect(await statusOf(rolloutId)).to.equal('CANARY_DEPLOYED');
    const old: Leader = { epoch: 1 };
    const paused = loopOf(old);
    current = { epoch: 2 };
    const refused = await paused.reconcile(rolloutId).catch((error: Error) => error.message);
    expect(refused).to.contain('no longer holds the lease');
    expect(await statusOf(rolloutId)).to.equal('CANARY_DEPLOYED');
    await loopOf(current).reconcile(rolloutId);
    expect(await statusOf(rolloutId)).to.equal('HEALTH_CHECK');
    const { observed } = await rowOf(rolloutId);
    await reports('0', pipelineId, { version: 2, ...events(700) });
    expect(await paused.reconcile(rolloutId).catch((error: Error) => error.message)).to.contain(
      'no longer holds',
    );
    expect((await rowOf(rolloutId)).observed).to.deep.equal(observed);
  });

  it('ends it once where two look at the same moment', async () => {
    const { pipelineId, rolloutId } = await begun();
    await reports('0', pipelineId, { version: 2 });
    const pair = [loopOf(current), loopOf(current)];
    await pair[0]?.reconcile(rolloutId);
    await reports('0', pipelineId, { version: 2, restarts: 3 });
    await Promise.all(pair.map((loop) => loop.reconcile(rolloutId)));
    const audited = await db('audit_log').where({ entity_id: pipelineId, action: 'rollout.rolledBack' });
    expect(audited).to.have.length(1);
    expect(audited[0]).to.include({ actor_type: 'system' });
  });

  it('waits for no silent node, nor for one in maintenance', async () => {
    const { pipelineId, rolloutId } = await begun();
    await db('nodes').insert({
      ...{ id: 'node-away', environment_id: environmentId, name: 'node-away', host: 'node-away' },
      ui_labels: '{"ring":"0"}',
      maintenance: true,
    });
    const loop = loopOf(current);
    await loop.reconcile(rolloutId);
    expect(await statusOf(rolloutId)).to.equal('CANARY_DEPLOYED');
    await reports('0', pipelineId, { version: 2 });
    await loop.reconcile(rolloutId);
    expect(await statusOf(rolloutId)).to.equal('HEALTH_CHECK');
    // Silent from now on: the window runs, and nothing can be said.
    clock.advance(11 * MINUTE);
    await loop.reconcile(rolloutId);
    const row = await rowOf(rolloutId);
    expect(row.held_reason).to.contain('Too few events to say');
    expect(row.status).to.equal('HEALTH_CHECK');
    await db('nodes').where({ id: 'node-away' }).delete();
  });

  it('waits for a person where it is told to, and says so', async () => {
    const { pipelineId, rolloutId } = await begun({ onPass: 'hold' });
    const loop = loopOf(current);
    await reports('0', pipelineId, { version: 2 });
    await loop.reconcile(rolloutId);
    await reports('0', pipelineId, { version: 2, ...events(500) });
    await reports('1', pipelineId, events(500));
    clock.advance(10 * MINUTE);
    await reports('0', pipelineId, { version: 2, ...events(500) });
    await loop.reconcile(rolloutId);
    const row = await rowOf(rolloutId);
    expect(row).to.include({ status: 'HEALTH_CHECK' });
    expect(row.held_reason).to.contain('onPass: hold');
    await environment.byHand(stagedRollouts.broaden, { rolloutId });
    expect(await rowOf(rolloutId)).to.include({ status: 'BROADENED', held_reason: null });
  });

  it('keeps the verdict that it ended by', async () => {
    const { pipelineId, rolloutId } = await begun();
    const loop = loopOf(current);
    await reports('0', pipelineId, { version: 2 });
    await loop.reconcile(rolloutId);
    await reports('0', pipelineId, { version: 2, restarts: 5 });
    await loop.reconcile(rolloutId);
    const { verdict, end_reason: reason } = await rowOf(rolloutId);
    expect(verdict).to.include({
      verdict: 'unhealthy',
      message: 'Version 2 crashed 5 times on canary nodes',
    });
    expect(reason).to.equal(verdict.message);
    expect(verdict.canary).to.include({ crashes: 5 });
  });
});
