import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { pointerSegments } from '../../../controller/platform/yaml/pointer.ts';
import { parseYamlTextByLibrary } from '../../../reconcilers/source/yaml/yaml-file.ts';
import { CannotEdit } from '../../../reconcilers/write-back/yaml/cannot-edit.ts';
import { type Edit, editDocument } from '../../../reconcilers/write-back/yaml/edit-document.ts';
import {
  choicesOf,
  document,
  type Json,
  json,
  scalar,
  type as typeYaml,
} from '../../support/fixtures/odd-yaml.ts';

const RUNS = 1_000;

interface Case {
  text: string;
  docIndex: number;
  value: Json;
  edit: Edit;
  /** Lines of the file that may change. Null: none; lines may come in between. */
  touched: [number, number] | null;
}

const pointersOf = (value: Json, at = ''): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => {
        const here = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        return [here, ...pointersOf(inner, here)];
      });
const at = (value: Json, pointer: string): Json =>
  pointerSegments(pointer).reduce<Json>((node, key) => (node as Record<string, Json>)[key] as Json, value);
const above = (pointer: string) => pointer.slice(0, pointer.lastIndexOf('/'));

const cases: fc.Arbitrary<Case> = fc
  .record({
    docs: fc.array(document, { minLength: 1, maxLength: 3 }),
    which: fc.nat(),
    numbers: fc.array(fc.nat(1_000), { maxLength: 200 }),
    crlf: fc.boolean(),
    bom: fc.constantFrom(false, false, true),
    ends: fc.boolean(),
    pick: fc.nat(),
    what: fc.constantFrom('set', 'replace', 'remove', 'add', 'insert', 'below'),
    scalar,
    json,
  })
  .map(({ docs, which, numbers, crlf, bom, ends, pick, what, ...given }) => {
    const choices = choicesOf(numbers);
    const docIndex = which % docs.length;
    const typed = docs.map((one) => typeYaml(one, choices));
    const value = docs[docIndex] as Json;
    const lines = typed.map(({ text }) => text.split('\n'));
    const offset = lines.slice(0, docIndex).reduce((sum, own) => sum + own.length + 1, 0);
    const { lines: spans, flow } = typed[docIndex] as (typeof typed)[number];
    /** Of the entry, or of the one that has brackets around it. */
    const spanOf = (pointer: string): [number, number] => {
      let outer = pointer;
      while (flow.has(outer)) outer = above(outer);
      const [first, last] = spans.get(outer) as [number, number];
      return [first + offset, last + offset];
    };
    const text = `${bom ? '\ufeff' : ''}${typed.map(({ text }) => text).join('\n---\n')}${ends ? '\n' : ''}`;
    const all = pointersOf(value);
    const pointer = all[pick % all.length] as string;
    const parent = above(pointer) === '' ? value : at(value, above(pointer));
    const made = (): Pick<Case, 'edit' | 'touched'> => {
      const target = at(value, pointer);
      const isCollection = typeof target === 'object' && target !== null;
      switch (what) {
        case 'set':
          return { edit: { pointer, value: given.scalar }, touched: spanOf(pointer) };
        case 'replace':
          return { edit: { pointer, value: given.json }, touched: spanOf(pointer) };
        case 'remove': {
          const only = Object.keys(parent as object).length === 1 && above(pointer) !== '';
          return { edit: { pointer, value: undefined }, touched: spanOf(only ? above(pointer) : pointer) };
        }
        case 'insert':
          if (Array.isArray(parent))
            return {
              edit: { pointer, value: given.json, insert: true },
              touched: flow.has(pointer) ? spanOf(pointer) : null,
            };
          return { edit: { pointer, value: given.scalar }, touched: spanOf(pointer) };
        case 'below':
        case 'add': {
          if (what === 'below' && target === null)
            return { edit: { pointer: `${pointer}/deep/er`, value: given.scalar }, touched: spanOf(pointer) };
          const inside = isCollection ? pointer : above(pointer);
          const there = isCollection ? target : parent;
          const added = Array.isArray(there) ? `${inside}/-` : `${inside}/added/thing`;
          const first = Object.keys(there as object)[0];
          const flowing =
            inside !== '' &&
            (first === undefined ||
              flow.has(`${inside}/${first.replaceAll('~', '~0').replaceAll('/', '~1')}`));
          return { edit: { pointer: added, value: given.json }, touched: flowing ? spanOf(inside) : null };
        }
        default:
          throw new Error(what);
      }
    };
    return { text: crlf ? text.replaceAll('\n', '\r\n') : text, docIndex, value, ...made() };
  });

const linesOf = (text: string): string[] => text.replace(/^\ufeff/, '').match(/[^\n]*\n|[^\n]+$/g) ?? [];
/** A last line may get the line break that it lacked. */
const sameLine = (left: string | undefined, right: string | undefined, isLast: boolean) =>
  left === right ||
  (isLast && left !== undefined && right?.replace(/\r?\n$/, '') === left.replace(/\r?\n$/, ''));

function keeps(before: string, after: string, touched: Case['touched']): boolean {
  const old = linesOf(before);
  const now = linesOf(after);
  const keptBefore = (count: number) =>
    old.slice(0, count).every((line, index) => sameLine(line, now[index], index === old.length - 1));
  const keptAfter = (from: number) =>
    old
      .slice(from)
      .every((line, index) =>
        sameLine(line, now[now.length - (old.length - from) + index], from + index === old.length - 1),
      );
  if (touched)
    return (
      now.length >= old.length - (touched[1] - touched[0] + 1) &&
      keptBefore(touched[0]) &&
      keptAfter(touched[1] + 1)
    );
  return Array.from({ length: old.length + 1 }, (_, k) => k).some((k) => keptBefore(k) && keptAfter(k));
}

const read = (text: string) => parseYamlTextByLibrary(text.replace(/^\ufeff/, '')).documents;

describe('any edit of any YAML', () => {
  it(`says what it is to say, and leaves every other line as it was (${RUNS} cases)`, function () {
    this.timeout(60_000);
    let refused = 0;
    fc.assert(
      fc.property(cases, ({ text, docIndex, value, edit, touched }) => {
        const before = read(text);
        expect(
          isDeepStrictEqual(before.find(({ index }) => index === docIndex)?.value, value),
          'the generator is right',
        ).to.equal(true);
        let after: string;
        try {
          after = editDocument(text, docIndex, [edit]);
        } catch (error) {
          expect(error).to.be.instanceOf(CannotEdit);
          // What an alias shares, and what would leave nothing.
          expect((error as Error).message).to.match(/shared|alias|nothing would be left/);
          refused += 1;
          return;
        }
        for (const other of before)
          if (other.index !== docIndex)
            expect(read(after).find(({ index }) => index === other.index)?.value).to.deep.equal(other.value);
        expect(
          keeps(text, after, touched),
          `lines are kept:\n${text}\n=> ${JSON.stringify(edit)} ${touched}\n${after}`,
        ).to.equal(true);
      }),
      { numRuns: RUNS, seed: Number(process.env.SEED ?? 7) },
    );
    expect(refused / RUNS, 'refused').to.be.below(0.15);
  });
});
