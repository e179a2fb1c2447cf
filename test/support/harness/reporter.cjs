// mocha's spec reporter, which also writes what it counted, so that suites can be added up, and lengthens the limits of
// tests and hooks where suites share a machine (patience.ts).
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

const patience = Number(process.env.HEADGATE_TEST_PATIENCE ?? 1);

function lengthen(suite) {
  const hooks = [suite._beforeAll, suite._beforeEach, suite._afterEach, suite._afterAll].flat();
  for (const one of [...hooks, ...suite.tests]) one.timeout(one.timeout() * patience);
  for (const inner of suite.suites) lengthen(inner);
}

module.exports = class extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    lengthen(runner.suite);
    const skipped = [];
    const failures = [];
    runner.on('pending', (test) => skipped.push(test.fullTitle()));
    // The whole story stands in the reporter's own list; this is the line that is said again at the end of the run.
    runner.on('fail', (test, error) => {
      const reason = String(error?.stack ?? error).slice(0, 2000);
      failures.push(`${test.fullTitle()}\n    ${reason.replaceAll('\n', '\n    ')}`);
    });
    runner.once('end', () => {
      const file = process.env.HEADGATE_TEST_SUMMARY;
      if (!file) return;
      writeFileSync(file, JSON.stringify({ passed: runner.stats.passes, failures, skipped }));
    });
  }
};
