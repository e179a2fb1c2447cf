import { expect } from 'chai';
import { type StoredDraft, useDraft } from '../../../web/src/ui/form/use-draft.ts';
import { rendersOf } from '../../../web/static-markup.ts';

interface Settings {
  name: string;
  days: string;
  groups: readonly string[];
  password: string;
}
const STORED: Settings = { name: 'one', days: '30', groups: ['a', 'b'], password: '' };

type Act = (form: StoredDraft<Settings>) => void;
const nothing: Act = () => {};

/** `changes` by render, each made of its own objects, as forms make what is stored. */
const draftsOf = (changes: readonly Partial<Settings>[], acts: readonly Act[]) =>
  rendersOf((render) => useDraft(structuredClone({ ...STORED, ...changes[render] })), acts);

describe('the draft of a form that stays on its page', () => {
  it('is what is stored, and follows it, until something is typed', () => {
    const [first, then] = draftsOf([{}, { name: 'two', groups: ['c'] }], [nothing]);
    expect(first).to.deep.include({ draft: STORED, isChanged: false });
    expect(then).to.deep.include({ draft: { ...STORED, name: 'two', groups: ['c'] }, isChanged: false });
  });

  it('holds what is typed over what others save, field by field', () => {
    const [, typed, then] = draftsOf(
      [{}, {}, { name: 'two', days: '60' }],
      [({ set }) => set({ days: '7', password: 'secret' }), nothing],
    );
    expect(typed).to.deep.include({ draft: { ...STORED, days: '7', password: 'secret' }, isChanged: true });
    expect(then?.draft).to.deep.equal({ ...STORED, name: 'two', days: '7', password: 'secret' });
  });

  it('takes changes of one moment together', () => {
    const [, typed] = draftsOf(
      [],
      [
        ({ set }) => {
          set({ name: 'typed' });
          set({ days: '7' });
        },
      ],
    );
    expect(typed?.draft).to.deep.include({ name: 'typed', days: '7' });
  });

  it('lets a field follow again that was put back, a list by what it holds', () => {
    const [, typed, back, then] = draftsOf(
      [{}, {}, {}, { groups: ['c'] }],
      [({ set }) => set({ groups: ['a'] }), ({ set }) => set({ groups: ['a', 'b'] }), nothing],
    );
    expect(typed?.isChanged).to.equal(true);
    expect(back).to.deep.include({ draft: STORED, isChanged: false });
    expect(then?.draft.groups).to.deep.equal(['c']);
  });

  it('lets a field follow again that was saved, or that somebody else saved alike', () => {
    const [, typed, saved, then] = draftsOf(
      [{}, {}, { name: 'typed' }, { name: 'two' }],
      [({ set }) => set({ name: 'typed' }), nothing, nothing],
    );
    expect(typed?.isChanged).to.equal(true);
    expect(saved).to.deep.include({ draft: { ...STORED, name: 'typed' }, isChanged: false });
    expect(then?.draft.name).to.equal('two');
  });

  it('forgets what was typed where it is reset', () => {
    const [, , reset] = draftsOf(
      [],
      [({ set }) => set({ name: 'typed ', password: 'secret' }), (form) => form.reset()],
    );
    expect(reset).to.deep.include({ draft: STORED, isChanged: false });
  });

  it('keeps what was typed while it was sent, and forgets what was sent', () => {
    const [, , , reset] = draftsOf(
      [],
      [
        ({ set }) => set({ name: 'typed ', password: 'secret' }),
        ({ sending, set }) => {
          sending(() => 'sent')();
          set({ name: 'typed on', days: '7' });
        },
        (form) => form.reset(),
      ],
    );
    expect(reset).to.deep.include({ draft: { ...STORED, name: 'typed on', days: '7' }, isChanged: true });
  });
});
