/** The tests that a pipeline's manifest describes: what goes into a transform, and what must be true of what comes out. */
import { closest, distance } from 'fastest-levenshtein';
import type { TestResult } from '../../../schemas/api/git-plan.ts';
import type { PipelineSpec } from '../../../schemas/manifests/index.ts';
import type { EngineChecks, TransformCase, Verdict } from '../engine/index.ts';
import { type Component, componentsOf, type Definition, outputsOf } from './definition.ts';

export type TransformTest = PipelineSpec['tests'][number];

export interface TestOptions {
  engine: Pick<EngineChecks, 'testTransforms'>;
  signal?: AbortSignal;
  /** False leaves the engine out, which is a process for every pipeline: what is known of VRL here judges alone. */
  useEngine?: boolean;
}

/** Of one test. */
const MAX_EVENTS = 1_000;
const MAX_INPUT_CHARS = 1024 * 1024;
/** VRL reads no deeper. */
const MAX_DEPTH = 64;
const MESSAGE_CHARS = 2_000;

/** One result a test, in order; `line` is for whoever knows the file. Never throws for what a test says or does. */
export async function runTests(
  definition: Definition & { tests: readonly TransformTest[] },
  { engine, signal, useEngine = true }: TestOptions,
): Promise<TestResult[]> {
  const components = componentsOf(definition);
  const made = definition.tests.map((test) => caseOf(test, components));
  const cases = made.flatMap((one) => (typeof one === 'string' ? [] : [one]));
  const verdicts =
    cases.length === 0
      ? []
      : await engine.testTransforms(
          { cases, global: definition.global },
          { useEngine, ...(signal ? { signal } : {}) },
        );
  const next = verdicts[Symbol.iterator]();
  return definition.tests.map(({ name, component }, index) => {
    const one = made[index];
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

/** Or what is wrong with the test itself. */
function caseOf(test: TransformTest, components: readonly Component[]): TransformCase | string {
  const transforms = components.filter(({ section }) => section === 'transforms');
  const [key = '', ...rest] = test.component.split('.');
  const transform = transforms.find((one) => one.key === key);
  if (!transform) return explainUnknown(key, transforms, components);
  const port = rest.length > 0 ? rest.join('.') : null;
  const { plain, named } = outputsOf(transform);
  if (port === null ? !plain : named !== null && !named.includes(port)) {
    const outputs = [...(plain ? [key] : []), ...(named ?? []).map((name) => `${key}.${name}`)];
    const what = port === null ? 'no output without a name' : `no output "${port}"`;
    return `${transform.type} "${key}" has ${what}; name ${outputs.join(', ')}`;
  }
  const events = Array.isArray(test.input) ? (test.input as unknown[]) : [test.input];
  const fault = faultOf(events);
  if (fault !== null) return fault;
  const { type, options } = transform;
  return { key, type, options, port, events: events as object[], expect: test.expect };
}

function explainUnknown(
  key: string,
  transforms: readonly Component[],
  components: readonly Component[],
): string {
  const other = components.find((one) => one.key === key);
  if (other) return `"${key}" is no transform; only transforms can be tested`;
  const keys = transforms.map((one) => one.key);
  const near = keys.length > 0 ? closest(key, keys) : '';
  const hint =
    near !== '' && distance(key, near) <= Math.max(2, key.length / 3)
      ? `did you mean "${near}"?`
      : `there are: ${keys.slice(0, 10).join(', ') || 'none'}`;
  return `there is no transform "${key}"; ${hint}`;
}

function faultOf(events: readonly unknown[]): string | null {
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
