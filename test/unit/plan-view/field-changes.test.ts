import { expect } from 'chai';
import { fieldChanges, MAX_FIELDS } from '../../../reconcilers/plan-view/field-changes.ts';

const told = (before: object, after: object) =>
  fieldChanges(before, after).map(({ pointer, before, after }) => `${pointer}: ${before} → ${after}`);

describe('the fields in which two specs differ', () => {
  it('are told as deep as they differ', () => {
    expect(
      told(
        { sources: { a: { type: 'file', include: ['/a'] } }, deployed: true },
        { sources: { a: { type: 'file', include: ['/b'] }, 'x/y~z': { type: 'exec' } }, deployed: true },
      ),
    ).to.deep.equal(['/sources/a/include: ["/a"] → ["/b"]', '/sources/x~1y~0z: null → {"type":"exec"}']);
  });

  it('go item by item through lists of objects that are equally long', () => {
    expect(
      told({ routes: [{ name: 'a' }, { name: 'b' }] }, { routes: [{ name: 'a' }, { name: 'c' }] }),
    ).to.deep.equal(['/routes/1/name: "b" → "c"']);
    expect(told({ routes: [{ name: 'a' }] }, { routes: [{ name: 'a' }, { name: 'c' }] })).to.have.length(1);
  });

  it('do not depend on the order of keys', () => {
    expect(told({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).to.deep.equal([]);
  });

  it('blank what looks like a credential, on both sides, and still differ', () => {
    const [change] = fieldChanges({ auth: { password: 'old one' } }, { auth: { password: 'new one' } });
    expect(change?.pointer).to.equal('/auth/password');
    expect(JSON.stringify(change)).not.to.match(/old one|new one/);
    const nested = fieldChanges({}, { sink: { headers: [{ authorization: 'Bearer abcdefgh' }] } });
    expect(JSON.stringify(nested)).not.to.include('abcdefgh');
  });

  it('are bounded in number and length', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index]));
    expect(fieldChanges({}, many)).to.have.length(MAX_FIELDS);
    expect(fieldChanges({}, { text: 'x'.repeat(10_000) })[0]?.after).to.have.length(4_000);
  });
});
