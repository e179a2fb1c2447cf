import { expect } from 'chai';
import { Claims } from '../../../reconcilers/source/scope/claims.ts';

describe('Claims', () => {
  it('are contested while two stand, and no longer', () => {
    const claims = new Claims();
    for (const key of ['a', 'b', 'a', 'a']) claims.add(key);
    expect([claims.contested, claims.isContested('a'), claims.isContested('b')]).to.deep.equal([
      true,
      true,
      false,
    ]);
    claims.remove('a');
    expect(claims.isContested('a')).to.equal(true);
    claims.remove('a');
    expect([claims.contested, claims.isContested('a')]).to.deep.equal([false, false]);
    claims.add('a');
    expect(claims.isContested('a')).to.equal(true);
  });
});
