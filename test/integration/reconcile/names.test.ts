/** Names that go from one object to another, and passes that ended before they could write down what they did. */
import { expect } from 'chai';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

const rule = (pipeline: string) => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: crashed }
spec: { pipelineRef: ${pipeline}, metric: pipeline_crashed, condition: eq, threshold: 1 }
`;
const withUid = (name: string, uid: string) => idleManifest(name, uid, `, uid: ${uid}`);

describe('names', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);

  const watched = async () =>
    (await scene.db('alert_rules').where({ environment_id: env.id }).first('pipeline_id')).pipeline_id;

  /** A pass that applies and loses the lead before it records. */
  async function unrecordedPass(): Promise<void> {
    let begun = 0;
    const fence = async () => {
      begun += 1;
      if (begun === 2) throw new DomainError('UNAVAILABLE', 'another controller leads');
    };
    const failed = await env.pass({ fence }).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(DomainError);
    expect(begun).to.equal(2);
  }

  it('are looked up again by a rule that did not change, when pipelines trade them', async () => {
    await env.apply({ a: withUid('web', 'U1'), b: withUid('edge', 'U2'), c: rule('web') });
    const [web, edge] = [await env.pipeline('web'), await env.pipeline('edge')];
    expect(await watched()).to.equal(web.id);
    await env.apply({ a: withUid('edge', 'U1'), b: withUid('web', 'U2') });
    await env.pass();
    expect(await watched()).to.equal(edge.id);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('are freed by what is deleted for what is renamed, in one commit', async () => {
    await env.apply({ a: withUid('web', 'U1'), b: idleManifest('edge') });
    const [web, edge] = [await env.pipeline('web'), await env.pipeline('edge')];
    const result = await env.apply({ a: withUid('edge', 'U1'), b: idleManifest('web') });
    expect(result.counts, reportText(result)).to.include({ renamed: 1, deleted: 1, refused: 0 });
    const living = (await env.pipelines()).filter(({ tombstoned }) => !tombstoned);
    expect(living.map(({ name }) => name)).to.deep.equal(['edge', 'web']);
    expect(living[0]?.id).to.equal(web.id);
    expect(living.map(({ id }) => id)).not.to.include(edge.id);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('stay with what is there while the manifest that wants one is broken', async () => {
    await env.apply({ a: withUid('web', 'U1'), b: idleManifest('edge') });
    const broken = withUid('edge', 'U1').replace('inputs: [ticks]', 'inputs: [nobody]');
    const result = await env.apply({ a: broken, b: null });
    expect(result.counts).to.include({ renamed: 0, deleted: 0 });
    expect(await env.living()).to.deep.equal(['edge', 'web']);
  });

  it('are not those of an object any more that was renamed away, though broken manifests fight for them', async () => {
    await env.apply({ a: withUid('web', 'U1') });
    const { id } = await env.pipeline('web');
    const two = { b: idleManifest('web', 'one'), c: idleManifest('web', 'two') };
    const result = await env.apply({ a: withUid('edge', 'U1'), ...two });
    expect(result.counts).to.include({ renamed: 1 });
    expect(await env.pipeline('edge')).to.include({ id });
    expect(await env.manifest('edge')).to.include({ objectId: id });
    expect(await env.manifest('web')).to.include({ objectId: null });
    const written = await env.fingerprint();
    await env.pass({ remembering: false });
    expect(await env.fingerprint()).to.equal(written);
  });

  it('belong to the file that can be read, though the file that had one before is broken', async () => {
    await env.apply({ a: withUid('web', 'U1') });
    const { id } = await env.pipeline('web');
    await env.apply({ a: `<<<<<<< ours\n${withUid('web', 'U1')}`, b: idleManifest('web') });
    expect(await env.pipeline('web')).to.include({ id, uid: null, tombstoned: false });
    expect(await env.condition('web', 'Applied')).to.include({ status: 'True' });
    const written = await env.fingerprint();
    await env.pass({ remembering: false });
    expect(await env.fingerprint()).to.equal(written);
  });

  it('are changed by previousName also when the manifest was broken on the way', async () => {
    const renamed = idleManifest('edge', '', ', previousName: web');
    await env.apply({ a: idleManifest('web') });
    const { id } = await env.pipeline('web');
    await env.apply({ a: renamed.replace('inputs: [ticks]', 'inputs: [') });
    await env.apply({ a: renamed });
    expect(await env.pipeline('edge')).to.include({ id });
    expect(await env.manifestNames()).to.deep.equal(['edge']);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('go back where a rename was applied, not recorded, and taken back', async () => {
    await env.apply({ a: withUid('web', 'U1') });
    const { id } = await env.pipeline('web');
    env.commit({ a: withUid('edge', 'U1') });
    await unrecordedPass();
    expect(await env.pipeline('edge')).to.include({ id });
    await env.apply({ a: withUid('web', 'U1') });
    expect(await env.pipeline('web')).to.include({ id, tombstoned: false });
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('are those of their objects where a pass freed one, passed it on, and did not record it', async () => {
    await env.apply({ a: withUid('web', 'U1'), b: idleManifest('edge') });
    const { id } = await env.pipeline('web');
    env.commit({ a: withUid('edge', 'U1'), b: idleManifest('web') });
    let begun = 0;
    // Transactions: edge is deleted, web becomes edge and another web is made, and this would be written down.
    const fence = async () => {
      begun += 1;
      if (begun === 3) throw new DomainError('UNAVAILABLE', 'another controller leads');
    };
    expect(await env.pass({ fence }).catch((error: unknown) => error)).to.be.instanceOf(DomainError);
    const two = { a: withUid('edge', 'U1'), c: idleManifest('edge') };
    expect((await env.apply(two)).outcome).to.equal('partial');
    const result = await env.apply({ c: null });
    expect(result.counts, reportText(result)).to.include({ refused: 0 });
    const living = (await env.pipelines()).filter(({ tombstoned }) => !tombstoned);
    expect(living.map(({ name }) => name)).to.deep.equal(['edge', 'web']);
    expect(living[0]).to.include({ id });
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('do not outlive their manifest where it was applied, not recorded, and deleted', async () => {
    await env.apply({ a: idleManifest('web') });
    env.commit({ b: idleManifest('edge') });
    await unrecordedPass();
    expect(await env.living()).to.deep.equal(['edge', 'web']);
    const result = await env.apply({ b: null });
    expect(result.counts, reportText(result)).to.include({ deleted: 1 });
    expect(await env.living()).to.deep.equal(['web']);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });
});
