import { expect } from 'chai';
import {
  byLevel,
  messageOf,
  optionPointer,
  problemsOf,
} from '../../../../web/src/features/pipeline-editor/model/problems.ts';
import { placeProblems } from '../../../../web/src/features/pipeline-editor/yaml/yaml-position.ts';
import { component } from './drawing.ts';

const TEXT = `sources:
  in:
    type: demo_logs
transforms:
  parse:
    type: remap
    inputs:
      - in
    source: |
      . = parse_json!(.message)
      .x = bad(
  pick:
    type: filter
    inputs: [ in ]
    condition: .level == "error" &&
`;

describe('problems of a drawing', () => {
  const node = component('= parse remap');

  const pointers: [path: string | undefined, pointer: string][] = [
    ['/transforms/parse/source', '/source'],
    ['/transforms/parse/inputs/0', '/inputs/0'],
    ['/transforms/parse', ''],
    ['/transforms/parser/source', ''],
    [undefined, ''],
  ];
  for (const [path, pointer] of pointers) {
    it(`finds the option “${pointer}” at ${path}`, () =>
      expect(optionPointer({ message: '', ...(path && { path }) }, node)).to.equal(pointer));
  }

  it('are told apart by component and by level, in their order', () => {
    const list = [
      { message: 'a', level: 'vrl', componentKey: 'parse' },
      { message: 'b', level: 'engine', componentKey: 'out' },
      { message: 'c', level: 'vrl' },
    ];
    expect(problemsOf(list, node).map(({ message }) => message)).to.deep.equal(['a']);
    expect(byLevel(list).map(({ level, problems }) => `${level} ${problems.length}`)).to.deep.equal([
      'vrl 2',
      'engine 1',
    ]);
  });

  it('speak of the catalogue where the server speaks of manifests', () => {
    expect(messageOf({ message: 'spec.sources', level: 'structure', path: '/sources' })).to.include(
      'catalogue',
    );
    expect(messageOf({ message: 'kept', level: 'vrl', path: '/sources' })).to.equal('kept');
  });

  const places: [
    reason: string,
    problem: { path?: string; line?: number; column?: number },
    line: number,
    column: number,
  ][] = [
    ['a component', { path: '/transforms/parse' }, 5, 3],
    ['an input', { path: '/transforms/parse/inputs/0' }, 8, 9],
    ['a line of a block', { path: '/transforms/parse/source', line: 2, column: 6 }, 11, 12],
    ['a place in one line', { path: '/transforms/pick/condition', line: 1, column: 8 }, 15, 23],
    ['an option', { path: '/transforms/parse/source' }, 9, 5],
    ['the nearest thing around what is left out', { path: '/sinks/out' }, 1, 1],
    ['the beginning, for what has no place', {}, 1, 1],
  ];
  for (const [reason, problem, line, column] of places) {
    it(`stand in the text at ${reason}`, () => {
      const [at] = placeProblems(TEXT, [{ message: 'm', ...problem }]);
      expect([at?.line, at?.column]).to.deep.equal([line, column]);
    });
  }
});
