/** Whose account somebody from a provider is let into, for everything that may be so of it. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { User } from '../../../controller/identity/access/index.ts';
import { type Candidates, decideLink } from '../../../controller/identity/oidc/links/link-decision.ts';

interface Kind {
  locked: boolean;
  passwordHash: string | null;
  isSuperAdmin: boolean;
}
const user = (id: string, { locked, passwordHash, isSuperAdmin }: Kind): User => ({
  ...{ id, email: 'a@b.c', name: 'Ada', authMethod: 'OIDC', passwordHash, isSuperAdmin },
  ...{ totpEnabled: false, sealedTotpSecret: null, lockedAt: locked ? new Date(0) : null, lockedBy: null },
  ...{ mustChangePassword: false, passwordExpiresAt: null, passwordChangedAt: null, lastSignInAt: null },
  relinkAllowedAt: null,
  createdAt: new Date(0),
});

const kind: fc.Arbitrary<Kind> = fc.record({
  locked: fc.boolean(),
  passwordHash: fc.option(fc.constant('$argon2id$')),
  isSuperAdmin: fc.boolean(),
});
const found: fc.Arbitrary<Candidates> = fc.record({
  linked: fc.option(kind.map((one) => user('linked', one))),
  sameExternalId: fc.option(
    fc.record({ user: kind.map((one) => user('external', one)), linkedHere: fc.boolean() }),
  ),
  sameAddress: fc.option(
    fc.record({
      user: kind.map((one) => user('same', one)),
      managedByScim: fc.boolean(),
      linkedHere: fc.boolean(),
      unlinked: fc.boolean(),
    }),
  ),
});
const profile = fc.record({
  email: fc.option(fc.constant('a@b.c')),
  emailVerified: fc.constantFrom(true, false, null),
  name: fc.constant(null),
});

describe('whose account a provider opens (property)', () => {
  it('is one that is linked, or that SCIM keeps or a super admin has unlinked, without a password and without every right and that nobody at this provider has, and never a locked one', () => {
    fc.assert(
      fc.property(found, profile, (there, told) => {
        const verdict = decideLink(there, told);
        if (verdict.type === 'known')
          expect([verdict.user, verdict.user.lockedAt]).to.deep.equal([there.linked, null]);
        if (verdict.type === 'adopt') {
          expect(there.linked).to.equal(null);
          expect(verdict.user.lockedAt).to.equal(null);
          if (verdict.by === 'externalId')
            expect(there.sameExternalId).to.deep.equal({ user: verdict.user, linkedHere: false });
          else {
            expect(there.sameExternalId).to.equal(null);
            expect(there.sameAddress).to.deep.include({ user: verdict.user, linkedHere: false });
            expect(there.sameAddress?.[verdict.by === 'scim' ? 'managedByScim' : 'unlinked']).to.equal(true);
            // What SCIM says of an address needs no word of the provider; what a super admin allows does.
            const refused = verdict.by === 'scim' ? [false] : [false, null];
            expect(told.emailVerified).not.to.be.oneOf(refused);
          }
          expect([verdict.user.passwordHash, verdict.user.isSuperAdmin]).to.deep.equal([null, false]);
        }
        if (verdict.type === 'provision') {
          expect([there.linked, there.sameExternalId, there.sameAddress]).to.deep.equal([null, null, null]);
          expect([verdict.email, told.emailVerified === false]).to.deep.equal([told.email, false]);
        }
      }),
      { numRuns: 500 },
    );
  });
});
