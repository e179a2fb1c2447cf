/** Tests of transforms by an engine's own `test`. */
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { runTests } from '../../../controller/pipelines/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { NOWHERE, ROWS, tested, testOf } from '../../support/fixtures/transform-tests.ts';
import { Bench, engineBinary } from './support.ts';

describe('a test of a transform, by an engine', function () {
  this.timeout(60_000);
  let bin: string;
  let engine: Engine;
  before(async () => {
    bin = await engineBinary();
    engine = createEngineChecks({ engineBin: bin, log: createLogger('silent') });
  });
  after(() => engine.stop());

  it('ends as without one, all in one go', async () => {
    const results = await runTests(tested(ROWS.map(testOf)), { engine });
    const wrong = results.filter(({ status, message }, index) => {
      const { fails } = ROWS[index]!;
      return fails === null ? status !== 'passed' : status !== 'failed' || !fails.test(message ?? '');
    });
    expect(wrong).to.deep.equal([]);
    expect(JSON.stringify(results)).not.to.include('hunter2');
  });

  it('runs what only an engine can, beside what it does not know', async () => {
    const once = { name: 'once', component: 'once', input: [{ a: 1 }, { a: 1 }], expect: '.a == 1' };
    const results = await runTests(tested([...NOWHERE.map(testOf), once]), { engine });
    expect(results.at(-1)).to.include({ status: 'passed' });
    for (const [index, { skipped }] of NOWHERE.entries()) {
      expect(results[index]).to.include({ status: 'skipped' });
      expect(results[index]?.message).to.match(skipped);
    }
  });

  it('leaves no process and no file behind', async () => {
    const slow = { name: 'slow', component: 'endless', input: { other: 1 }, expect: '.n == 3' };
    await runTests(tested([slow]), { engine });
    const table = execFileSync('ps', ['-eo', 'args=']).toString('utf8').split('\n');
    expect(table.filter((line) => line.startsWith(`${bin} test`))).to.deep.equal([]);
    const open = execFileSync('sh', ['-c', 'ls -l /proc/$PPID/fd 2>/dev/null || true']).toString('utf8');
    expect(open).not.to.include('headgate-test-');
  });

  it('leaves it to the compiler at hand where the engine cannot be run or says what nobody understands', async () => {
    const bench = new Bench();
    try {
      for (const script of ['exit 1', 'echo; echo nonsense', 'kill -9 $$']) {
        const broken = bench.file(`broken-${script.length}`, `#!/bin/sh\n${script}\n`);
        chmodSync(broken, 0o755);
        for (const engineBin of [broken, bench.path('none')]) {
          const other = createEngineChecks({ engineBin, log: createLogger('silent') });
          const test = { name: 'a', component: 'errors', input: { level: 'error' }, expect: 'true' };
          const results = await runTests(tested([test]), { engine: other });
          await other.stop();
          expect(results[0]).to.include({ status: 'passed' });
        }
      }
    } finally {
      bench.dispose();
    }
  });
});
