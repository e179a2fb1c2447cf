// mocha's spec reporter, which also writes what it counted, so that suites can be added up.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
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
