import { writeFileSync } from 'node:fs';
import type { Command } from '../cli.ts';
import { buildErrors } from '../config/compile.ts';
import { ConfigError } from '../config/config-error.ts';
import { readSettings } from '../config/globals.ts';
import { ConfigFileMissing, loadConfigs } from '../config/load.ts';
import { EXIT_CONFIG, EXIT_OK } from '../exit-codes.ts';
import type { Logger } from '../log.ts';
import { compileTransforms } from '../vrl/compile-transforms.ts';
import { loadVerel } from '../vrl/program.ts';
import { readGraph } from './graph.ts';
import { junitReport, type TestOutcome } from './junit.ts';
import { type BuiltTest, buildTest } from './unit-test.ts';

export interface TestCommandDeps {
  env: Record<string, string | undefined>;
  log: Logger;
  /** Receives line by line, as tests end, so that a slow test is visible. */
  write(text: string): void;
  complain(text: string): void;
}

/** Runs the unit tests of a configuration as Vector's `test` does and gives the exit code. */
export async function test(
  command: Extract<Command, { kind: 'test' }>,
  deps: TestCommandDeps,
): Promise<number> {
  deps.write('Running tests\n');
  let tests: BuiltTest[];
  try {
    tests = await build(command, deps);
  } catch (error) {
    if (error instanceof ConfigFileMissing) {
      deps.log.error('Config file not found in path.', { path: JSON.stringify(error.path) });
      return EXIT_CONFIG;
    }
    if (!(error instanceof ConfigError)) throw error;
    deps.complain(`Failed to execute tests:\n\n${error.messages.join('\n\n')}\n`);
    return EXIT_CONFIG;
  }
  if (tests.length === 0) deps.write('No tests found.\n');
  const outcomes = tests.map(({ name, run }): TestOutcome => {
    const started = performance.now();
    const failures = run();
    deps.write(`test ${name} ... ${failures.length > 0 ? 'failed' : 'passed'}\n`);
    return { name, failures, seconds: (performance.now() - started) / 1000 };
  });
  const failed = outcomes.filter(({ failures }) => failures.length > 0);
  if (failed.length > 0) deps.write('\nfailures:\n');
  for (const { name, failures } of failed) {
    deps.write(`\ntest ${name} failed:\n\n${failures.map((failure) => `${failure}\n`).join('\n')}\n`);
  }
  if (command.junitReport !== undefined) writeFileSync(command.junitReport, junitReport(outcomes));
  return failed.length > 0 ? EXIT_CONFIG : EXIT_OK;
}

async function build(
  { configs, interpolate }: Extract<Command, { kind: 'test' }>,
  { env, log }: TestCommandDeps,
): Promise<BuiltTest[]> {
  const merged = loadConfigs({
    paths: configs,
    interpolate,
    env,
    onSkipped: (path, reason) =>
      log.error('Error opening config file.', { error: reason, path: JSON.stringify(path) }),
  });
  const settings = readSettings(merged.global, env);
  if (settings.tests.length === 0) return [];
  const graph = readGraph(merged, settings);
  const verel = await loadVerel();
  const unbuilt = buildErrors('Transform', graph.transforms, settings.globals);
  if (unbuilt.length > 0) throw new ConfigError(unbuilt);
  const programs = await compileTransforms(graph);
  const tests: BuiltTest[] = [];
  const errors: string[] = [];
  for (const one of settings.tests) {
    try {
      tests.push(buildTest(one, { graph, programs, settings, verel, log }));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const reasons = error.messages.join('\n').replaceAll('\n', '\n  ');
      errors.push(`Failed to build test '${one.name}':\n  ${reasons}`);
    }
  }
  if (errors.length > 0) throw new ConfigError(errors);
  return tests;
}
