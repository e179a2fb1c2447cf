import { expect } from 'chai';
import { pathOf, reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

/** Marks events; its one test expects what `level` says. */
const marking = (level: string, expected = 'error', more = ''): string => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: marks }
spec:
  sources:
    ticks: { type: demo_logs, format: json }
  transforms:
    mark: { type: remap, inputs: [ticks], source: '.level = "${level}"' }
    script: { type: lua, inputs: [mark], version: "2" }
  sinks:
    out: { type: blackhole, inputs: [script] }
  tests:
    - name: every event is an error
      component: mark
      input: [{ message: one }, { message: two }]
      expect: .level == "${expected}"
${more}`;
const SKIPPED = `    - { name: the script runs, component: script, input: {}, expect: 'true' }\n`;

describe('tests of transforms in a pass', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);

  it('accepts what passes them, and says so', async () => {
    expect((await env.apply({ marks: marking('error') })).counts).to.include({ created: 1, refused: 0 });
    expect(await env.condition('marks', 'Tested')).to.include({
      status: 'True',
      reason: 'Passed',
      message: '1 test passed',
    });
  });

  it('refuses what fails them at the line of the test, and keeps the version that runs', async () => {
    await env.apply({ marks: marking('error') });
    const before = await env.pipeline('marks');
    const result = await env.apply({ marks: marking('info') });
    expect(result).to.include({ outcome: 'partial' });
    expect(result.counts).to.include({ changed: 0, refused: 1 });
    expect(await env.pipeline('marks')).to.deep.equal(before);
    const [found, ...more] = await env.importErrors();
    expect(more).to.deep.equal([]);
    const line =
      marking('info')
        .split('\n')
        .findIndex((text) => text.includes('- name: every')) + 1;
    expect(found).to.deep.include({ path: pathOf('marks'), name: 'marks', stage: 'tests', line });
    expect(found?.message).to.match(
      /^the test "every event is an error" of "mark" failed: expect is not true of 2 of the 2 events that came out of "mark", the first of them: \{"level":"info","message":"one"\}/,
    );
    expect(found?.hint).to.equal('correct "mark", or the test');
    const tested = await env.condition('marks', 'Tested');
    expect(tested).to.include({ status: 'False', reason: 'TestFailed', line });
    expect(tested.message).to.match(/^1 of 1 test failed: "every event is an error": expect is not true/);
    expect(await env.condition('marks', 'Validated')).to.include({ status: 'True' });
    expect(await env.condition('marks', 'Applied')).to.include({ status: 'False', reason: 'Invalid' });
    expect(reportText(result)).to.include(`${pathOf('marks')}:${line}`);
  });

  it('is well again by a correction, and by going back to what was accepted', async () => {
    await env.apply({ marks: marking('error') });
    await env.apply({ marks: marking('info') });
    await env.apply({ marks: marking('error') });
    expect(await env.importErrors()).to.deep.equal([]);
    expect(await env.condition('marks', 'Tested')).to.include({ status: 'True' });
    expect((await env.pipeline('marks')).version).to.equal(1);
    await env.apply({ marks: marking('info') });
    await env.apply({ marks: marking('info', 'info') });
    expect(await env.condition('marks', 'Tested')).to.include({ status: 'True', message: '1 test passed' });
    expect((await env.pipeline('marks')).version).to.equal(2);
  });

  it('stops nothing where a test cannot be run, and says which', async () => {
    const result = await env.apply({ marks: marking('error', 'error', SKIPPED) });
    expect(result.counts).to.include({ created: 1, refused: 0 });
    const tested = await env.condition('marks', 'Tested');
    expect(tested).to.include({ status: 'Unknown', reason: 'Skipped' });
    expect(tested.message).to.match(/^1 test passed, 1 not run: "the script runs": .*lua/);
  });

  it('does not run them where something else is wrong', async () => {
    await env.apply({ marks: marking('info').replace('inputs: [ticks]', 'inputs: [tick]') });
    expect((await env.importErrors()).map(({ stage }) => stage)).to.deep.equal(['graph']);
  });

  it('runs them again when what they include has changed', async () => {
    const withFile = marking('error')
      .replace('input: [{ message: one }, { message: two }]', 'input: { $file: event.json }')
      .replace('.level == "error"', '.message == "one"');
    const event = (message: string) => JSON.stringify({ message });
    const folder = pathOf('marks').replace(/[^/]+$/, '');
    env.repository.commit({ [pathOf('marks')]: withFile, [`${folder}event.json`]: event('one') });
    await env.pass();
    expect(await env.condition('marks', 'Tested')).to.include({ status: 'True' });
    env.repository.commit({ [`${folder}event.json`]: event('other') });
    const result = await env.pass();
    expect(result.counts).to.include({ refused: 1 });
    expect((await env.importErrors())[0]?.message).to.include('"message":"other"');
  });

  it('ends one that takes too long, and does not run it again in every pass', async () => {
    const many = `split("${'a,'.repeat(50)}a", ",")`;
    const loops = ['i', 'j', 'k', 'l'].map((name) => `for_each(list) -> |_n, _${name}| {`).join(' ');
    const endless = `'list = ${many}; n = 0; ${loops} n = n + 1 } } } }'`;
    const started = performance.now();
    const first = await env.apply({
      marks: marking('error').replace(`'.level = "error"'`, endless),
      fine: marking('error').replace('name: marks', 'name: fine'),
    });
    expect(performance.now() - started).to.be.greaterThan(2_000);
    expect(first.counts).to.include({ created: 1, refused: 1 });
    expect((await env.importErrors())[0]?.message).to.match(/failed: it ran longer than 2 s and was ended/);
    const passes: number[] = [];
    for (let pass = 0; pass < 3; pass += 1) {
      const later = performance.now();
      expect((await env.pass()).counts).to.include({ refused: 1 });
      passes.push(performance.now() - later);
    }
    // Another run would take its limit of 2 s in each.
    expect(Math.min(...passes)).to.be.lessThan(1_900);
  });

  it('runs them of forty manifests in one pass', async function () {
    this.timeout(60_000);
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [
        `p${n}`,
        marking(n === 17 ? 'info' : 'error')
          .replace('name: marks', `name: p${n}`)
          .replace('two', `two ${n}`),
      ]),
    );
    const result = await env.apply(files);
    expect(result.counts).to.include({ created: 39, refused: 1 });
    expect((await env.importErrors()).map(({ name }) => name)).to.deep.equal(['p17']);
  });
});
