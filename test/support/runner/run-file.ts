/** Runs one test file in a Mocha of its own, in this process. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';
import { PATIENCE } from '../harness/patience.ts';
import { failureScene } from './failure-scene.ts';
import type { Outcome } from './messages.ts';

const ROOT = join(import.meta.dirname, '../../..');
const OPTIONS = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as { timeout: number };

/** A reporter that prints nothing: results are taken from the runner's events. */
class Silent {}

export async function runFile(file: string): Promise<Outcome> {
  const mocha = new Mocha({ timeout: OPTIONS.timeout, forbidOnly: true, reporter: Silent as never });
  mocha.addFile(join(ROOT, file));
  const outcome: Outcome = { passed: 0, failures: [], skipped: [] };
  mocha.rootHooks({
    async afterEach(this: Mocha.Context) {
      if (this.currentTest?.state === 'failed')
        outcome.failures.push(`${outcome.failures.pop()}\n${await failureScene()}`);
    },
  });
  try {
    await mocha.loadFilesAsync();
    lengthenTimeouts(mocha.suite as unknown as SuiteWithHooks);
    await run(mocha, outcome);
  } catch (error) {
    outcome.failures.push(`did not load: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    mocha.dispose();
  }
  if (outcome.passed + outcome.failures.length + outcome.skipped.length === 0)
    outcome.failures.push('has no case');
  return outcome;
}

function run(mocha: Mocha, outcome: Outcome): Promise<void> {
  return new Promise((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on('pass', () => (outcome.passed += 1));
    runner.on('pending', (test) => outcome.skipped.push(test.fullTitle()));
    runner.on('fail', (test, error: Error) => {
      test.err = error;
      outcome.failures.push(describeFailure(test));
    });
  });
}

/** As Mocha's own reporters print it. */
function describeFailure(test: Mocha.Test): string {
  const { Base } = Mocha.reporters;
  const log = Base.consoleLog;
  const lines: string[] = [];
  Base.consoleLog = (...parts: unknown[]) => void lines.push(format(...parts));
  try {
    Base.list([test]);
  } finally {
    Base.consoleLog = log;
  }
  return lines.join('\n').replace(/^\s*1\) /, '');
}

/** A suite of Mocha with its hooks, which the types of Mocha call private. */
interface SuiteWithHooks {
  tests: Mocha.Test[];
  suites: SuiteWithHooks[];
  _beforeAll: Mocha.Hook[];
  _beforeEach: Mocha.Hook[];
  _afterEach: Mocha.Hook[];
  _afterAll: Mocha.Hook[];
}

/** A machine that runs several files at once is slower: no case may fail by that. */
function lengthenTimeouts(suite: SuiteWithHooks): void {
  const hooks = [suite._beforeAll, suite._beforeEach, suite._afterEach, suite._afterAll].flat();
  for (const one of [...hooks, ...suite.tests]) one.timeout(one.timeout() * PATIENCE);
  for (const inner of suite.suites) lengthenTimeouts(inner);
}
