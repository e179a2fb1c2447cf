/** One test: built first, so that every mistake in the tests is reported before the first one runs. */
import { ConfigError, collectErrors } from '../config/config-error.ts';
import type { Settings } from '../config/globals.ts';
import type { LogEvent, Metric } from '../event.ts';
import type { Logger } from '../log.ts';
import { conditionSource } from '../transforms/condition.ts';
import { toVrl } from '../transforms/metric-view.ts';
import { compileErrors, createProgram, type Verel, type VrlProgram } from '../vrl/program.ts';
import type { UnitTest } from './definition.ts';
import { checkReach, runGraph, type TestGraph } from './graph.ts';
import { inputEvent } from './input-event.ts';

export interface TestDeps {
  graph: TestGraph;
  programs: ReadonlyMap<string, VrlProgram[]>;
  settings: Settings;
  verel: Verel;
  log: Logger;
}

export interface BuiltTest {
  name: string;
  /** Gives what is wrong; nothing where it passes. */
  run(): string[];
}

/** Throws ConfigError with Vector's texts. */
export function buildTest(test: UnitTest, deps: TestDeps): BuiltTest {
  const { graph, settings, verel } = deps;
  const { name, outputs, no_outputs_from: silent } = test;
  const errors: string[] = [];
  const reported = new Set<string>(silent);
  for (const from of outputs.flatMap((output) => output.extract_from)) {
    if (reported.has(from)) {
      errors.push(`Invalid extract_from target in test '${name}': '${from}' listed in no_outputs_from`);
    } else if (!graph.outputs.has(from)) {
      errors.push(`Invalid extract_from target in test '${name}': '${from}' does not exist`);
    }
  }
  for (const from of silent) {
    if (!graph.outputs.has(from)) {
      errors.push(`Invalid no_outputs_from target in test '${name}': '${from}' does not exist`);
    }
  }
  if (errors.length > 0) throw new ConfigError(errors);

  const given = new Map<string, LogEvent[]>();
  const inputs = [...test.inputs, ...(test.input === undefined ? [] : [test.input])];
  if (inputs.length === 0) throw new ConfigError('must specify at least one input.');
  collectErrors(
    inputs.map((input, index) => () => {
      if (!graph.transforms.some(({ id }) => id === input.insert_at)) {
        throw new ConfigError(`inputs[${index}]: unable to locate target transform '${input.insert_at}'`);
      }
      const events = given.get(input.insert_at) ?? [];
      given.set(input.insert_at, [...events, inputEvent(input, settings, verel)]);
    }),
  );
  if (outputs.length === 0 && silent.length === 0) {
    throw new ConfigError('unit test must contain at least one of `outputs` or `no_outputs_from`.');
  }
  const wanted = [...outputs.flatMap((output) => output.extract_from), ...silent];
  for (const id of given.keys()) checkReach(graph, id, wanted);

  const checks = checksOf(test, deps);
  return {
    name,
    run() {
      const left = runGraph(graph, given, deps);
      return [
        ...checks.flatMap((check) => failuresOf(check, left)),
        ...silent.flatMap((from) =>
          (left.get(from)?.length ?? 0) > 0
            ? [`check for transforms ${JSON.stringify([from])} failed: expected no outputs`]
            : [],
        ),
      ];
    },
  };
}

interface Check {
  from: string[];
  /** Of each entry of `outputs` that looks at the same. */
  conditions: VrlProgram[][];
  counts: number[];
}

function checksOf({ outputs }: UnitTest, { settings, verel }: TestDeps): Check[] {
  const checks = new Map<string, Check>();
  const errors: string[] = [];
  for (const { extract_from: from, conditions = [], expected_event_count: count } of outputs) {
    const programs = conditions.map((text, index) => {
      const source = conditionSource(text, settings.globals);
      const found = compileErrors(verel, source);
      if (found.length > 0) {
        errors.push(`failed to create test condition '${index}': ${found.join('\n\n')}`);
      }
      return createProgram(verel, source);
    });
    const key = JSON.stringify(from);
    const check = checks.get(key) ?? { from, conditions: [], counts: [] };
    check.conditions.push(programs);
    if (count !== undefined) check.counts.push(count);
    checks.set(key, check);
  }
  if (errors.length > 0) throw new ConfigError(errors);
  return [...checks.values()];
}

function failuresOf({ from, conditions, counts }: Check, left: Map<string, (LogEvent | Metric)[]>): string[] {
  const names = JSON.stringify(from).replaceAll('","', '", "');
  const events = from.flatMap((name) => left.get(name) ?? []);
  const wrong = counts.filter((count) => count !== events.length);
  const failures = wrong.map(
    (count) => `check for transforms ${names} failed: expected ${count} events, received ${events.length}`,
  );
  if (events.length === 0) {
    if (counts.includes(0)) return failures;
    return [
      ...failures,
      `checks for transforms ${names} failed: no events received. Topology may be disconnected or transform is missing inputs.`,
    ];
  }
  for (const [index, programs] of conditions.entries()) {
    const unmet = programs.flatMap((program, at) => unmetBy(events, program, at));
    if (unmet.length > 0) {
      failures.push(`check[${index}] for transforms ${names} failed conditions:`, ...unmet);
    }
  }
  if (failures.length > 0) {
    const shown = events.map((event) => JSON.stringify(event)).join('\n  ');
    failures.push(`output payloads from ${names} (events encoded as JSON):\n  ${shown}`);
  }
  return failures;
}

/** A condition is met by one event; where none meets it, each says why. */
function unmetBy(events: readonly (LogEvent | Metric)[], program: VrlProgram, at: number): string[] {
  const reasons: string[] = [];
  for (const event of events) {
    const outcome = program.run(toVrl(event, 'kind' in event && 'value' in event ? 'metric' : 'log'));
    if (outcome.type === 'done' && outcome.result === true) return [];
    reasons.push(
      outcome.type === 'done'
        ? `  condition[${at}]: source execution resolved to ${JSON.stringify(outcome.result)}, but it must resolve to \`true\``
        : `  condition[${at}]: source execution failed: ${outcome.message}`,
    );
  }
  return reasons;
}
