/** Pipeline definitions for tests: short to write, and made at random but sound. */
import fc from 'fast-check';
import type { Definition } from '../../controller/pipelines/definition.ts';

export function definition(more: Partial<Definition> = {}): Definition {
  return {
    sources: {},
    transforms: {},
    sinks: {},
    global: {},
    components: {},
    logLevel: 'info',
    deployed: true,
    dependsOn: [],
    ...more,
  };
}

const optionValue = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'b'), fc.string()),
);
const options = fc.dictionary(fc.constantFrom('include', 'condition', 'note', 'limit'), optionValue);

/** A definition whose every input names an output that there is, without cycles; some components are switched off. */
export const soundDefinition: fc.Arbitrary<Definition> = fc
  .record({
    sources: fc.uniqueArray(fc.constantFrom('s1', 's2', 's3'), { minLength: 1 }),
    transforms: fc.uniqueArray(fc.constantFrom('t1', 't2', 't3', 't4')),
    sinks: fc.uniqueArray(fc.constantFrom('k1', 'k2', 'k3'), { minLength: 1 }),
    picks: fc.array(fc.nat(99), { minLength: 40, maxLength: 40 }),
    options: fc.array(options, { minLength: 10, maxLength: 10 }),
    global: fc.dictionary(fc.constantFrom('data_dir', 'timezone'), fc.string({ minLength: 1 })),
    disabled: fc.subarray(['s1', 't1', 't2', 'k1']),
  })
  .map((made) => {
    const pick = () => made.picks.pop() ?? 0;
    const option = () => made.options.pop() ?? {};
    const outputs: string[] = [...made.sources];
    const inputs = () => {
      const count = 1 + (pick() % 2);
      return [...new Set(Array.from({ length: count }, () => outputs[pick() % outputs.length] ?? ''))];
    };
    const sources = Object.fromEntries(made.sources.map((key) => [key, { type: 'demo_logs', ...option() }]));
    const transforms = Object.fromEntries(
      made.transforms.map((key) => {
        const isRoute = pick() % 3 === 0;
        const from = inputs();
        outputs.push(...(isRoute ? [`${key}.errors`, `${key}._unmatched`] : [key]));
        return [
          key,
          isRoute
            ? { type: 'route', inputs: from, ...option(), route: { errors: 'true' } }
            : { type: 'filter', inputs: from, ...option() },
        ];
      }),
    );
    const sinks = Object.fromEntries(
      made.sinks.map((key) => [key, { type: 'blackhole', inputs: inputs(), ...option() }]),
    );
    const exists: string[] = [...made.sources, ...made.transforms, ...made.sinks];
    return definition({
      sources,
      transforms,
      sinks,
      global: made.global,
      components: Object.fromEntries(
        made.disabled.filter((key) => exists.includes(key)).map((key) => [key, { disabled: true }]),
      ),
    });
  });
