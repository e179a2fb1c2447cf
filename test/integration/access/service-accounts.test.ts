/** Service accounts: their keys are shown once, end at once, and open one environment as far as they were given. */
import { expect } from 'chai';
import * as gitSync from '../../../controller/delivery/bindings/operations.ts';
import * as fleet from '../../../controller/fleet/nodes/operations.ts';
import { actorOfApiKey, type ServiceAccountActor } from '../../../controller/identity/access/index.ts';
import * as pipelines from '../../../controller/pipelines/lifecycle/read-operations.ts';
import { mintToken } from '../../../controller/platform/crypto/tokens.ts';
import type { Actor, Context } from '../../../controller/platform/operation/context.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import type { Operation } from '../../../controller/platform/operation/operation.ts';
import * as secrets from '../../../controller/secrets/stored/operations.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type { Permission } from '../../../schemas/api/identity/service-accounts.ts';
import { send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { callProcedure, expectRefused, makeUser, signIn, type TestUser } from '../../support/users/person.ts';

interface Created {
  id: string;
  key: string;
  name: string;
  permissions: string[];
  createdById: string;
  createdByName: string;
  createdAt: string;
  expiresAt: string | null;
}
type Listed = Omit<Created, 'key'> & { revokedAt: string | null; lastUsedAt: string | null };

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe('a service account', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let accounts = 0;

  const input = (permissions: Permission[] = ['pipelines.read'], more: object = {}) => ({
    environmentId: teams.ours.environmentId,
    name: `program ${++accounts}`,
    permissions,
    ...more,
  });
  const create = (permissions?: Permission[], more?: object) =>
    teams.admin.mutate<Created>('serviceAccount.create', input(permissions, more));
  const tryCreate = (more: object, person: TestUser = teams.admin) =>
    person.call<Created>('mutation', 'serviceAccount.create', input(undefined, more));
  const revoke = (id: string) => teams.admin.mutate<Listed>('serviceAccount.revoke', { id });
  const listed = async (id: string) =>
    (
      await teams.admin.query<Listed[]>('serviceAccount.list', { environmentId: teams.ours.environmentId })
    ).find((one) => one.id === id);
  const context = (actor: Actor): Context => ({ ...test.controller.systemContext('test'), actor });
  const actorOf = (key: string, clock = test.controller.systemContext('test').clock) =>
    actorOfApiKey({ db: test.db, clock }, key);
  const signedIn = async (key: string): Promise<ServiceAccountActor> => {
    const actor = await actorOf(key);
    if (!actor) throw new Error('the key is not known');
    return actor;
  };
  /** `OK`, or the code of the refusal. */
  const run = (key: string, operation: Operation, given: object) =>
    signedIn(key)
      .then((actor) => test.controller.execute(operation, context(actor), given))
      .then(
        () => 'OK',
        (error: unknown) => (error instanceof DomainError ? error.code : String(error)),
      );

  describe('when it is made', () => {
    it('shows its key once, and tells by whom and until when it is', async () => {
      const made = await create(['secrets.read', 'pipelines.read'], {
        description: 'reads',
        expiresInDays: 30,
      });
      expect(made.key).to.match(/^svc_[0-9a-z]{26}_[0-9a-f]{64}$/);
      expect(made.key).to.include(made.id);
      expect(made.permissions).to.deep.equal(['pipelines.read', 'secrets.read']);
      expect(made.createdByName).to.equal('admin');
      expect(Date.parse(made.expiresAt ?? '') - Date.parse(made.createdAt)).to.equal(30 * DAY_MS);
      const { key, ...rest } = made;
      const again = await listed(made.id);
      expect(again).to.deep.equal(rest);
      expect(JSON.stringify(again)).not.to.include(key.slice(-64));
    });

    it('is for ever where nothing else is said', async () => {
      expect((await create()).expiresAt).to.equal(null);
    });

    it('is stored as a hash only: the key is in no table and not in the log', async () => {
      const { id, key } = await create();
      const row = await test.db('service_accounts').where({ id }).first();
      expect(row.key_hash).to.have.length(32);
      await run(key, pipelines.list, { environmentId: teams.ours.environmentId });
      const secret = key.slice(-64);
      const tables: string[] = await test.db('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
      expect(tables).to.include.members(['service_accounts', 'audit_log']);
      for (const table of tables) {
        const { rows } = await test.db.raw('SELECT coalesce(json_agg(t)::text, ?) AS dump FROM ?? t', [
          '',
          table,
        ]);
        expect(rows[0].dump, table).not.to.include(secret);
      }
      expect(test.log()).not.to.include(secret);
    });

    it('has a name of its own in its environment, in whatever case', async () => {
      const { id, name } = await create();
      expectRefused(await tryCreate({ name: name.toUpperCase() }), 409, name.toUpperCase(), 'revoke');
      const elsewhere = { name, environmentId: teams.theirs.environmentId };
      expect((await tryCreate(elsewhere, teams.stranger)).status, 'in another environment').to.equal(200);
      await revoke(id);
      expect((await tryCreate({ name })).status, 'after its revocation').to.equal(200);
    });
  });

  describe('by its key', () => {
    it('is known with its environment, team and permissions', async () => {
      const { id, key, name } = await create(['nodes.read', 'gitops.read']);
      const actor = await signedIn(key);
      expect(actor).to.deep.equal({
        type: 'service_account',
        id,
        name,
        environmentId: teams.ours.environmentId,
        teamId: teams.ours.teamId,
        permissions: new Set(['nodes.read', 'gitops.read']),
      });
    });

    it('is not known by another secret, another id, another kind of token, or nonsense', async () => {
      const { key } = await create();
      const other = await create();
      for (const wrong of [
        key.replace(/[0-9a-f]{64}$/, '0'.repeat(64)),
        `${key.slice(0, 31)}${other.key.slice(31)}`,
        key.replace('svc', 'hgp'),
        mintToken('svc').token,
        teams.token,
        key.slice(0, -1),
        `${key}0`,
        ` ${key}`,
        '',
        'svc_',
        'x'.repeat(100_000),
      ]) {
        expect(await actorOf(wrong), wrong.slice(0, 40)).to.equal(null);
      }
      expect(await actorOf(key)).not.to.equal(null);
    });

    it('ends with its last day', async () => {
      const { key, createdAt } = await create(undefined, { expiresInDays: 2 });
      const clock = manualClock(Date.parse(createdAt));
      clock.advance(2 * DAY_MS - 1);
      expect(await actorOf(key, clock), 'a millisecond before').not.to.equal(null);
      clock.advance(1);
      expect(await actorOf(key, clock)).to.equal(null);
    });

    it('ends at once when it is revoked, and stays in the list', async () => {
      const { id, key } = await create();
      const { revokedAt } = await revoke(id);
      expect(await actorOf(key)).to.equal(null);
      expect((await listed(id))?.revokedAt).to.equal(revokedAt);
      expect((await revoke(id)).revokedAt, 'once more').to.equal(revokedAt);
    });

    it('ends at once when it is deleted, and is gone', async () => {
      const { id, key } = await create();
      await teams.admin.mutate('serviceAccount.delete', { id });
      expect(await actorOf(key)).to.equal(null);
      expect(await listed(id)).to.equal(undefined);
      expect((await teams.admin.call('mutation', 'serviceAccount.delete', { id })).status).to.equal(404);
    });

    it('outlives whoever made it', async () => {
      const email = 'leaves@example.org';
      const userId = await makeUser(test.db, { email, teams: { [teams.ours.teamId]: 'ADMIN' } });
      const person = await signIn(test.url, email);
      const { id, key, createdById } = await person.mutate<Created>('serviceAccount.create', input());
      expect(createdById).to.equal(userId);
      await test.db('users').where({ id: userId }).delete();
      expect(await actorOf(key)).not.to.equal(null);
      expect(await listed(id)).to.include({ createdById: null, createdByName: null });
    });

    it('notes its use once an hour', async () => {
      const { id, key, createdAt } = await create();
      expect((await listed(id))?.lastUsedAt).to.equal(null);
      const clock = manualClock(Date.parse(createdAt));
      const usedAfter = async (ms: number) => {
        clock.advance(ms);
        await Promise.all([actorOf(key, clock), actorOf(key, clock)]);
        return Date.parse((await listed(id))?.lastUsedAt ?? '') - Date.parse(createdAt);
      };
      expect(await usedAfter(0)).to.equal(0);
      expect(await usedAfter(HOUR_MS - 1)).to.equal(0);
      expect(await usedAfter(1)).to.equal(HOUR_MS);
    });

    it('does not note a use with a wrong secret', async () => {
      const { id, key } = await create();
      await actorOf(key.replace(/[0-9a-f]{64}$/, '0'.repeat(64)));
      expect((await listed(id))?.lastUsedAt).to.equal(null);
    });

    it('opens neither procedures, which want a session, nor git', async () => {
      const { key } = await create(['pipelines.read']);
      const given = { environmentId: teams.ours.environmentId };
      for (const headers of [
        { authorization: `Bearer ${key}` },
        { cookie: `headgate.session-token=${key}` },
      ]) {
        expect((await callProcedure(test.url, 'query', 'pipeline.list', given, headers)).status).to.equal(
          401,
        );
      }
      const basic = Buffer.from(`git:${key}`).toString('base64');
      const answer = await send(`${test.url}/git/config.git/info/refs?service=git-upload-pack`, {
        headers: { authorization: `Basic ${basic}` },
      });
      expect(answer.status).to.equal(401);
    });
  });

  describe('in its environment', () => {
    it('is told which permission it lacks, and what is for users only', async () => {
      const actor = await signedIn((await create(['secrets.read'])).key);
      const given = { environmentId: teams.ours.environmentId };
      const refused = (operation: Operation) =>
        test.controller.execute(operation, context(actor), given).then(
          () => 'OK',
          (error: Error) => error.message,
        );
      expect(await refused(pipelines.list))
        .to.include('pipelines.read')
        .and.to.include(actor.name);
      expect(await refused(fleet.listWithPipelineStatus)).to.include('sign in as a user');
    });

    it('sees no credential that stands in a pipeline’s config in plain', async () => {
      const { pipelineId } = teams.ours;
      const { graph_nodes: nodes } = await test.db('pipelines').where({ id: pipelineId }).first();
      nodes[0].config.password = 'plain-in-the-graph';
      await test
        .db('pipelines')
        .where({ id: pipelineId })
        .update({ graph_nodes: JSON.stringify(nodes) });
      const actor = await signedIn((await create(['pipelines.read', 'pipelines.deploy'])).key);
      const seen = await test.controller.execute(pipelines.get, context(actor), { id: pipelineId });
      expect(JSON.stringify(seen)).not.to.include('plain-in-the-graph');
    });

    it('makes no other account, and does not see the others', async () => {
      const { serviceAccountOperations } = await import('../../../controller/identity/access/index.ts');
      const all = ['pipelines.read', 'secrets.manage', 'gitops.manage', 'audit.read'] as const;
      const { id, key } = await create([...all]);
      const { environmentId } = teams.ours;
      expect(await run(key, serviceAccountOperations.list, { environmentId })).to.equal('FORBIDDEN');
      expect(await run(key, serviceAccountOperations.create, input())).to.equal('FORBIDDEN');
      expect(await run(key, serviceAccountOperations.revoke, { id })).to.equal('FORBIDDEN');
      expect(await run(key, serviceAccountOperations.remove, { id })).to.equal('FORBIDDEN');
    });
  });

  describe('outside of it', () => {
    it('is refused by name of the environment, and finds nothing by id, in its own team too', async () => {
      const { ours, theirs } = teams;
      const { id: sibling } = await teams.root.mutate<{ id: string }>('environment.create', {
        name: 'sibling',
        teamId: ours.teamId,
      });
      const { key } = await create([
        ...(['pipelines.read', 'nodes.read', 'secrets.read', 'secrets.manage'] as const),
        ...(['gitops.read', 'gitops.manage'] as const),
      ]);
      for (const environmentId of [theirs.environmentId, sibling]) {
        for (const operation of [pipelines.list, fleet.list, secrets.list, gitSync.status, gitSync.syncNow]) {
          expect(await run(key, operation, { environmentId }), operation.name).to.equal('FORBIDDEN');
        }
        const given = { environmentId, name: 'planted', value: 'v' };
        expect(await run(key, secrets.create, given)).to.equal('FORBIDDEN');
      }
      expect(await run(key, pipelines.get, { id: theirs.pipelineId })).to.equal('NOT_FOUND');
      expect(await run(key, pipelines.versions, { pipelineId: theirs.pipelineId })).to.equal('NOT_FOUND');
      expect(await run(key, fleet.get, { id: theirs.node.nodeId })).to.equal('NOT_FOUND');
      await test.db('pipelines').insert({ id: 'of-the-sibling', environment_id: sibling, name: 'orders' });
      expect(await run(key, pipelines.get, { id: 'of-the-sibling' })).to.equal('NOT_FOUND');
      const foreign = { environmentId: ours.environmentId, id: theirs.secretId };
      expect(await run(key, secrets.update, { ...foreign, value: 'v' })).to.equal('NOT_FOUND');
      expect(await run(key, secrets.remove, foreign)).to.equal('NOT_FOUND');
    });

    it('goes with its environment', async () => {
      const teamId = teams.ours.teamId;
      const { id } = await teams.root.mutate<{ id: string }>('environment.create', { name: 'brief', teamId });
      const { key } = await create(undefined, { environmentId: id });
      await test.db('environments').where({ id }).delete();
      expect(await actorOf(key)).to.equal(null);
    });
  });
});
