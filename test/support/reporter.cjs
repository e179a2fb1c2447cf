// mocha's spec reporter, which also writes what it counted, so that suites can be added up.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const skipped = [];
    runner.on('pending', (test) => skipped.push(test.fullTitle()));
    runner.once('end', () => {
      const file = process.env.HEADGATE_TEST_SUMMARY;
      if (!file) return;
      const { passes, failures } = runner.stats;
      writeFileSync(file, JSON.stringify({ passed: passes, failed: failures, skipped }));
    });
  }
};
