/** What an identity provider may run with the SCIM token: users and groups of SCIM, and nothing else; and who else may run that. */
import { expect } from 'chai';
import { scimGroupOperations, scimUserOperations } from '../../../controller/identity/scim/index.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import { ownScope } from '../../../controller/platform/operation/operation.ts';
import { allows } from '../../../controller/platform/operation/permissions.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';

const SCIM: Actor = { type: 'scim' };
const user = (isSuperAdmin: boolean): Actor => ({
  ...{ type: 'user', userId: 'u', email: 'u@example.org', name: 'U', isSuperAdmin },
  ...{ roles: new Map([['team', 'ADMIN']]), sessionId: 's', requiredAction: null },
});
const OTHERS: Actor[] = [
  { type: 'anonymous' },
  user(false),
  {
    ...{ type: 'service_account', id: 'a', name: 'ci', environmentId: 'env', teamId: 'team' },
    permissions: new Set(),
  },
  { type: 'git', commit: 'c', author: 'a', environmentId: 'env' },
];
const OURS = [...Object.values(scimUserOperations), ...Object.values(scimGroupOperations)];
const SCOPES = [ownScope, { teamId: 'team' }, { teamId: 'team', environmentId: 'env' }];

describe('the SCIM token', () => {
  it('opens twelve operations, none of which is a procedure', () => {
    expect(OURS).to.have.length(12);
    for (const operation of OURS) {
      expect(operation.name).to.match(/^scim\./);
      expect(PROCEDURE_KINDS.has(operation.name), operation.name).to.equal(false);
      expect(allows(SCIM, ownScope, operation), operation.name).to.equal(true);
    }
  });

  it('opens no procedure, whatever it is about', () => {
    const procedures = [...OPERATIONS.values()].filter(({ name }) => PROCEDURE_KINDS.has(name));
    expect(procedures.length).to.be.above(100);
    for (const operation of procedures)
      for (const scope of SCOPES) expect(allows(SCIM, scope, operation), operation.name).to.equal(false);
  });

  it('is what these operations want, unless a super admin runs them', () => {
    for (const operation of OURS) {
      for (const actor of OTHERS)
        for (const scope of SCOPES)
          expect(allows(actor, scope, operation), `${operation.name} by ${actor.type}`).to.equal(false);
      expect(allows(user(true), ownScope, operation)).to.equal(true);
    }
  });
});
