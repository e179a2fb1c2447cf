import { expect } from 'chai';
import { parseFilter } from '../../../controller/identity/scim/filter/filter.ts';
import { matchesFilter } from '../../../controller/identity/scim/filter/filter-match.ts';

const EMAIL = { value: 'Ada@work.example.org', type: 'work', display: undefined, primary: true };

describe('a filter on one value of an attribute', () => {
  for (const [filter, matches] of [
    ['value eq "ada@WORK.example.org"', true],
    ['value ne "ada@work.example.org"', false],
    ['value co "work"', true],
    ['value sw "ada"', true],
    ['value sw "work"', false],
    ['value ew "example.org"', true],
    ['value ew "ada"', false],
    ['type gt "home"', true],
    ['type gt "work"', false],
    ['type ge "work"', true],
    ['type lt "work"', false],
    ['type le "work"', true],
    ['display pr', false],
    ['display ne "x"', true],
    ['display eq "x"', false],
    ['primary eq true', true],
    ['primary ne true', false],
    ['type eq "work" and not (primary eq true)', false],
    ['type eq "home" or primary eq true', true],
  ] as const)
    it(`${filter} is ${matches}`, () => expect(matchesFilter(parseFilter(filter), EMAIL)).to.equal(matches));

  it('rejects an attribute that the value does not have', () => {
    expect(() => matchesFilter(parseFilter('colour eq "red"'), EMAIL)).to.throw(
      'colour is not one of its attributes',
    );
  });
});
