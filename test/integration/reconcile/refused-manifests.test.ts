// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { expect } from 'chai';
import { insertSecret } from '../../../controller/secrets/stored/store.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { pathOf } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

describe('manifests that are refused', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);

  it('keep the last good state, while the others are applied', async () => {
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`p${n}`, idleManifest(`p${n}`)]));
    await env.apply(files);
    const before = await env.pipeline('p3');
    const sha = env.commit({
      p3: 'apiVersion: headgate/v1\nkind: Pipeline\n\toops: 1\n',
      p4: idleManifest('p4', 'new'),
    });
    const result = await env.pass();
    expect(result).to.include({ outcome: 'partial', error: null });
    expect(result.counts).to.include({ changed: 1, refused: 1, deleted: 0 });
    expect(await env.pipeline('p3')).to.deep.equal(before);
    expect((await env.pipeline('p4')).version).to.equal(2);
    const [found, ...more] = await env.importErrors();
    expect(more).to.deep.equal([]);
    expect(found).to.deep.include({ path: pathOf('p3'), stage: 'parse', name: 'p3', commit_sha: sha });
    expect(found?.line).to.be.a('number');
    expect(await env.condition('p3', 'Parsed')).to.include({
      status: 'False',
      file: pathOf('p3'),
      commit: sha,
    });
    expect((await env.condition('p3', 'Applied')).message).to.match(/version 1 runs on/);

    await env.apply({ p3: idleManifest('p3') });
    expect(await env.importErrors()).to.deep.equal([]);
    expect(await env.condition('p3', 'Parsed')).to.include({ status: 'True' });
    expect(await env.pipeline('p3')).to.deep.equal(before);
  });

  it('have an error with line, column and hint for a wrong reference', async () => {
    const result = await env.apply({ web: idleManifest('web').replace('inputs: [ticks]', 'inputs: [tick]') });
    expect(result.counts).to.include({ refused: 1, created: 0 });
    const [found] = await env.importErrors();
    expect(found).to.deep.include({ stage: 'graph', line: 9, column_number: 42 });
    expect(found?.hint).to.equal('did you mean "ticks"?');
    expect(await env.pipelines()).to.deep.equal([]);
  });

  it('have an error at the line of a program that does not compile', async () => {
    const text = `${idleManifest('web').replace('  sinks:', '  transforms:\n    parse:\n      type: remap\n      inputs: [ticks]\n      source: |\n        .a = 1\n        .b = nothing_of_that_name(.a)\n  sinks:')}`;
    await env.apply({ web: text });
    const [found] = await env.importErrors();
    expect(found).to.deep.include({
      stage: 'vrl',
      line: text.split('\n').findIndex((line) => line.includes('nothing_of')) + 1,
    });
    expect(await env.condition('web', 'Validated')).to.include({ status: 'False', reason: 'ProgramInvalid' });
  });

  it('are both of two with one name, and neither the object nor its history is deleted', async () => {
    await env.apply({ web: idleManifest('web') });
    const before = await env.pipeline('web');
    const result = await env.apply({
      copy: idleManifest('WEB', 'the copy'),
      web: idleManifest('web', 'changed'),
    });
    expect(result.counts).to.include({ created: 0, changed: 0, deleted: 0 });
    expect((await env.importErrors()).map((one) => [one.path, one.stage])).to.deep.equal([
      [pathOf('copy'), 'identity'],
      [pathOf('web'), 'identity'],
    ]);
    expect(await env.pipelines()).to.deep.equal([before]);
    await env.apply({ copy: null });
    expect(await env.pipeline('web')).to.include({ id: before.id, version: 2 });
  });

  it('are those with a dependency that does not exist or on themselves', async () => {
    await env.apply({
      web: idleManifest('web'),
      b: `${idleManifest('b')}  dependsOn: [wep]\n`,
      c: `${idleManifest('c')}  dependsOn: [c]\n`,
    });
    const found = await env.importErrors();
    expect(found.map((one) => one.stage)).to.deep.equal(['references', 'graph']);
    expect(found[0]?.hint).to.equal('did you mean "web"?');
    expect(found[1]?.message).to.match(/depends on itself/);
  });

  const dependingOn = (name: string, ...dependsOn: string[]) =>
    `${idleManifest(name)}  dependsOn: [${dependsOn.join(', ')}]\n`;

  it('are those in a circle of dependencies, with all files and lines; the others are applied', async () => {
    await env.apply({ a: idleManifest('a'), b: dependingOn('b', 'a') });
    const before = await env.pipelines();
    const result = await env.apply({
      a: dependingOn('a', 'b'),
      c: idleManifest('c'),
      d: dependingOn('d', 'a'),
    });
    expect(result.counts).to.include({ created: 1, refused: 3 });
    expect((await env.pipelines()).slice(0, 2)).to.deep.equal(before);
    const [a, b, ...more] = await env.importErrors();
    expect(more).to.deep.equal([]);
    for (const one of [a, b])
      for (const file of ['a', 'b']) expect(one?.message).to.match(new RegExp(`${pathOf(file)}:\\d+:\\d+`));
    expect(a?.message).to.include(`a (${pathOf('a')}:${a?.line}:`);
    expect(await env.condition('b', 'Validated')).to.include({ status: 'False', reason: 'GraphInvalid' });
    expect((await env.condition('a', 'Applied')).message).to.match(/version 1 runs on/);
    expect(await env.condition('d', 'Applied')).to.include({ status: 'False', reason: 'Blocked' });
    expect((await env.pass()).counts).to.include({ refused: 3 });
    const repaired = await env.apply({ b: idleManifest('b') });
    expect(repaired.counts).to.include({ changed: 2, created: 1, refused: 0 });
    expect(await env.living()).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('are those in a circle with a dependency from the UI, in the plan and at the last moment', async () => {
    await env.apply({ web: idleManifest('web') });
    const [web, mine] = [(await env.pipeline('web')).id, await env.insertPipeline('mine')];
    const depend = () =>
      scene.db('pipeline_dependencies').insert({ id: `${env.id}-1`, upstream_id: web, downstream_id: mine });
    env.commit({ web: dependingOn('web', 'mine') });
    // The dependency appears between the plan and the write.
    const late = await env.pass({
      execute: async (operation, ctx, input) => {
        await depend();
        return scene.execute(operation, ctx, input);
      },
    });
    expect(late.counts).to.include({ refused: 1, changed: 0 });
    expect((await env.condition('web', 'Applied')).message).to.match(/circle.*: web → mine → web/);
    expect((await env.pass()).counts).to.include({ refused: 1, changed: 0 });
    expect((await env.importErrors())[0]?.message).to.match(/→ mine \(in the web UI\) → web/);
    await scene.db('pipeline_dependencies').where({ downstream_id: mine }).delete();
    expect((await env.pass()).counts).to.include({ refused: 0, changed: 1 });
  });

  it('block their dependents, direct or not and under a new name, and no other', async () => {
    await env.apply({
      a: idleManifest('a'),
      b: dependingOn('b', 'a'),
      c: dependingOn('c', 'b'),
      still: dependingOn('still', 'a'),
    });
    const before = await env.pipelines();
    const bad = idleManifest('a', 'new').replace('inputs: [ticks]', 'inputs: [tick]');
    const renamed = `${idleManifest('other b', '', ', previousName: b')}  dependsOn: [a]\n`;
    const result = await env.apply({
      a: bad,
      b: renamed,
      c: dependingOn('c', 'other b'),
      free: idleManifest('free'),
    });
    expect(result.counts).to.include({ created: 1, changed: 0, renamed: 0, refused: 3 });
    expect((await env.pipelines()).filter(({ name }) => name !== 'free')).to.deep.equal(before);
    const waits = await env.condition('c', 'Applied');
    expect(waits).to.include({ status: 'False', reason: 'Blocked' });
    expect(waits.message).to.match(/^waits for "other b"/);
    expect((await env.condition('still', 'Applied')).status).to.equal('True');
    const repaired = await env.apply({ a: idleManifest('a', 'newer') });
    expect(repaired.counts).to.include({ changed: 2, renamed: 1, refused: 0 });
  });

  it('conflict with a pipeline of the UI by the same name, until that is gone', async () => {
    const mine = await env.insertPipeline('Web');
    const result = await env.apply({ web: idleManifest('web'), other: idleManifest('other') });
    expect(result.counts).to.include({ created: 1, refused: 1 });
    expect(await env.pipeline('Web')).to.include({ id: mine, managedBy: 'ui', description: 'made by hand' });
    expect(await env.condition('web', 'Applied')).to.include({ status: 'False', reason: 'Conflict' });
    expect((await env.pass()).counts).to.include({ refused: 1 });
    await scene.db('pipelines').where({ id: mine }).delete();
    expect((await env.pass()).counts).to.include({ created: 1, refused: 0 });
    expect(await env.condition('web', 'Applied')).to.include({ status: 'True' });
  });

  it('are applied as soon as their secret exists', async () => {
    const text = idleManifest('web').replace('interval: 1', 'interval: 1, lines: ["${SVC_SECRET_API_KEY}"]');
    await env.apply({ web: text });
    expect(await env.condition('web', 'Validated')).to.include({ status: 'False', reason: 'SecretMissing' });
    const secret = {
      id: `secret-of-${env.id}`,
      environmentId: env.id,
      name: 'api_key',
      variable: 'SVC_SECRET_API_KEY',
      value: 'the very value',
    };
    await insertSecret(scene.db, scene.services.keyring, secret);
    expect((await env.pass()).counts).to.include({ created: 1 });
    const [version] = await scene
      .db('pipeline_versions')
      .where({ pipeline_id: (await env.pipeline('web')).id });
    expect(version.config_yaml).to.include('${SVC_SECRET_API_KEY}').and.not.include('the very value');
  });

  it('have one line in the inventory, under the new name once they are renamed', async () => {
    const broken = (name: string, previousName?: string) =>
      idleManifest(name, '', previousName === undefined ? '' : `, previousName: ${previousName}`).replace(
        'interval: 1',
        'interval: 1, lines: ["${SVC_SECRET_NOT_THERE}"]',
      );
    await env.apply({ web: broken('orders') });
    expect(await env.condition('orders', 'Validated')).to.include({ reason: 'SecretMissing' });
    await env.apply({ web: broken('shop', 'orders') });
    const lines = () => scene.db('git_manifests').where({ binding_id: env.bindingId }).pluck('name_key');
    expect(await lines()).to.deep.equal(['shop']);
    await env.apply({ web: idleManifest('shop', '', ', previousName: orders') });
    expect(await lines()).to.deep.equal(['shop']);
    expect(await env.condition('shop', 'Validated')).to.include({ status: 'True' });
  });

  it('are those with a secret in plain text, which is repeated nowhere', async () => {
    const text = idleManifest('web').replace(
      'inputs: [ticks]',
      'inputs: [ticks], auth: { password: hunter2-in-the-clear }',
    );
    const result = await env.apply({ web: text });
    expect(result.counts).to.include({ refused: 1, created: 0 });
    const everything = JSON.stringify([
      result,
      await env.importErrors(),
      await scene.db('git_jobs').where({ binding_id: env.bindingId }),
      await scene.db('git_manifests').where({ binding_id: env.bindingId }),
      await scene.db('audit_log').where({ environment_id: env.id }),
    ]);
    expect(everything).not.to.include('hunter2');
  });

  it('keep the time of their error while it stays, and a new error has its own', async () => {
    await env.apply({ web: 'kind: [' });
    const [first] = await env.importErrors();
    await scene
      .db('git_import_errors')
      .where({ binding_id: env.bindingId })
      .update({ created_at: new Date(0) });
    await env.pass();
    expect((await env.importErrors())[0]?.created_at).to.deep.equal(new Date(0));
    await env.apply({ orders: 'kind: {' });
    const now = await env.importErrors();
    expect(now.map((one) => [one.path, one.created_at.getTime() === 0])).to.deep.equal([
      [pathOf('orders'), false],
      [pathOf('web'), true],
    ]);
    expect(now[1]?.message).to.equal(first?.message);
  });

  it('write nothing again in the next pass but a job', async () => {
    await env.apply({
      web: idleManifest('web'),
      bad: 'kind: [',
      worse: idleManifest('worse').replace('[ticks]', '[tick]'),
    });
    const before = await env.fingerprint();
    await env.pass();
    const after = await env.fingerprint();
    const withoutJobs = (text: string) => text.replace(/"jobs":\d+/, '');
    expect(withoutJobs(after)).to.equal(withoutJobs(before));
  });
});
