/** What a forge is told of a commit after it came in: under way until it is rolled out, and every failure on the way. */
import { expect } from 'chai';
import {
  commitStatusOf,
  listCommitStatuses,
  sweepCommitStatuses,
} from '../../../controller/delivery/pull-requests/index.ts';
import { ForgeError } from '../../../reconcilers/forges/forge.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';
import type { BoundEnvironment } from '../../support/scenes/reconcile.ts';

describe('the status of a commit that came in', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  beforeEach(async () => {
    scene = await PullRequestScene.open();
    env = await scene.environment();
  });
  afterEach(() => scene.close());

  const NODES = ['a', 'b', 'c', 'd', 'e'];
  async function fleet(): Promise<void> {
    for (const name of NODES) {
      const id = `${env.id}-${name}`;
      await scene.db('nodes').insert({
        ...{
          id,
          environment_id: env.id,
          name,
          host: `${name}.example.org`,
          token_hash: id,
          enrolled_at: new Date(),
        },
      });
      await scene.db('node_reports').insert({
        ...{ node_id: id, reported_at: new Date(Date.now() + 3_600_000), engine_version: 'vector 0.57.0' },
      });
    }
  }
  /** What these nodes say of the pipeline from now on. */
  async function report(nodes: readonly string[], version: number, status = 'RUNNING', name = 'web') {
    const { id } = await env.pipeline(name);
    for (const node of nodes)
      await scene
        .db('node_pipelines')
        .insert({
          ...{ node_id: `${env.id}-${node}`, pipeline_id: id, version, status },
          ...{
            status_since: new Date(),
            reported_at: new Date(),
            last_error: status === 'CRASHED' ? 'out of luck' : null,
          },
        })
        .onConflict(['node_id', 'pipeline_id'])
        .merge();
    scene.scene.services.statuses.drop();
  }
  async function apply(files: Record<string, string | null>): Promise<string> {
    await env.apply(files);
    scene.scene.services.statuses.drop();
    return env.repository.git('rev-parse', 'main');
  }
  /** What the forge was told of it, without repeats. */
  const told = (sha: string) =>
    scene.forge.statuses
      .filter((one) => one.sha === sha)
      .map(({ state, description }) => `${state}: ${description}`);
  const kept = async (sha: string) => {
    const found = await commitStatusOf(scene.db, env.id, sha);
    return found && `${found.state}: ${found.description}`;
  };

  it('is under way from node to node, and done when all of them run it', async () => {
    await fleet();
    const sha = await apply({ web: idleManifest('web') });
    await scene.look(env);
    await report(['a'], 1);
    await scene.look(env);
    await report(NODES, 1);
    await scene.look(env);
    expect(told(sha)).to.deep.equal([
      'pending: web: Version 1 is on 0 of 5 nodes',
      'pending: web: Version 1 is on 1 of 5 nodes',
      'success: rolled out: 1 manifest',
    ]);
    expect(scene.forge.statuses[0]).to.include({
      context: 'headgate/env-1',
      url: `http://localhost/e/${env.id}/git`,
    });
    expect(await kept(sha)).to.equal('success: rolled out: 1 manifest');
    await report(['b'], 1, 'CRASHED');
    await scene.look(env);
    expect(told(sha), 'what was rolled out was rolled out').to.have.length(3);
  });

  it('tells a crash, and then that it was mended', async () => {
    await fleet();
    const sha = await apply({ web: idleManifest('web') });
    await report(NODES, 1);
    await report(['c'], 1, 'CRASHED');
    await scene.look(env);
    await report(['c'], 1);
    await scene.look(env);
    expect(told(sha)).to.deep.equal([
      'failure: web: Crashed on c: out of luck',
      'success: rolled out: 1 manifest',
    ]);
  });

  it('tells a failure that the forge did not hear, before what came after it', async () => {
    await fleet();
    const sha = await apply({ web: idleManifest('web') });
    await report(NODES, 1);
    await report(['c'], 1, 'CRASHED');
    scene.forge.before = () => {
      throw new ForgeError('unavailable', 'the forge does not answer');
    };
    await scene.look(env);
    expect(await kept(sha)).to.match(/^failure/);
    await report(['c'], 1);
    await scene.look(env);
    expect(await kept(sha), 'it waits to be told').to.match(/^failure/);
    scene.forge.before = () => {};
    scene.clock.advance(10 * 60_000);
    await scene.look(env);
    expect(told(sha)).to.deep.equal([
      'failure: web: Crashed on c: out of luck',
      'success: rolled out: 1 manifest',
    ]);
  });

  it('fails where something is refused', async () => {
    const sha = await apply({
      web: idleManifest('web').replace('[ticks]', '[tocks]'),
      fine: idleManifest('fine'),
    });
    await scene.look(env);
    expect(told(sha)).to.have.length(1);
    expect(told(sha)[0]).to.match(/^failure: web refused: input "tocks" of "discard"/);
    const mended = await apply({ web: idleManifest('web') });
    await scene.look(env);
    expect(told(sha)).to.have.length(1);
    expect(told(mended)).to.deep.equal(['success: rolled out: 2 manifests']);
  });

  it('fails where a file cannot be read at all', async () => {
    const sha = await apply({ web: 'a: [' });
    await scene.look(env);
    expect(told(sha)[0]).to.match(/^failure: 1 fault in manifests/);
  });

  it('waits for an approval where the guards say so', async () => {
    await apply({ web: idleManifest('web'), edge: idleManifest('edge'), rest: idleManifest('rest') });
    await env.allow({ maxDeletes: 1 });
    const sha = await apply({ web: null, edge: null });
    await scene.look(env);
    expect(told(sha)).to.deep.equal(['pending: waits for an approval: an ADMIN looks at the plan']);
  });

  it('says by which commit it was superseded before it was rolled out', async () => {
    await fleet();
    const first = await apply({ web: idleManifest('web') });
    await scene.look(env);
    const second = await apply({ web: idleManifest('web', 'better') });
    await report(NODES, 2);
    await scene.look(env);
    expect(told(first)).to.deep.equal([
      'pending: web: Version 1 is on 0 of 5 nodes',
      `success: superseded by ${second.slice(0, 7)}`,
    ]);
    expect(told(second)).to.deep.equal(['success: rolled out: 1 manifest']);
  });

  it('is told once, whoever leads', async () => {
    const sha = await apply({ web: idleManifest('web') });
    await scene.look(env);
    await scene.look(env);
    await scene.restart();
    await scene.look(env);
    expect(told(sha)).to.deep.equal(['success: rolled out: 1 manifest']);
  });

  it('is looked at again by itself while something is under way, and not afterwards', async () => {
    await fleet();
    const sha = await apply({ web: idleManifest('web') });
    await scene.look(env);
    await report(NODES, 1);
    scene.clock.advance(5_000);
    await scene.untilTold(sha, 'success: rolled out: 1 manifest');
  });

  it('is kept where there is no forge, too, for the pages', async () => {
    await scene.db('git_bindings').where({ id: env.bindingId }).update({ forge: 'none' });
    const sha = await apply({ web: idleManifest('web') });
    await scene.look(env);
    expect(await kept(sha)).to.equal('success: rolled out: 1 manifest');
    expect(scene.forge.calls).to.deep.equal([]);
  });

  it('is not made in another mode than sync', async () => {
    const sha = await apply({ web: idleManifest('web') });
    await scene.db('git_bindings').where({ id: env.bindingId }).update({ mode: 'observe' });
    await scene.look(env);
    expect(await kept(sha)).to.equal(null);
  });

  it('is kept of the last twenty commits, for a week', async () => {
    for (let n = 0; n < 22; n += 1) {
      await apply({ web: idleManifest('web', `n${n}`) });
      scene.clock.advance(1);
      await scene.look(env);
    }
    const rows = await listCommitStatuses(scene.db, env.id);
    expect(rows).to.have.length(20);
    expect(
      await scene.db('commit_statuses').where({ environment_id: env.id }).count({ n: '*' }).first(),
    ).to.deep.equal({ n: 20 });
    await scene.db('commit_statuses').update({ updated_at: scene.db.raw("now() - interval '8 days'") });
    await sweepCommitStatuses(scene.db);
    expect((await listCommitStatuses(scene.db, env.id)).map(({ sha }) => sha)).to.deep.equal([rows[0]?.sha]);
  });
});
