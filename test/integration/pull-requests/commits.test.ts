/** The status of a commit on its base branch: pending until it is rolled out, with every failure on the way. */
import { expect } from 'chai';
import {
  commitStatusOf,
  listCommitStatuses,
  saveCommitStatus,
  sweepCommitStatuses,
} from '../../../controller/delivery/pull-requests/index.ts';
import { ForgeError } from '../../../reconcilers/forges/forge.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';

describe('the status of a commit that came in', () => {
  let scene: PullRequestScene;
  let env: BoundEnvironment;
  before(async () => {
    scene = await PullRequestScene.open();
  });
  beforeEach(async () => {
    env = await scene.environment();
  });
  afterEach(() => scene.clear());
  after(() => scene.close());

  const NODES = ['a', 'b', 'c', 'd', 'e'];
  async function fleet(): Promise<void> {
    for (const name of NODES) {
      const id = `${env.id}-${name}`;
      await scene.db('nodes').insert({
        ...{ id, environment_id: env.id, name, host: `${name}.example.org`, token_hash: id },
        enrolled_at: new Date(),
      });
      const inAnHour = new Date(Date.now() + 3_600_000);
      await scene
        .db('node_reports')
        .insert({ node_id: id, reported_at: inAnHour, engine_version: 'vector 0.57.0' });
      await scene.db('node_presence').insert({ node_id: id, heard_at: inAnHour });
    }
  }
  /** These nodes report the pipeline like this from now on. */
  async function report(nodes: readonly string[], version: number, status = 'RUNNING') {
    const { id } = await env.pipeline('web');
    for (const node of nodes)
      await scene
        .db('node_pipelines')
        .insert({
          ...{ node_id: `${env.id}-${node}`, pipeline_id: id, version, status },
          ...{ status_since: new Date(), reported_at: new Date() },
          last_error: status === 'CRASHED' ? 'out of luck' : null,
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
  /** The statuses that the forge has of the commit, oldest first. */
  const reported = (sha: string) =>
    scene.forge.statuses
      .filter((one) => one.sha === sha)
      .map(({ state, description }) => `${state}: ${description}`);
  const stored = async (sha: string) => {
    const found = await commitStatusOf(scene.db, env.id, sha);
    return found && `${found.state}: ${found.description}`;
  };

  it('is under way from node to node, and done when all of them run it', async () => {
    await fleet();
    const sha = await apply({ web: idleManifest('web') });
    await scene.pass(env);
    await report(['a'], 1);
    await scene.pass(env);
    await report(NODES, 1);
    await scene.pass(env);
    expect(reported(sha)).to.deep.equal([
      'pending: web: Version 1 is on 0 of 5 nodes',
      'pending: web: Version 1 is on 1 of 5 nodes',
      'success: rolled out: 1 manifest',
    ]);
    expect(scene.forge.statuses[0]).to.include({
      context: `headgate/${env.name}`,
      url: `http://localhost/e/${env.id}/git`,
    });
    expect(await stored(sha)).to.equal('success: rolled out: 1 manifest');
    await report(['b'], 1, 'CRASHED');
    await scene.pass(env);
    await scene.restart();
    await scene.pass(env);
    expect(reported(sha), 'it stays rolled out').to.have.length(3);
  });

  it('reports a crash that the forge has missed, before what came after it', async () => {
    await fleet();
    const sha = await apply({ web: idleManifest('web') });
    await report(NODES, 1);
    await report(['c'], 1, 'CRASHED');
    scene.forge.before = () => {
      throw new ForgeError('unavailable', 'the forge does not answer');
    };
    await scene.pass(env);
    expect(await stored(sha)).to.match(/^failure/);
    await report(['c'], 1);
    await scene.pass(env);
    expect(await stored(sha), 'not replaced before it is reported').to.match(/^failure/);
    scene.forge.before = () => {};
    scene.clock.advance(10 * 60_000);
    await scene.pass(env);
    expect(reported(sha)).to.deep.equal([
      'failure: web: Crashed on c: out of luck',
      'success: rolled out: 1 manifest',
    ]);
  });

  it('fails where a manifest is refused or a file cannot be read', async () => {
    const sha = await apply({
      web: idleManifest('web').replace('[ticks]', '[tocks]'),
      fine: idleManifest('fine'),
    });
    await scene.pass(env);
    expect(reported(sha)).to.have.length(1);
    expect(reported(sha)[0]).to.match(/^failure: web refused: input "tocks" of "discard"/);
    const mended = await apply({ web: idleManifest('web') });
    await scene.pass(env);
    expect(reported(sha)).to.have.length(1);
    expect(reported(mended)).to.deep.equal(['success: rolled out: 2 manifests']);
    const unreadable = await apply({ junk: 'a: [' });
    await scene.pass(env);
    expect(reported(unreadable)[0]).to.match(/^failure: 1 fault in manifests/);
  });

  it('waits for an approval over the guards', async () => {
    await apply({ web: idleManifest('web'), edge: idleManifest('edge'), rest: idleManifest('rest') });
    await env.setPolicy({ maxDeletes: 1 });
    const sha = await apply({ web: null, edge: null });
    await scene.pass(env);
    expect(reported(sha)).to.deep.equal(['pending: waits for an approval: an ADMIN looks at the plan']);
  });

  it('names the commit that superseded it before it was rolled out', async () => {
    await fleet();
    const first = await apply({ web: idleManifest('web') });
    await scene.pass(env);
    const second = await apply({ web: idleManifest('web', 'better') });
    await report(NODES, 2);
    await scene.pass(env);
    expect(reported(first)).to.deep.equal([
      'pending: web: Version 1 is on 0 of 5 nodes',
      `success: superseded by ${second.slice(0, 7)}`,
    ]);
    expect(reported(second)).to.deep.equal(['success: rolled out: 1 manifest']);
  });

  it('is followed by a timer while it is under way', async () => {
    await fleet();
    const sha = await apply({ web: idleManifest('web') });
    await scene.pass(env);
    await report(NODES, 1);
    scene.clock.advance(5_000);
    await scene.untilReported(sha, 'success: rolled out: 1 manifest');
  });

  it('is stored without a forge, too, and in the mode sync only', async () => {
    const setBinding = (change: object) =>
      scene.db('git_bindings').where({ id: env.bindingId }).update(change);
    const sha = await apply({ web: idleManifest('web') });
    await setBinding({ forge: 'none', mode: 'observe' });
    await scene.pass(env);
    expect(await stored(sha)).to.equal(null);
    await setBinding({ mode: 'sync' });
    await scene.pass(env);
    expect(await stored(sha)).to.equal('success: rolled out: 1 manifest');
    expect(scene.forge.calls).to.deep.equal([]);
  });

  it('is stored of the last twenty commits, for a week', async () => {
    const began = scene.clock.now() - 60_000;
    for (let n = 0; n < 21; n += 1)
      await saveCommitStatus(
        scene.db,
        {
          ...{ environmentId: env.id, sha: String(n).padStart(40, '0') },
          ...{ state: 'success', description: 'rolled out: 1 manifest' },
        },
        new Date(began + n),
      );
    const head = await apply({ web: idleManifest('web') });
    await scene.pass(env);
    const stored = await scene.db('commit_statuses').where({ environment_id: env.id }).pluck('sha');
    expect(stored).to.have.length(20).and.include(head).and.not.include('0'.repeat(40));
    expect((await listCommitStatuses(scene.db, env.id))[0]?.sha).to.equal(head);
    await scene.db('commit_statuses').update({ updated_at: scene.db.raw("now() - interval '8 days'") });
    await sweepCommitStatuses(scene.db);
    expect((await listCommitStatuses(scene.db, env.id)).map(({ sha }) => sha)).to.deep.equal([head]);
  });
});
