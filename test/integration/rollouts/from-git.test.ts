/** Rollouts that manifests ask for: what every node is told, and what git and people do meanwhile. */
import { expect } from 'chai';
import type { GitPlan } from '../../../schemas/api/delivery/git-plan.ts';
import type { DriftReport, GitHold } from '../../../schemas/api/delivery/git-words.ts';
import type { RolloutSummary } from '../../../schemas/api/delivery/rollouts.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { makeTestEnvironments, refusal } from '../../support/scenes/places.ts';
import {
  activeOf,
  joinRing,
  joinRings,
  lastOf,
  putBackWindow,
  type RingNode,
  untilServed,
  untilStatus,
  wakeRollout,
} from '../../support/scenes/rollouts.ts';

interface Written {
  interval?: number;
  ring?: string;
  /** False: no section. */
  rollout?: boolean;
  minutes?: number;
  more?: string;
  labels?: string;
}
const written = (name: string, of: Written): string => {
  const { interval = 1, ring = '0', rollout = true, minutes = 10, more = '', labels = '{}' } = of;
  const section = `  rollout: { strategy: canary, canarySelector: { ring: "${ring}" }, healthCheckWindowMinutes: ${minutes} }\n`;
  return `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name}, labels: ${labels} }
spec:
${more}${rollout ? section : ''}  sources:
    app: { type: demo_logs, format: json, interval: ${interval} }
  sinks:
    out: { type: blackhole, inputs: [app] }
`;
};

