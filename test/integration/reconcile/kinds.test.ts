/** Alert rules and node groups converge like pipelines, and what is not spec reaches the row without a version. */
import { expect } from 'chai';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { reportLines, reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

const rule = (name: string, spec: string, metadata = '') => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name}${metadata} }
spec: { ${spec} }
`;
const CRASHED = 'metric: pipeline_crashed, condition: eq, threshold: 1';
const group = (name: string, spec: string, metadata = '') => `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: ${name}${metadata} }
spec: { ${spec} }
`;

interface Row {
  id: string;
  name: string;
  managed_by: string;
  pipeline_id?: string | null;
  tombstoned_at: Date | null;
  [column: string]: unknown;
}

describe('alert rules and node groups', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);
  const rows = (table: 'alert_rules' | 'node_groups'): Promise<Row[]> =>
    scene.db(table).where({ environment_id: env.id }).orderBy('name');
  const row = async (table: 'alert_rules' | 'node_groups', name: string): Promise<Row> => {
    const found = (await rows(table)).find((one) => one.name === name);
    if (!found) throw new Error(`${table} has no ${name}`);
    return found;
  };
  const actions = async () =>
    scene
      .db('audit_log')
      .where({ environment_id: env.id })
      .whereIn('entity_type', ['AlertRule', 'NodeGroup'])
      .orderBy('created_at')
      .pluck('action');

  it('are made in the order groups, pipelines, rules, in one commit that holds all three', async () => {
    const result = await env.apply({
      a: rule('web crashed', `pipelineRef: web, ${CRASHED}, durationSeconds: 30`, ', labels: { team: web }'),
      b: idleManifest('web'),
      c: group('edge-eu', 'criteria: { role: edge }, labelTemplate: { ring: "1" }, requiredLabels: [owner]'),
    });
    expect(result.counts).to.include({ created: 3, refused: 0 });
    expect(reportLines(result).slice(1)).to.deep.equal([
      '  + edge-eu: created, node group of role=edge',
      '  + web: created, version 1',
      '  + web crashed: created, alert rule pipeline_crashed = 1',
    ]);
    const { id } = await env.pipeline('web');
    expect(await row('alert_rules', 'web crashed')).to.include({
      managed_by: 'git',
      pipeline_id: id,
      metric: 'pipeline_crashed',
      condition: 'eq',
      threshold: 1,
      duration_seconds: 30,
      enabled: true,
    });
    expect((await row('alert_rules', 'web crashed')).labels).to.deep.equal({ team: 'web' });
    const made = await row('node_groups', 'edge-eu');
    expect([made.criteria, made.label_template, made.required_labels]).to.deep.equal([
      { role: 'edge' },
      { ring: '1' },
      ['owner'],
    ]);
    for (const name of ['web crashed', 'edge-eu'])
      expect(await env.condition(name, 'Applied')).to.include({ status: 'True' });
    expect(await actions()).to.have.members(['nodeGroup.created', 'alertRule.created']);
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('change, are renamed by uid, are deleted and come back with their id', async () => {
    await env.apply({ r: rule('hot', 'metric: cpu_usage, condition: gt, threshold: 90', ', uid: R1') });
    const { id } = await row('alert_rules', 'hot');
    await env.apply({ r: rule('too hot', 'metric: cpu_usage, condition: gt, threshold: 80', ', uid: R1') });
    expect(await row('alert_rules', 'too hot')).to.include({ id, threshold: 80 });
    await env.apply({ r: null, keep: group('all', 'criteria: {}') });
    await env.apply({ keep: group('all', 'criteria: {}'), other: idleManifest('web') });
    expect((await rows('alert_rules'))[0]?.tombstoned_at).to.be.instanceOf(Date);
    const back = await env.apply({
      r: rule('too hot', 'metric: cpu_usage, condition: gt, threshold: 80', ', uid: R1'),
    });
    expect(back.counts).to.include({ restored: 1 });
    expect(await row('alert_rules', 'too hot')).to.include({ id, tombstoned_at: null });
  });

  it('leave a namesake of the UI alone and say Conflict', async () => {
    await scene
      .db('node_groups')
      .insert({ id: 'mine', environment_id: env.id, name: 'Edge', criteria: '{}' });
    const result = await env.apply({
      g: group('edge', 'criteria: { role: edge }'),
      web: idleManifest('web'),
    });
    expect(result.counts).to.include({ created: 1, refused: 1 });
    expect(await env.condition('edge', 'Applied')).to.include({ status: 'False', reason: 'Conflict' });
    expect(await row('node_groups', 'Edge')).to.include({ id: 'mine', managed_by: 'ui' });
  });

  it('are set back where SQL changed a column, and say so', async () => {
    await env.apply({ g: group('edge', 'criteria: { role: edge }'), web: idleManifest('web', 'words') });
    await scene.db('node_groups').where({ name: 'edge' }).update({ criteria: '{"role":"core"}' });
    await scene
      .db('pipelines')
      .where({ name: 'web', environment_id: env.id })
      .update({ description: 'other' });
    const result = await env.pass();
    expect(result.counts).to.include({ changed: 2 });
    expect(reportText(result)).to.include('edge: set back to what git says');
    expect((await row('node_groups', 'edge')).criteria).to.deep.equal({ role: 'edge' });
    expect(await env.pipeline('web')).to.include({ description: 'words', version: 1 });
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  describe('with a reference', () => {
    it('are refused where no pipeline is called so, with the place and a guess', async () => {
      await env.apply({ web: idleManifest('web'), r: rule('r', `pipelineRef: wep, ${CRASHED}`) });
      const [error] = await scene.db('git_import_errors').where({ binding_id: env.bindingId });
      expect(error).to.include({
        stage: 'references',
        line: 4,
        message: 'pipelineRef names "wep", and no pipeline of this environment is called so',
        hint: 'did you mean "web"?',
      });
      expect(await rows('alert_rules')).to.deep.equal([]);
    });

    it('may name a pipeline that the UI owns', async () => {
      await scene.db('pipelines').insert({ id: `ui-${env.id}`, environment_id: env.id, name: 'mine' });
      await env.apply({ r: rule('r', `pipelineRef: mine, ${CRASHED}`) });
      expect(await row('alert_rules', 'r')).to.include({ pipeline_id: `ui-${env.id}` });
    });

    it('wait for a pipeline that was refused', async () => {
      const broken = idleManifest('web').replace('inputs: [ticks]', 'inputs: [nobody]');
      const result = await env.apply({ web: broken, r: rule('r', `pipelineRef: web, ${CRASHED}`) });
      expect(result.counts).to.include({ refused: 2 });
      expect(await env.condition('r', 'Applied')).to.include({ status: 'False', reason: 'Blocked' });
      const mended = await env.apply({ web: idleManifest('web') });
      expect(mended.counts).to.include({ created: 2, refused: 0 });
    });

    it('keep the pipeline that they name: it is not deleted before they are', async () => {
      await env.apply({
        web: idleManifest('web'),
        other: idleManifest('other'),
        r: rule('r', `pipelineRef: web, ${CRASHED}`),
      });
      const result = await env.apply({ web: null });
      expect(result.counts).to.include({ refused: 1, deleted: 0, waiting: 1 });
      expect(reportText(result)).to.match(/r\.yaml:4:\d+: pipelineRef names "web"/);
      expect(await env.living()).to.deep.equal(['other', 'web']);
      const done = await env.apply({ r: null });
      expect(done.counts).to.include({ refused: 0, deleted: 2 });
      expect(await env.living()).to.deep.equal(['other']);
    });
  });

  describe('what is not spec', () => {
    it('reaches the row without a new version: labels, uid, titles', async () => {
      await env.apply({ web: idleManifest('web') });
      const { id } = await env.pipeline('web');
      const revision = async () =>
        (await scene.db('environments').where({ id: env.id }).first('config_revision')).config_revision;
      const before = await revision();
      const text = `${idleManifest('web', '', ', uid: U1, labels: { team: ours }')}  components: { ticks: { displayName: Ticks } }\n`;
      expect((await env.apply({ web: text })).counts).to.include({ changed: 1 });
      expect(await env.pipeline('web')).to.include({ id, uid: 'U1', version: 1, deployedVersion: 1 });
      const stored = await scene.db('pipelines').where({ id }).first('labels', 'graph_nodes');
      expect(stored.labels).to.deep.equal({ team: 'ours' });
      expect(stored.graph_nodes[0]).to.include({ displayName: 'Ticks' });
      expect(await revision(), 'no node is served anything else').to.equal(before);
      expect((await env.pass()).outcome).to.equal('unchanged');
    });

    it('lets two manifests trade their names in one commit', async () => {
      await env.apply({ a: idleManifest('a', 'A', ', uid: UA'), b: idleManifest('b', 'B', ', uid: UB') });
      const [a, b] = [await env.pipeline('a'), await env.pipeline('b')];
      const result = await env.apply({
        a: idleManifest('b', 'A', ', uid: UA'),
        b: idleManifest('a', 'B', ', uid: UB'),
      });
      expect(result.counts).to.include({ renamed: 2, refused: 0 });
      expect(await env.pipeline('b')).to.include({ id: a.id, version: 1 });
      expect(await env.pipeline('a')).to.include({ id: b.id, version: 1 });
      expect((await env.pass()).outcome).to.equal('unchanged');
    });
  });
});
