/** Random sequences of edits with passes between them, as values that shrink: an edit that is taken out leaves the others possible. */
import fc from 'fast-check';
import type { EditName } from './edits.ts';

export interface EditStep {
  edit: EditName | 'revert' | 'setBack';
  /** How many of the last commits are thrown away first, by a forced push. */
  rewrites: number;
  a: number;
  b: number;
  c: number;
  /** What happens once it is committed. */
  passes: Passes;
}
export type Passes =
  | { type: 'nothing' | 'pass' | 'pass twice' | 'three passes at once' | 'look' | 'forget' }
  /** Signals to the run loop that nobody waits for. */
  | { type: 'wake'; times: number }
  /** Ends at the transaction of this number, from 1: by its signal, or because another controller leads. */
  | { type: 'stopped pass' | 'fenced pass'; at: number };

export interface Sequence {
  /** How many manifests are there at first. */
  start: number;
  steps: EditStep[];
}

const EDIT: fc.Arbitrary<EditStep['edit']> = fc.constantFrom(
  'create',
  'create',
  'create',
  'change',
  'change',
  'changeShared',
  'include',
  'touch',
  'touch',
  'identify',
  'renameByUid',
  'renameByUid',
  'renameByPreviousName',
  'renameByPreviousName',
  'renameWithoutTrace',
  'changeCase',
  'swapNames',
  'swapNames',
  'moveFile',
  'moveDocument',
  'moveDocument',
  'reorder',
  'delete',
  'delete',
  'deleteFolderButOne',
  'deleteAll',
  'breakDocument',
  'breakDocument',
  'breakFile',
  'duplicateName',
  'duplicateUid',
  'fix',
  'fix',
  'depend',
  'depend',
  'dependNoMore',
  'deploy',
  'suspend',
  'prunePolicy',
  'revert',
  'revert',
  'setBack',
);

const PASSES: fc.Arbitrary<Passes> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Passes>({ type: 'pass' }) },
  { weight: 4, arbitrary: fc.constant<Passes>({ type: 'nothing' }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Passes>(
      { type: 'pass twice' },
      { type: 'three passes at once' },
      { type: 'look' },
      { type: 'forget' },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('wake' as const), times: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('stopped pass' as const, 'fenced pass' as const),
      at: fc.integer({ min: 1, max: 5 }),
    }),
  },
);

const REWRITES = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) },
);
const CHOICE = fc.nat({ max: 11 });

export const sequence: fc.Arbitrary<Sequence> = fc.record({
  start: fc.integer({ min: 1, max: 6 }),
  steps: fc.array(
    fc.record({ edit: EDIT, rewrites: REWRITES, a: CHOICE, b: CHOICE, c: CHOICE, passes: PASSES }),
    {
      minLength: 3,
      maxLength: 15,
      size: 'max',
    },
  ),
});
