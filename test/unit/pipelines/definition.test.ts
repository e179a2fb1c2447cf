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
  const rows: [reason: string, of: Component, plain: boolean, named: string[] | null][] = [
    [
      'a route has its routes and the rest',
      component('route', { route: { errors: 'a', slow: 'b' } }),
      false,
      ['errors', 'slow', '_unmatched'],
    ],
    [
      'a route that drops the rest has only its routes',
      component('route', { route: { errors: 'a' }, reroute_unmatched: false }),
      false,
      ['errors'],
    ],
    [
      'an exclusive route has its list and the rest',
      component('exclusive_route', { routes: [{ name: 'a' }, { name: 'b' }] }),
      false,
      ['a', 'b', '_unmatched'],
    ],
    ['a remap has one', component('remap'), true, []],
    ['a remap that reroutes has a second', component('remap', { reroute_dropped: true }), true, ['dropped']],
    ['a file source has one', component('file'), true, []],
    ['of a type that is not known here, any name is taken', component('aggregate'), true, null],
  ];
  for (const [reason, of, plain, named] of rows)
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
  const rows: [entry: string, reason: string, found: string[]][] = [
    ['app', 'names a component', ['app']],
    ['split.errors', 'names an output', ['split.errors']],
    ['split', 'names a component that has only named outputs', []],
    ['split.slow', 'names an output that there is not', []],
    ['app.errors', 'names an output of one that has none', []],
    ['sums.anything', 'names an output of a type that is not known here', ['sums.anything']],
    ['archive', 'names a sink', []],
    ['nobody', 'names nothing', []],
    ['a*', 'is a wildcard', ['app', 'api']],
    ['ap?', 'is a wildcard of one letter', ['app', 'api']],
    ['split.*', 'is a wildcard over outputs', ['split.errors', 'split._unmatched']],
    ['*', 'is everything but the sinks', ['app', 'api', 'split.errors', 'split._unmatched', 'sums']],
    ['svc_*', 'reaches for what the agent adds', []],
    ['', 'is empty', []],
    ['constructor', 'is a word of the language', []],
  ];
  for (const [entry, reason, found] of rows) {
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
