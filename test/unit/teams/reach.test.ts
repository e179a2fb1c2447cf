/** Whose account the ADMIN of a team may lock, unlock and reset. */
import { expect } from 'chai';
import fc from 'fast-check';
import { outOfReachReason } from '../../../controller/identity/teams/account-reach.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import type { Role } from '../../../schemas/api/common.ts';

const caller = (roles: Record<string, Role>, isSuperAdmin = false): Actor => ({
  ...{ type: 'user', userId: 'caller', email: 'caller@example.org', name: 'Caller' },
  ...{ isSuperAdmin, roles: new Map(Object.entries(roles)), sessionId: 's', requiredAction: null },
});
const somebody = (
  teamIds: string[],
  more: { userId?: string; isSuperAdmin?: boolean; vouched?: boolean } = {},
) => ({
  ...{ userId: 'other', isSuperAdmin: false, teamIds, vouched: true },
  ...more,
});

describe('the reach of an ADMIN', () => {
  const CASES: {
    reason: string;
    roles: Record<string, Role>;
    account: ReturnType<typeof somebody>;
    within: boolean;
  }[] = [
    { reason: 'a member of the one team', roles: { a: 'ADMIN' }, account: somebody(['a']), within: true },
    {
      reason: 'somebody in two teams of which both are theirs',
      ...{ roles: { a: 'ADMIN', b: 'ADMIN' }, account: somebody(['a', 'b']), within: true },
    },
    {
      reason: 'somebody who is in a team of strangers too',
      ...{ roles: { a: 'ADMIN' }, account: somebody(['a', 'b']), within: false },
    },
    {
      reason: 'somebody in a team in which they are EDITOR only',
      ...{ roles: { a: 'ADMIN', b: 'EDITOR' }, account: somebody(['a', 'b']), within: false },
    },
    {
      reason: 'somebody whom an ADMIN has put in by their address',
      ...{ roles: { a: 'ADMIN' }, account: somebody(['a'], { vouched: false }), within: false },
    },
    { reason: 'a VIEWER who asks', roles: { a: 'VIEWER' }, account: somebody(['a']), within: false },
    {
      reason: 'a super admin',
      ...{ roles: { a: 'ADMIN' }, account: somebody(['a'], { isSuperAdmin: true }), within: false },
    },
    {
      reason: 'oneself',
      ...{ roles: { a: 'ADMIN' }, account: somebody(['a'], { userId: 'caller' }), within: false },
    },
  ];
  for (const { reason, roles, account, within } of CASES) {
    it(`${within ? 'takes in' : 'ends before'} ${reason}`, () => {
      const told = outOfReachReason(caller(roles), account);
      if (within) expect(told).to.equal(null);
      else expect(told).to.be.a('string');
    });
  }

  it('of a super admin is everybody but themselves', () => {
    const root = caller({}, true);
    expect(outOfReachReason(root, somebody(['x'], { isSuperAdmin: true }))).to.equal(null);
    expect(outOfReachReason(root, somebody(['x'], { userId: 'caller', isSuperAdmin: true }))).to.be.a(
      'string',
    );
  });

  it('never takes in an account that may do what the caller may not, and names no team', () => {
    const teams = fc.constantFrom('team-a', 'team-b', 'team-c', 'team-d');
    const roles = fc.dictionary(teams, fc.constantFrom<Role>('VIEWER', 'EDITOR', 'ADMIN'));
    fc.assert(
      fc.property(roles, fc.uniqueArray(teams, { minLength: 1 }), fc.boolean(), (own, of, isSuperAdmin) => {
        const told = outOfReachReason(caller(own), somebody(of, { isSuperAdmin }));
        expect(told === null).to.equal(!isSuperAdmin && of.every((team) => own[team] === 'ADMIN'));
        expect(told ?? '').not.to.match(/team-[a-d]/);
      }),
    );
  });
});
