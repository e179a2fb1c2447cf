import { expect } from 'chai';
import { keptText, mergeChoices, parseKept } from '../../../web/src/app/preferences/preference-merge.ts';

const choices = (entries: Record<string, [value: string, at: number]>) =>
  new Map(Object.entries(entries).map(([key, [value, at]]) => [key, { value, at }]));

describe('preferences of two browsers', () => {
  it('takes what was chosen later elsewhere, and sends what was chosen later here', () => {
    const own = choices({ theme: ['dark', 10], rail: ['open', 40] });
    const server = choices({ theme: ['light', 20], rail: ['folded', 30] });
    expect(mergeChoices(own, server)).to.deep.equal({
      take: [['theme', { value: 'light', at: 20 }]],
      send: ['rail'],
    });
  });

  it('leaves alone what is equally old on both sides', () => {
    const same = choices({ theme: ['dark', 10] });
    expect(mergeChoices(same, same)).to.deep.equal({ take: [], send: [] });
  });

  it('takes everything into a new browser', () => {
    const server = choices({ theme: ['dark', 10] });
    expect(mergeChoices(new Map(), server).take).to.deep.equal([...server]);
  });

  it('sends what the server has not, unless it is not known when it was chosen', () => {
    const own = choices({ theme: ['dark', 10], diff: ['split', 0] });
    expect(mergeChoices(own, new Map())).to.deep.equal({ take: [], send: ['theme'] });
  });

  it('reads back what it wrote, and nothing that it did not', () => {
    const kept = { value: 'watches,owner', at: 1_800_000_000_000 };
    expect(parseKept(keptText(kept))).to.deep.equal(kept);
    for (const text of [
      '',
      'dark',
      'null',
      '[]',
      '{"value":"dark"}',
      '{"value":1,"at":1}',
      '{"value":"x","at":0}',
    ])
      expect(parseKept(text), text).to.equal(null);
  });
});
