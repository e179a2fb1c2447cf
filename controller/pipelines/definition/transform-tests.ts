/** Runs the tests of a pipeline's manifest: the input events of a transform, and a condition on its output. */
import { closest, distance } from 'fastest-levenshtein';
import type { TestResult } from '../../../schemas/api/delivery/git-plan.ts';
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import type { EngineChecks, TransformCase, Verdict } from '../engine/index.ts';
import { type Component, componentsOf, type Definition, outputsOf } from './definition.ts';

export type TransformTest = PipelineSpec['tests'][number];

export interface TestOptions {
  engine: Pick<EngineChecks, 'testTransforms'>;
  signal?: AbortSignal;
  /** False skips the engine, which needs a process per pipeline; the built-in VRL compiler then decides alone. */
  useEngine?: boolean;
}

/** Events per test. */
const MAX_EVENTS = 1_000;
const MAX_INPUT_CHARS = 1024 * 1024;
/** VRL reads no deeper. */
const MAX_DEPTH = 64;
const MESSAGE_CHARS = 2_000;

/** Returns one result per test, in order; the caller fills in `line`. Never throws because of a test. */
export async function runTests(
  definition: Definition & { tests: readonly TransformTest[] },
  { engine, signal, useEngine = true }: TestOptions,
): Promise<TestResult[]> {
  const components = componentsOf(definition);
  const built = definition.tests.map((test) => buildCase(test, components));
  const cases = built.flatMap((test) => (typeof test === 'string' ? [] : [test]));
  const verdicts =
    cases.length === 0
      ? []
      : await engine.testTransforms(
          { cases, global: definition.global },
          { useEngine, ...(signal ? { signal } : {}) },
        );
  const next = verdicts[Symbol.iterator]();
  return definition.tests.map(({ name, component }, index) => {
    const one = built[index];
    const verdict: Verdict =
      typeof one === 'string' ? { status: 'failed', message: one } : (next.next().value as Verdict);
    return {
      name,
      component,
      status: verdict.status,
      message: verdict.message?.slice(0, MESSAGE_CHARS) ?? null,
      line: null,
    };
  });
}

/** Builds the case of a test, or returns what is wrong with the test. */
function buildCase(test: TransformTest, components: readonly Component[]): TransformCase | string {
  const transforms = components.filter(({ section }) => section === 'transforms');
  const [key = '', ...rest] = test.component.split('.');
  const transform = transforms.find((transform) => transform.key === key);
  if (!transform) return explainUnknown(key, transforms, components);
  const port = rest.length > 0 ? rest.join('.') : null;
  const { plain, named } = outputsOf(transform);
  if (port === null ? !plain : named !== null && !named.includes(port)) {
    const outputs = [...(plain ? [key] : []), ...(named ?? []).map((name) => `${key}.${name}`)];
    const what = port === null ? 'no output without a name' : `no output "${port}"`;
    return `${transform.type} "${key}" has ${what}; name ${outputs.join(', ')}`;
  }
  const events = Array.isArray(test.input) ? (test.input as unknown[]) : [test.input];
  const fault = findInputFault(events);
  if (fault !== null) return fault;
  const { type, options } = transform;
  return { key, type, options, port, events: events as object[], expect: test.expect };
}

function explainUnknown(
  key: string,
  transforms: readonly Component[],
  components: readonly Component[],
): string {
  const other = components.find((component) => component.key === key);
  if (other) return `"${key}" is not a transform; only transforms can be tested`;
  const keys = transforms.map((transform) => transform.key);
  const near = keys.length > 0 ? closest(key, keys) : '';
  const hint =
    near !== '' && distance(key, near) <= Math.max(2, key.length / 3)
      ? `did you mean "${near}"?`
      : `there are: ${keys.slice(0, 10).join(', ') || 'none'}`;
  return `there is no transform "${key}"; ${hint}`;
}

function findInputFault(events: readonly unknown[]): string | null {
  if (events.length === 0) return 'input is an empty list; write at least one event';
  if (events.length > MAX_EVENTS) return `input has ${events.length} events, the limit is ${MAX_EVENTS}`;
  for (const event of events) {
    if (typeof event !== 'object' || event === null || Array.isArray(event)) {
      const kind = event === null ? 'null' : Array.isArray(event) ? 'a list' : `a ${typeof event}`;
      return `an event of input is ${kind} and not an object; write for example {message: hello}`;
    }
    if (isDeeper(event, MAX_DEPTH)) return `an event of input is nested more than ${MAX_DEPTH} levels deep`;
  }
  if (JSON.stringify(events).length > MAX_INPUT_CHARS) return 'input is larger than 1 MiB';
  return null;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}
