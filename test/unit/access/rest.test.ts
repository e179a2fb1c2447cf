/** Who rests, and since when. */
import { expect } from 'chai';
import {
  type Confirmation,
  restOf,
  restsAt,
} from '../../../controller/identity/access/users/resting-account.ts';

const DAY_MS = 86_400_000;
const now = new Date('2026-03-31T12:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);
const policy = { confirmationDays: 30 };
const linked: Confirmation = {
  ...{ hasPassword: false, managedByScim: false, links: 1, confirmedAt: daysAgo(1), endedAt: null },
};

describe('who rests', () => {
  const rows: [reason: string, change: Partial<Confirmation>, rest: 'account' | 'roles' | null][] = [
    ['confirmed yesterday', {}, null],
    ['confirmed a second less than thirty days ago', { confirmedAt: new Date(+daysAgo(30) + 1_000) }, null],
    ['confirmed thirty days ago', { confirmedAt: daysAgo(30) }, 'account'],
    ['the same, with a password', { confirmedAt: daysAgo(30), hasPassword: true }, 'roles'],
    ['the same, kept by SCIM as active', { confirmedAt: daysAgo(30), managedByScim: true }, null],
    ['refused by the provider', { confirmedAt: null, endedAt: daysAgo(0) }, 'account'],
    ['refused, with a password', { confirmedAt: null, endedAt: daysAgo(0), hasPassword: true }, 'roles'],
    ['unlinked by a super admin', { links: 0, confirmedAt: null, endedAt: daysAgo(0) }, 'account'],
    ['never linked', { links: 0, confirmedAt: null }, null],
    ['never linked, with a password', { links: 0, confirmedAt: null, hasPassword: true }, null],
    [
      'unlinked, and given a password since',
      { links: 0, confirmedAt: null, endedAt: now, hasPassword: true },
      null,
    ],
  ];
  for (const [reason, change, rest] of rows)
    it(`${rest ?? 'not'}: ${reason}`, () => {
      expect(restOf({ ...linked, ...change }, policy, now)).to.equal(rest);
    });

  it('rests as many days after the confirmation as are set', () => {
    expect(restsAt(linked, { confirmationDays: 7 })).to.deep.equal(new Date(+daysAgo(1) + 7 * DAY_MS));
  });
});
