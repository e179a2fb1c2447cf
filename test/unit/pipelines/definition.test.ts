import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Component,
  componentsOf,
  globMatcher,
  outputsOf,
  resolveInput,
} from '../../../controller/pipelines/definition/definition.ts';
import { definition, soundDefinition } from '../../support/fixtures/definition.ts';

const component = (type: string, options: Record<string, unknown> = {}): Component => ({
  key: 'x',
  section: 'transforms',
  type,
  inputs: [],
  options,
  disabled: false,
});

describe('the outputs of a component', () => {
  const rows: { reason: string; of: Component; plain: boolean; named: string[] | null }[] = [
    {
      reason: 'a route has its routes and the rest',
      of: component('route', { route: { errors: 'a', slow: 'b' } }),
      plain: false,
      named: ['errors', 'slow', '_unmatched'],
    },
    {
      reason: 'a route that drops the rest has only its routes',
      of: component('route', { route: { errors: 'a' }, reroute_unmatched: false }),
      plain: false,
      named: ['errors'],
    },
    {
      reason: 'an exclusive route has its list and the rest',
      of: component('exclusive_route', { routes: [{ name: 'a' }, { name: 'b' }] }),
      plain: false,
      named: ['a', 'b', '_unmatched'],
    },
    { reason: 'a remap has one', of: component('remap'), plain: true, named: [] },
    {
      reason: 'a remap that reroutes has a second',
      of: component('remap', { reroute_dropped: true }),
      plain: true,
      named: ['dropped'],
    },
    { reason: 'a file source has one', of: component('file'), plain: true, named: [] },
    {
      reason: 'of a type that is not known here, any name is taken',
      of: component('aggregate'),
      plain: true,
      named: null,
    },
  ];
  for (const { reason, of, plain, named } of rows)
    it(reason, () => expect(outputsOf(of)).to.deep.equal({ plain, named }));
});

describe('an entry of inputs', () => {
  const components = componentsOf(
    definition({
      sources: { app: { type: 'file' }, api: { type: 'file' } },
      transforms: {
        split: { type: 'route', inputs: ['app'], route: { errors: 'true' } },
        sums: { type: 'aggregate', inputs: ['app'] },
      },
      sinks: { archive: { type: 'file', inputs: ['app'] } },
    }),
  );
  const rows: { entry: string; reason: string; found: string[] }[] = [
    { entry: 'app', reason: 'names a component', found: ['app'] },
    { entry: 'split.errors', reason: 'names an output', found: ['split.errors'] },
    { entry: 'split', reason: 'names a component that has only named outputs', found: [] },
    { entry: 'split.slow', reason: 'names an output that there is not', found: [] },
    { entry: 'app.errors', reason: 'names an output of one that has none', found: [] },
    {
      entry: 'sums.anything',
      reason: 'names an output of a type that is not known here',
      found: ['sums.anything'],
    },
    { entry: 'archive', reason: 'names a sink', found: [] },
    { entry: 'nobody', reason: 'names nothing', found: [] },
    { entry: 'a*', reason: 'is a wildcard', found: ['app', 'api'] },
    { entry: 'ap?', reason: 'is a wildcard of one letter', found: ['app', 'api'] },
    { entry: 'split.*', reason: 'is a wildcard over outputs', found: ['split.errors', 'split._unmatched'] },
    {
      entry: '*',
      reason: 'is everything but the sinks',
      found: ['app', 'api', 'split.errors', 'split._unmatched', 'sums'],
    },
    { entry: 'svc_*', reason: 'reaches for what the agent adds', found: [] },
    { entry: '', reason: 'is empty', found: [] },
    { entry: 'constructor', reason: 'is a word of the language', found: [] },
  ];
  for (const { entry, reason, found } of rows) {
    it(`"${entry}" ${reason}: ${found.join(', ') || 'nothing'}`, () => {
      const inputs = resolveInput(entry, components);
      expect(inputs.map(({ key, port }) => (port === null ? key : `${key}.${port}`))).to.deep.equal(found);
    });
  }

  it('never stands for a sink or for an output that there is not, whatever the pattern', () => {
    fc.assert(
      fc.property(
        soundDefinition,
        fc.string({ unit: fc.constantFrom('*', '?', 's', 't', 'k', '1', '2', '.') }),
        (made, entry) => {
          const all = componentsOf(made);
          for (const { key, port } of resolveInput(entry, all)) {
            const source = all.find((one) => one.key === key);
            expect(source?.section).to.be.oneOf(['sources', 'transforms']);
            const outputs = outputsOf(source as Component);
            expect(port === null ? outputs.plain : (outputs.named?.includes(port) ?? true)).to.equal(true);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the wildcard', () => {
  it('matches as a regular expression of the same meaning would', () => {
    const letters = { unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 };
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 6 }),
        fc.string(letters),
        (pattern, text) => {
          const same = new RegExp(
            `^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`,
          );
          expect(globMatcher(pattern)(text)).to.equal(same.test(text));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  // One that tries every way of matching would never come to its end.
  it('comes to the end of a pattern made to take long', () => {
    expect(globMatcher(`${'*a'.repeat(40)}b`)('a'.repeat(2_000))).to.equal(false);
  });
});