describe('a rollout that git asks for', () => {
  const test = useController();
  let place: GitBindingScene;
  let nodes: RingNode[];
  let n = 0;

  before(async function () {
    this.timeout(60_000);
    const places = await makeTestEnvironments(test);
    place = await bindToGit(test, places, { 'pipelines/idle.yaml': written('idle', { rollout: false }) });
    nodes = await joinRings(test, place.root, place.environmentId, 3);
  });

  const fileOf = (name: string) => `pipelines/${name}.yaml`;
  const say = (name: string, of: Written) => place.apply({ [fileOf(name)]: written(name, of) });
  const idOf = (name: string) => place.idOf('pipelines', name);
  /** Version 1 on all nodes. */
  async function deployed(): Promise<{ name: string; id: string }> {
    const name = `rolled${++n}`;
    await say(name, { rollout: false });
    await untilServed(nodes, name, [1, 1, 1]);
    return { name, id: await idOf(name) };
  }
  const pass = async () => place.apply({ 'notes.txt': `${++n}` });
  const get = (id: string) => place.viewer.query<Pipeline>('pipeline.get', { id });
  const rolledOut = async (id: string) =>
    (await get(id)).git?.conditions.find(({ type }) => type === 'RolledOut');
  const endings = async (id: string) =>
    (await place.viewer.query<RolloutSummary[]>('stagedRollout.list', { pipelineId: id })).map(
      ({ status, endReason }) => `${status}: ${endReason}`,
    );
  const holds = async () =>
    (
      await place.viewer.query<{ holds: GitHold[] }>('gitSync.holds', { environmentId: place.environmentId })
    ).holds.filter(({ current }) => current);
  const proposals = () =>
    place.viewer.query<{ title: string; state: string; branch: string }[]>('pullRequest.list', {
      environmentId: place.environmentId,
    });

  it('goes to canary nodes first, in the same pass, and is left alone by the passes after it', async () => {
    const { name, id } = await deployed();
    const sha = await say(name, { interval: 2 });
    await untilServed(nodes, name, [2, 1, 1]);
    const active = await activeOf(place.viewer, id);
    expect(active).to.include({ source: 'git', commit: sha, canaryVersion: 2, previousVersion: 1 });
    expect(active).to.include({ createdBy: 'git', onPass: 'broaden', onFail: 'rollback' });
    const revision = async () =>
      (await test.db('environments').where({ id: place.environmentId }).first('config_revision'))
        .config_revision;
    const before = await revision();
    await pass();
    // Another controller that leads has nothing in memory.
    await test.db('object_changes').insert({ environment_id: place.environmentId });
    await pass();
    expect(await revision()).to.equal(before);
    expect(await activeOf(place.viewer, id)).to.include({ id: active?.id });
    expect(await rolledOut(id)).to.include({ status: 'Unknown', reason: 'Canary' });
    const drift = await place.viewer.query<DriftReport>('gitSync.drift', {
      environmentId: place.environmentId,
    });
    expect(drift.objects.find((one) => one.name === name)?.states).not.to.include('database-drifted');
    await place.editor.mutate('stagedRollout.broaden', { rolloutId: active?.id });
    await untilServed(nodes, name, [2, 2, 2]);
    // What git has accepted on more nodes is no drift.
    expect((await test.db('pipelines').where({ id }).first('spec_hash')).spec_hash).not.to.equal(null);
    await test.db('object_changes').insert({ environment_id: place.environmentId });
    await pass();
    await untilServed(nodes, name, [2, 2, 2]);
    expect(await endings(id)).to.deep.equal(['BROADENED: Broadened by hand']);
    expect((await get(id)).git?.conditions.find(({ type }) => type === 'Applied')?.status).to.equal('True');
  });

  it('is no drift on any node, whichever version it has', async () => {
    const { name, id } = await deployed();
    await say(name, { interval: 2 });
    await untilServed(nodes, name, [2, 1, 1]);
    for (const one of nodes) {
      const { pipelines } = (await one.node.config()).json<{
        pipelines: { pipelineId: string; checksum: string }[];
      }>();
      const checksum = pipelines.find(({ pipelineId }) => pipelineId === id)?.checksum;
      await one.report({ configChecksum: checksum });
    }
    const drift = await place.viewer.query<DriftReport>('gitSync.drift', {
      environmentId: place.environmentId,
    });
    const { nodes: onNodes } = drift.objects.find((one) => one.name === name) ?? {};
    expect(onNodes).to.deep.equal({ total: 3, same: 3, differing: [] });
    await place.editor.mutate('stagedRollout.rollback', { rolloutId: (await lastOf(place.viewer, id)).id });
  });

  it('goes for a first version too: the others get nothing until it is broadened', async () => {
    const name = `rolled${++n}`;
    await say(name, {});
    await untilServed(nodes, name, [1, null, null]);
    const id = await idOf(name);
    await test.db('object_changes').insert({ environment_id: place.environmentId });
    await pass();
    await untilServed(nodes, name, [1, null, null]);
    await place.editor.mutate('stagedRollout.broaden', { rolloutId: (await lastOf(place.viewer, id)).id });
    await untilServed(nodes, name, [1, 1, 1]);
    expect(await rolledOut(id)).not.to.include({ reason: 'Canary' });
  });

  it('gives way to a newer commit, and the others keep what they run', async () => {
    const { name, id } = await deployed();
    await say(name, { interval: 2 });
    await untilServed(nodes, name, [2, 1, 1]);
    await say(name, { interval: 3 });
    await untilServed(nodes, name, [3, 1, 1]);
    expect(await endings(id)).to.deep.equal([
      'CANARY_DEPLOYED: null',
      'ROLLED_BACK: Superseded by version 3',
    ]);
    expect(await lastOf(place.viewer, id)).to.include({ canaryVersion: 3, previousVersion: 1 });
    await say(name, { interval: 4, rollout: false });
    await untilServed(nodes, name, [4, 4, 4]);
    expect((await endings(id))[0]).to.equal(
      'ROLLED_BACK: Superseded by version 4, which has no rollout section',
    );
  });

  it('ends where git goes back to what the others run', async () => {
    const { name, id } = await deployed();
    await say(name, { interval: 2 });
    await untilServed(nodes, name, [2, 1, 1]);
    await say(name, { interval: 1 });
    await untilServed(nodes, name, [3, 3, 3]);
    expect(await endings(id)).to.deep.equal([
      'ROLLED_BACK: The manifest returned to the version that the other nodes run',
    ]);
  });

  it('ends broadened where only its section is taken away', async () => {
    const { name, id } = await deployed();
    await say(name, { interval: 2 });
    await untilServed(nodes, name, [2, 1, 1]);
    await say(name, { interval: 2, rollout: false });
    await untilServed(nodes, name, [3, 3, 3]);
    expect(await endings(id)).to.deep.equal(['BROADENED: The rollout section was removed from the manifest']);
  });

  it('does not begin for what gives nodes nothing new, and goes on where it has begun', async () => {
    const { name, id } = await deployed();
    await say(name, { minutes: 20 });
    await say(name, { minutes: 30, more: '  description: better words\n', labels: '{ team: core }' });
    expect(await endings(id)).to.deep.equal([]);
    expect(await activeOf(place.viewer, id)).to.equal(null);
    await say(name, { interval: 2, minutes: 30 });
    const { id: rolloutId } = await lastOf(place.viewer, id);
    await say(name, { interval: 2, minutes: 5, ring: '1' });
    expect(await lastOf(place.viewer, id)).to.include({
      ...{ id: rolloutId, status: 'CANARY_DEPLOYED', healthCheckWindowMinutes: 5 },
    });
    const { canaryVersion, previousVersion } = await lastOf(place.viewer, id);
    await untilServed(nodes, name, [previousVersion, canaryVersion, previousVersion]);
    await place.editor.mutate('stagedRollout.broaden', { rolloutId });
    await untilServed(nodes, name, [canaryVersion, canaryVersion, canaryVersion]);
  });

  it('waits where no node matches, and a node that joins gets it', async () => {
    const { name, id } = await deployed();
    await say(name, { interval: 2, ring: '7' });
    await untilServed(nodes, name, [1, 1, 1]);
    expect((await rolledOut(id))?.message).to.equal('Canary: version 2 waits for a node that matches ring=7');
    const late = await joinRing(test, place.root, place.environmentId, 'late-7', { ring: '7' });
    await untilServed([...nodes, late], name, [1, 1, 1, 2]);
    await place.admin.mutate('fleet.delete', { id: late.node.nodeId });
    await say(name, { rollout: false });
  });

  it('ends where git takes it off the nodes, or its manifest goes', async () => {
    const { name, id } = await deployed();
    await say(name, { interval: 2 });
    await untilServed(nodes, name, [2, 1, 1]);
    await say(name, { interval: 2, more: '  deployed: false\n' });
    await untilServed(nodes, name, [null, null, null]);
    expect(await endings(id)).to.deep.equal(['ROLLED_BACK: The manifest sets deployed: false']);
    await say(name, { interval: 2 });
    await untilServed(nodes, name, [4, null, null]);
    await place.apply({ [fileOf(name)]: null });
    await untilServed(nodes, name, [null, null, null]);
    const row = await test.db('rollouts').where({ pipeline_id: id }).orderBy('created_at', 'desc').first();
    expect(row).to.include({ status: 'ROLLED_BACK', end_reason: 'Its manifest is gone from git' });
  });

  it('is not for the API to start: the manifest says it', async () => {
    const { id, name } = await deployed();
    const input = {
      pipelineId: id,
      canarySelector: { ring: '0' },
      healthCheckWindowMinutes: 1,
      changelog: '',
    };
    expect(await refusal(place.editor, 'mutation', 'stagedRollout.create', input)).to.match(
      new RegExp(`^PRECONDITION_FAILED: .*${name}.yaml:1.*spec\\.rollout of the manifest$`),
    );
  });

  it('is planned as it goes: canary nodes first, and how many come after them', async () => {
    const { name } = await deployed();
    await say(name, { rollout: true });
    const sha = place.push({ [fileOf(name)]: written(name, { interval: 9 }) });
    const plan = await place.editor.query<GitPlan>('gitSync.plan', {
      environmentId: place.environmentId,
      ref: sha,
    });
    const change = plan.changes.find((one) => one.name === name);
    expect(change?.nodes).to.include({ count: 1, restarts: 1 });
    expect(change?.nodes?.hosts).to.deep.equal(['node-0']);
    expect(change?.notes).to.include('canary on 1 node first, then 2 more');
  });

  describe('and that is rolled back', () => {
    let name: string;
    let id: string;
    before(async () => {
      ({ name, id } = await deployed());
      await say(name, { interval: 2 });
      await untilServed(nodes, name, [2, 1, 1]);
    });

    it('by the loop: the others never had it', async () => {
      const rolloutId = (await lastOf(place.viewer, id)).id;
      for (const one of nodes) await one.report();
      await wakeRollout(test, rolloutId);
      await untilStatus(place.viewer, id, 'HEALTH_CHECK');
      const [zero, one] = nodes as [RingNode, RingNode, RingNode];
      await zero.report({ eventsIn: 1_000, eventsOut: 500, errorsTotal: 500 });
      await one.report({ eventsIn: 1_000, eventsOut: 1_000 });
      await putBackWindow(test.db, rolloutId, 10);
      await wakeRollout(test, rolloutId);
      expect(await untilStatus(place.viewer, id, 'ROLLED_BACK')).to.include({ endedBy: 'rollout' });
      await untilServed(nodes, name, [1, 1, 1]);
    });

    it("holds git's spec, which no pass applies again", async () => {
      const held = (await holds()).filter((one) => one.name === name);
      expect(held).to.have.length(1);
      expect(held[0]?.reason).to.match(/^The rollout of version 2 was rolled back: 50\.00 % of 1000 events/);
      await pass();
      await test.db('object_changes').insert({ environment_id: place.environmentId });
      await pass();
      await untilServed(nodes, name, [1, 1, 1]);
      expect(await endings(id)).to.have.length(1);
      expect(await rolledOut(id)).to.include({ status: 'False', reason: 'RolledBack' });
    });

    it('opens a proposal that puts the version before back', async () => {
      await until(async () => (await proposals()).some(({ title }) => title.includes(name)), {
        what: 'the proposal to be made',
        everyMs: 20,
      });
      const [made] = (await proposals()).filter(({ title }) => title.includes(name));
      expect(made?.title).to.equal(`Roll back the pipeline ${name}`);
      expect(place.read(fileOf(name), made?.branch)).to.equal(written(name, { interval: 1 }).trim());
    });

    it('takes any newer spec, by a rollout of its own', async () => {
      await say(name, { interval: 3 });
      await untilServed(nodes, name, [3, 1, 1]);
      expect(await lastOf(place.viewer, id)).to.include({ previousVersion: 1, canaryVersion: 3 });
      await place.editor.mutate('stagedRollout.broaden', { rolloutId: (await lastOf(place.viewer, id)).id });
      await untilServed(nodes, name, [3, 3, 3]);
    });

    it('may be tried again once the hold is released', async () => {
      await say(name, { interval: 5 });
      await place.editor.mutate('stagedRollout.rollback', { rolloutId: (await lastOf(place.viewer, id)).id });
      const [held] = (await holds()).filter((one) => one.name === name);
      await place.editor.mutate('gitSync.releaseHold', { environmentId: place.environmentId, id: held?.id });
      await pass();
      await untilServed(nodes, name, [4, 3, 3]);
      expect(await lastOf(place.viewer, id)).to.include({ canaryVersion: 4, status: 'CANARY_DEPLOYED' });
    });
  });
});
