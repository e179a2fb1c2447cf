/** The door of SCIM: who is let in, and with what. */
import { expect } from 'chai';
import { SCIM_ROWS } from '../../../api/scim/rows.ts';
import { send } from '../../support/clients/http.ts';
import { makeKey } from '../../support/clients/rest.ts';
import type { TestController } from '../../support/harness/controller.ts';
import {
  expectError,
  PATCH_OP,
  type ScimClient,
  scimClient,
  scimOf,
} from '../../support/scenes/scim/client.ts';
import { useScimScene } from '../../support/scenes/scim/scene.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import { makeUser, type TestUser } from '../../support/users/person.ts';

describe('the door of SCIM', () => {
  let test: TestController;
  let root: TestUser;
  let scim: ScimClient;
  let userId: string;
  let groupId: string;

  const scene = useScimScene();
  before(() => {
    ({ test, root, scim, userId, groupId } = scene);
  });

  const pathOf = (path: string) => {
    const ids: Record<string, string> = {
      ...{ Users: userId, Groups: groupId, ResourceTypes: 'User' },
      Schemas: 'urn:ietf:params:scim:schemas:core:2.0:User',
    };
    return path.replace(':id', ids[path.split('/')[1] ?? ''] ?? '');
  };
  describe('lets in', () => {
    const good: Record<string, () => unknown> = {
      'POST /Users': () => ({ userName: `made${Math.random()}@example.org` }),
      'POST /Groups': () => ({ displayName: `made ${Math.random()}` }),
      'PUT /Users/:id': () => ({
        userName: 'ada@example.org',
        externalId: 'Ext-Ada',
        displayName: 'Ada',
        emails: [{ value: 'ada@work.example', type: 'work' }],
      }),
      'PUT /Groups/:id': () => ({ displayName: 'Engineers', members: [{ value: userId }] }),
      'PATCH /Users/:id': () => ({
        schemas: [PATCH_OP],
        Operations: [{ op: 'replace', path: 'active', value: true }],
      }),
      'PATCH /Groups/:id': () => ({
        schemas: [PATCH_OP],
        Operations: [{ op: 'add', path: 'members', value: [{ value: userId }] }],
      }),
      'POST /Users/.search': () => ({ filter: 'userName eq "ada@example.org"' }),
      'POST /Groups/.search': () => ({ count: 1 }),
    };
    const expectRejected = async (
      method: (typeof SCIM_ROWS)[number]['method'],
      path: string,
      sent: unknown,
      all: readonly string[],
    ) => {
      for (const authorization of all) {
        const answer = await scim.call(method, pathOf(path), sent, { headers: { authorization } });
        expectError(answer, 401);
        expect(answer.headers['www-authenticate']).to.equal('Bearer');
      }
    };
    for (const { method, path } of SCIM_ROWS) {
      const name = `${method} ${path}`;
      it(`${name} with the token, and nobody without it`, async () => {
        const sent = good[name]?.();
        const bodyless = method === 'GET' || method === 'DELETE';
        expect(sent === undefined, `${name} has a body here`).to.equal(bodyless);
        await expectRejected(method, path, sent, ['', `Bearer scim_${'0'.repeat(64)}`]);
        if (method === 'DELETE') return;
        const answer = await scim.call(method, pathOf(path), sent);
        expect(answer.status, answer.text).to.be.oneOf([200, 201, 204]);
        expect(answer.headers['cache-control']).to.equal('no-store');
        if (answer.status !== 204)
          expect(answer.headers['content-type']).to.match(/^application\/scim\+json/);
      });
    }

    it('no session, no personal token, no key of a service account, and nothing that is like the token', async () => {
      const { token: own } = scim;
      await expectRejected('GET', '/Users', undefined, [
        ...['Bearer', 'Bearer ', `Bearer ${own} x`, 'Basic YTpi', `Bearer ${own.slice(0, -1)}`],
        ...[`Bearer ${own}0`, `Token ${own}`, `Bearer ${'x'.repeat(5_000)}`],
      ]);
      const { environmentId } = await testEnvironment(root);
      const { key } = await makeKey(root, environmentId);
      const { token } = await root.mutate<{ token: string }>('user.createToken', { name: 'git' });
      for (const headers of [
        { authorization: '', cookie: root.cookie },
        { authorization: `Bearer ${key}` },
        { authorization: `Bearer ${token}` },
      ])
        expectError(await scim.call('GET', '/Users', undefined, { headers }), 401);
    });

    it('its token to SCIM alone', async () => {
      const headers = { authorization: `Bearer ${scim.token}` };
      for (const path of ['/api/v1/pipelines', '/api/trpc/user.me', '/api/auth/session', '/api/agent/config'])
        expect((await send(`${test.url}${path}`, { headers })).status, path).to.equal(401);
    });

    it('a new token at once and the one before not any more; and nobody while SCIM is off', async function () {
      this.timeout(10_000);
      const before = scim;
      const after = await scimOf(root);
      expectError(await before.call('GET', '/Users'), 401);
      await after.want(200, 'GET', '/Users');
      await root.mutate('settings.updateScim', { enabled: false });
      expectError(await after.call('GET', '/Users'), 401);
      await root.mutate('settings.updateScim', { enabled: true });
      expectError(await after.call('GET', '/Users'), 401);
      scim = await scimOf(root);
      await scim.want(200, 'GET', '/Users');
    });

    it('who was let in is noted, once an hour', async () => {
      const read = async () => (await test.db('scim_settings').first()).last_used_at as Date;
      await scim.want(200, 'GET', '/Users');
      const first = await read();
      expect(first).to.be.an.instanceOf(Date);
      await scim.want(200, 'GET', '/Users');
      expect(await read()).to.deep.equal(first);
      await test.db('scim_settings').update({ last_used_at: new Date(Date.now() - 3_700_000) });
      await scim.want(200, 'GET', '/Users');
      expect((await read()).getTime()).to.be.above(Date.now() - 60_000);
    });
  });

  // Cases of a suite run before the suites within it.
  describe('after all of that', () => {
    it('writes neither its token nor what it refuses to the log or the audit log', async () => {
      await scim.call('GET', '/Users', undefined, {
        headers: { authorization: `Bearer scim_${'ab'.repeat(32)}` },
      });
      const all = `${test.log()}${JSON.stringify(await test.db('audit_log'))}${JSON.stringify(await test.db('scim_settings'))}`;
      expect(all).not.to.match(/scim_[0-9a-f]{64}/);
      expect(test.log()).not.to.include('"level":50');
    });

    it('says nothing of accounts that it does not keep', async () => {
      await makeUser(test.db, { email: 'secretive@example.org' });
      for (const path of ['/Users?count=1000', '/Groups?count=1000'])
        expect((await scim.call('GET', path)).text).not.to.include('secretive');
      expect(scimClient(test.url, 'x').base).to.equal(scim.base);
    });
  });
});
