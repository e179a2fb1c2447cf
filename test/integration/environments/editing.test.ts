/** Environments as they are renamed and limited, and their enrollment tokens as they end. */
import { expect } from 'chai';
import type { Environment } from '../../../schemas/api/fleet/environments.ts';
import { enrollRequest, tryEnroll } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { enrollmentToken, refusal, tenAtOnce, useTestEnvironments } from '../../support/scenes/places.ts';

describe('environments', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let made = 0;

  const create = async (name = `place ${++made}`) => {
    const input = { teamId: places.teamId, name };
    return (await places.root.mutate<{ id: string }>('environment.create', input)).id;
  };
  const get = (id: string) => places.viewer.query<Environment>('environment.get', { id });
  const update = (id: string, more: object, person = places.admin) =>
    person.mutate<Environment>('environment.update', { id, ...more });
  const tryUpdate = (id: string, more: object, person = places.editor) =>
    refusal(person, 'mutation', 'environment.update', { id, ...more });

  describe('when they are changed', () => {
    it('take a new name from an EDITOR, and keep the rest', async () => {
      const id = await create();
      const before = await get(id);
      const after = await update(id, { name: 'renamed' }, places.editor);
      expect(after).to.deep.equal({ ...before, name: 'renamed' });
      expect(await get(id)).to.deep.equal(after);
      expect(await update(id, {}, places.editor)).to.deep.equal(after);
    });

    it('ask for approval, and take no more than some nodes, where an ADMIN says so', async () => {
      const id = await create();
      expect(await update(id, { requireApproval: true, maxNodes: 3 })).to.include({
        ...{ requireApproval: true, maxNodes: 3 },
      });
      expect(await update(id, { maxNodes: null })).to.include({ requireApproval: true, maxNodes: null });
      expect(await update(id, { requireApproval: false })).to.include({ requireApproval: false });
    });

    it('do not let an EDITOR do away with approvals, or with the limit', async () => {
      const id = await create();
      for (const more of [
        { requireApproval: false },
        { maxNodes: null },
        { maxNodes: 5, name: 'other' },
        { archiveNodesAfterDays: 0 },
      ])
        expect(await tryUpdate(id, more)).to.match(/^FORBIDDEN: .*ADMIN/);
      expect((await get(id)).name).not.to.equal('other');
    });

    it('keep further nodes out below a limit, and send nobody away', async () => {
      const id = await create();
      const token = await enrollmentToken(places.admin, id);
      const enroll = async () => (await tryEnroll(test.url, enrollRequest(token))).status;
      expect([await enroll(), await enroll()]).to.deep.equal([200, 200]);
      await update(id, { maxNodes: 1 });
      expect(await enroll()).to.equal(403);
      expect((await get(id)).nodeCount).to.equal(2);
      await update(id, { maxNodes: 3 });
      expect([await enroll(), await enroll()]).to.deep.equal([200, 403]);
    });
  });

  describe('when their enrollment token is revoked', () => {
    const generate = async (environmentId: string) =>
      (await places.admin.mutate<{ token: string }>('environment.generateEnrollmentToken', { environmentId }))
        .token;
    const revoke = (environmentId: string) =>
      refusal(places.admin, 'mutation', 'environment.revokeEnrollmentToken', { environmentId });

    it('take no node with it any more: 403, and another token works', async () => {
      const id = await create();
      const token = await generate(id);
      expect((await tryEnroll(test.url, enrollRequest(token))).status).to.equal(200);
      expect(await revoke(id)).to.equal('OK');
      const refused = await tryEnroll(test.url, enrollRequest(token));
      expect(refused.status).to.equal(403);
      expect(refused.text).to.include('revoked');
      expect(await get(id)).to.include({ enrollmentToken: null, nodeCount: 1 });
      expect((await tryEnroll(test.url, enrollRequest(await generate(id)))).status).to.equal(200);
    });

    it('say so where there is none', async () => {
      const id = await create();
      expect(await revoke(id)).to.match(/^PRECONDITION_FAILED: .*no enrollment token/);
      await generate(id);
      expect(await revoke(id)).to.equal('OK');
      expect(await revoke(id)).to.match(/^PRECONDITION_FAILED/);
    });

    it('are revoked once where ten ask for it at once', async () => {
      const environmentId = await create();
      await generate(environmentId);
      const statuses = await tenAtOnce(() =>
        places.admin.call('mutation', 'environment.revokeEnrollmentToken', { environmentId }),
      );
      expect(statuses).to.deep.equal([200, ...Array(9).fill(412)]);
    });

    it('have one live token where ten are generated at once', async () => {
      const environmentId = await create();
      await tenAtOnce(() =>
        places.admin.call('mutation', 'environment.generateEnrollmentToken', { environmentId }),
      );
      const live = test.db('enrollment_tokens').where({ environment_id: environmentId, revoked_at: null });
      expect(await live).to.have.length(1);
    });

    it('leave the token’s id in the audit log, and not the token', async () => {
      const id = await create();
      const token = await generate(id);
      await revoke(id);
      const row = await test
        .db('audit_log')
        .where({ action: 'environment.enrollmentTokenRevoked', environment_id: id })
        .first();
      expect(row.entity_id).to.equal(token.split('_')[1]);
      expect(JSON.stringify(row)).not.to.include(token);
    });
  });
});
