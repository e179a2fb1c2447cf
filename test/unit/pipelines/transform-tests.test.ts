/** Tests of transforms by the VRL compiler at hand, without an engine. */
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createTestRunner } from '../../../controller/pipelines/engine/transform-tests/runner.ts';
import { runTests } from '../../../controller/pipelines/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { NOWHERE, ROWS, tested, testOf } from '../../support/fixtures/transform-tests.ts';
import { patient } from '../../support/harness/patience.ts';

describe('a test of a transform', function () {
  this.timeout(30_000);
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
  });
  after(() => engine.stop());

  for (const one of ROWS) {
    it(one.it, async () => {
      const [result] = await runTests(tested([testOf(one)]), { engine });
      expect(result).to.include({ name: one.it, component: one.component, line: null });
      if (one.fails === null) expect(result).to.include({ status: 'passed', message: null });
      else {
        expect(result).to.include({ status: 'failed' });
        expect(result?.message).to.match(one.fails);
        expect(result?.message).not.to.include('hunter2');
      }
    });
  }

  for (const one of [
    ...NOWHERE,
    {
      it: 'a transform that is no VRL',
      component: 'once',
      input: { a: 1 },
      expect: 'true',
      skipped: /type dedupe/,
    },
  ]) {
    it(`does not run ${one.it}, and says so`, async () => {
      const [result] = await runTests(tested([testOf(one)]), { engine });
      expect(result).to.include({ status: 'skipped' });
      expect(result?.message).to.match(one.skipped);
    });
  }

  it('says why nothing came', async () => {
    const tests = [
      { name: 'a', component: 'parse', input: { message: '{' }, expect: 'true' },
      { name: 'b', component: 'stop', input: {}, expect: 'true' },
      { name: 'c', component: 'errors', input: {}, expect: 'true' },
      { name: 'd', component: 'split.errors', input: { n: 1 }, expect: 'true' },
    ];
    const messages = (await runTests(tested(tests), { engine })).map(({ message }) => message);
    expect(messages[0]).to.match(/; the program failed: function call error for "parse_json"/);
    expect(messages[1]).to.match(/; the program called abort: aborted$/);
    expect(messages[2]).to.match(/; its condition is false$/);
    expect(messages[3]).to.match(/; the event left by odd$/);
  });

  it('ends a program that takes all memory, and the controller goes on', async () => {
    const tests = [
      { name: 'a', component: 'huge', input: {}, expect: 'true' },
      { name: 'b', component: 'errors', input: { level: 'error' }, expect: 'true' },
    ];
    const [first, second] = await runTests(tested(tests), { engine });
    expect(first).to.include({ status: 'failed' });
    expect(first?.message).to.match(/more memory than it may have|longer than 2 s/);
    expect(second).to.include({ status: 'passed' });
  });

  it('skips what is left once the tests of one suite took too long, so that no manifest holds up the others', async () => {
    const runner = createTestRunner({ engineBin: null, log: createLogger('silent'), playedMs: 1 });
    try {
      const one = { key: 'f', type: 'filter', options: { condition: '.n != 0' }, port: null, events: [{}] };
      const cases = ['.n != 1', '.n != 2', '.n != 3'].map((expect) => ({ ...one, expect }));
      const verdicts = await runner.testTransforms({ cases, global: {} }, { useEngine: false });
      expect(verdicts[0]).to.include({ status: 'passed' });
      expect(verdicts.at(-1)).to.deep.equal({
        status: 'skipped',
        message: 'the tests before it took too long',
      });
    } finally {
      runner.stop();
    }
  });

  it('does not run the same again', async () => {
    // One of the rows above, which has taken its limit of 2 s where it ran before.
    const tests = [{ name: 'a', component: 'endless', input: { a: 1 }, expect: '.n == 1' }];
    await runTests(tested(tests), { engine });
    const started = performance.now();
    const [again] = await runTests(tested(tests), { engine });
    expect(again).to.include({ status: 'failed' });
    // Another run would take its limit of 2 s.
    expect(performance.now() - started).to.be.lessThan(patient(1_900));
  });

  it('bounds what goes in and what is told', async () => {
    const tests = [
      { name: 'many', component: 'errors', input: Array(1_001).fill({}), expect: 'true' },
      { name: 'large', component: 'errors', input: { text: 'x'.repeat(1024 * 1024) }, expect: 'true' },
      {
        name: 'long',
        component: 'errors',
        input: { level: 'error', text: 'x'.repeat(10_000) },
        expect: '.a == 1',
      },
    ];
    const [many, large, long] = await runTests(tested(tests), { engine });
    expect(many?.message).to.match(/1001 events, the limit is 1000/);
    expect(large?.message).to.match(/larger than 1 MiB/);
    expect(long?.message?.length).to.be.lessThan(700);
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    const tests = [{ name: 'a', component: 'errors', input: { level: 'error', n: 9 }, expect: 'true' }];
    let thrown: unknown;
    await runTests(tested(tests), { engine, signal: stop.signal }).catch((error: unknown) => {
      thrown = error;
    });
    expect(thrown).to.match(/enough/);
  });
});
