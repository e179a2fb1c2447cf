/** What the engine's own `test` says of cases. Those that it says nothing of are left to others. */

import { engineConfig, isReady, testerName, testName } from './engine-config.ts';
import { runEngineTest, type TestRun } from './engine-process.ts';
import { renderNoOutput, renderUnmet, renderUnwanted, showEvent } from './render-event.ts';
import {
  failed,
  outputName,
  PASSED,
  skipped,
  TESTS_TOO_LONG,
  TOO_LONG,
  type TransformCase,
  type Verdict,
  wantsNothing,
} from './test-case.ts';

type Cases = ReadonlyMap<number, TransformCase>;
type Verdicts = Map<number, Verdict>;

/** Of one suite, in milliseconds. What was not run by then is skipped. */
const ALL_MS = 30_000;

/** By place in the suite. Throws where the engine cannot be run. */
export async function runByEngine(
  bin: string,
  cases: Cases,
  global: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<Verdicts> {
  const verdicts: Verdicts = new Map();
  const until = Date.now() + ALL_MS;
  for (let left = cases; left.size > 0; ) {
    if (Date.now() > until) {
      for (const index of left.keys()) verdicts.set(index, skipped(TESTS_TOO_LONG));
      break;
    }
    const run = await runEngineTest(bin, engineConfig('asked', left, global), signal);
    const reported = resultsOf(run, left);
    const ended = new Set([...reported.keys(), ...unbuilt(run.stderr, left)]);
    if (ended.size === 0) for (const index of blamed(run.stderr, left)) ended.add(index);
    for (const [index, passed] of reported) if (passed) verdicts.set(index, PASSED);
    const unmet = new Map([...left].filter(([index]) => reported.get(index) === false));
    const shown = unmet.size > 0 ? await show(bin, unmet, global, signal) : new Map<number, string[]>();
    for (const [index, one] of unmet) verdicts.set(index, explain(one, shown.get(index)));
    const culprit = [...left.keys()].find((index) => !ended.has(index));
    if (run.late && isReady(run.stdout) && culprit !== undefined) {
      verdicts.set(culprit, failed(TOO_LONG));
      ended.add(culprit);
    }
    // Nothing of this run belongs to one of them: another checker decides.
    if (ended.size === 0) break;
    left = new Map([...left].filter(([index]) => !ended.has(index)));
  }
  return verdicts;
}

function resultsOf({ stdout }: TestRun, cases: Cases): Map<number, boolean> {
  const results = new Map<number, boolean>();
  for (const index of cases.keys()) {
    const found = new RegExp(`^test ${testName(index)} \\.\\.\\. (passed|failed)$`, 'm').exec(stdout);
    if (found) results.set(index, found[1] === 'passed');
  }
  return results;
}

/** Those that the engine could not build: it runs none as long as there are any. */
const unbuilt = (stderr: string, cases: Cases): number[] =>
  [...cases.keys()].filter((index) => stderr.includes(`Failed to build test '${testName(index)}'`));

/** Those whose transform or condition the engine does not take: it loads nothing as long as there is one. */
function blamed(stderr: string, cases: Cases): number[] {
  const found = [...stderr.matchAll(/[Tt]ransform "([^"]+)"|transforms\.([\w-]+)/g)];
  const keys = new Set(found.map(([, quoted, dotted]) => quoted ?? dotted));
  return [...cases]
    .filter(([index, { key }]) => keys.has(key) || keys.has(testerName(index)))
    .map(([index]) => index);
}

/** What came out, as JSON texts. Only for messages: a case whose part is not understood has none. */
async function show(
  bin: string,
  cases: Cases,
  global: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<Map<number, string[]>> {
  const { stdout } = await runEngineTest(bin, engineConfig('shown', cases, global), signal);
  const shown = new Map<number, string[]>();
  for (const index of cases.keys()) {
    const part = new RegExp(
      `^test ${testName(index)}(?: failed)?:\\n([\\s\\S]*?)(?=^test svc_|(?![\\s\\S]))`,
      'm',
    );
    const text = part.exec(stdout)?.[1] ?? '';
    const payloads = /^output payloads from .*:\n((?: {2}.*(?:\n|$))+)/m.exec(text)?.[1];
    if (payloads !== undefined)
      shown.set(
        index,
        payloads
          .trimEnd()
          .split('\n')
          .map((line) => line.trim()),
      );
    else if (text.includes('no events received')) shown.set(index, []);
  }
  return shown;
}

function explain(one: TransformCase, shown: readonly string[] | undefined): Verdict {
  const output = outputName(one);
  if (shown === undefined) return failed(`expect is not true of what came out of "${output}"`);
  if (shown.length === 0) return failed(renderNoOutput(output));
  const events = shown.map(parsed);
  if (wantsNothing(one)) return failed(renderUnwanted(output, events));
  if (events.length === 1) return failed(renderUnmet(output, 1, events));
  // Which of them it is the engine does not say.
  const some = events.slice(0, 3).map(showEvent).join(', ');
  return failed(
    `expect is not true of every one of the ${events.length} events that came out of "${output}": ${some}`,
  );
}

/** Logs are shown bare, or under the name of their kind. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
