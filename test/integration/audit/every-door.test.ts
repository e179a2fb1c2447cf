/** What comes by SCIM and by the sign-in page leaves its events too (by REST: `rest/rows.test.ts`); and no secret is in any, nor in the logs. */
import { expect } from 'chai';
import { SCIM_ROWS } from '../../../api/scim/rows.ts';
import { send } from '../../support/clients/http.ts';
import { makeKey } from '../../support/clients/rest.ts';
import { base64, LEAF_KEY } from '../../support/fixtures/certificates.ts';
import { useController } from '../../support/harness/controller.ts';
import { PATCH_OP, type ScimClient, scimOf } from '../../support/scenes/scim/client.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { codeOf, enrollAuthenticator } from '../../support/users/authenticator.ts';
import { makeUser, PASSWORD, signIn, type TestUser } from '../../support/users/person.ts';

interface EventRow {
  id: string;
  actor_type: string;
  user_id: string | null;
  user_email: string | null;
  action: string;
  entity_type: string;
  entity_id: string | null;
  team_id: string | null;
  environment_id: string | null;
  metadata: Record<string, unknown> | null;
}

describe('the audit log of every door', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let scim: ScimClient;
  let made = 0;
  /** Whatever must not be found where it does not belong. */
  const secrets: Record<string, string> = {};

  before(async () => {
    scim = await scimOf(teams.root);
    secrets.scimToken = scim.token;
  });

  /** Events that were left meanwhile by whom they are asked for. */
  async function left(of: object, work: () => Promise<unknown>): Promise<EventRow[]> {
    const read = (): Promise<EventRow[]> => test.db('audit_log').where(of).orderBy(['created_at', 'id']);
    const before = new Set((await read()).map(({ id }) => id));
    await work();
    return (await read()).filter(({ id }) => !before.has(id));
  }

  describe('by SCIM', () => {
    const user = () => scim.user(`scim-${++made}@example.org`);
    const group = async () => scim.group(`Group ${++made}`, [await user()]);
    const patch = (Operations: object[]) => ({ schemas: [PATCH_OP], Operations });
    const WRITES: Record<string, { of: string; request(): Promise<{ path: string; body?: object }> }> = {
      'POST /Users': {
        of: 'scimUser.created ScimUser',
        request: async () => ({ path: '/Users', body: { userName: `scim-${++made}@example.org` } }),
      },
      'PUT /Users/:id': {
        of: 'scimUser.updated ScimUser',
        request: async () => {
          const userName = `scim-${++made}@example.org`;
          return { path: `/Users/${await scim.user(userName)}`, body: { userName, displayName: 'Another' } };
        },
      },
      'PATCH /Users/:id': {
        of: 'scimUser.updated ScimUser',
        request: async () => ({
          path: `/Users/${await user()}`,
          body: patch([{ op: 'replace', path: 'displayName', value: 'Another' }]),
        }),
      },
      'DELETE /Users/:id': {
        of: 'scimUser.deleted ScimUser',
        request: async () => ({ path: `/Users/${await user()}` }),
      },
      'POST /Groups': {
        of: 'scimGroup.created ScimGroup',
        request: async () => ({ path: '/Groups', body: { displayName: `Group ${++made}` } }),
      },
      'PUT /Groups/:id': {
        of: 'scimGroup.updated ScimGroup',
        request: async () => {
          const displayName = `Group ${++made}`;
          return {
            path: `/Groups/${await scim.group(displayName, [await user()])}`,
            body: { displayName, members: [] },
          };
        },
      },
      'PATCH /Groups/:id': {
        of: 'scimGroup.updated ScimGroup',
        request: async () => ({
          path: `/Groups/${await group()}`,
          body: patch([{ op: 'add', path: 'members', value: [{ value: await user() }] }]),
        }),
      },
      'DELETE /Groups/:id': {
        of: 'scimGroup.deleted ScimGroup',
        request: async () => ({ path: `/Groups/${await group()}` }),
      },
    };

    it('is tried with every row that changes something', () => {
      const writing = SCIM_ROWS.filter(({ method, path }) => method !== 'GET' && !path.endsWith('.search'));
      expect(Object.keys(WRITES).sort()).to.deep.equal(
        writing.map(({ method, path }) => `${method} ${path}`).sort(),
      );
    });

    for (const [name, { of, request }] of Object.entries(WRITES)) {
      it(`holds one event of ${name}, and none of what was refused`, async () => {
        const { path, body } = await request();
        const [method = ''] = name.split(' ');
        const events = await left({ actor_type: 'scim' }, async () => {
          const answer = await scim.call(method, path, body);
          expect(answer.status, answer.text).to.be.within(200, 204);
        });
        expect(events.map((event) => `${event.action} ${event.entity_type}`)).to.deep.equal([of]);
        expect(events[0]?.entity_id).to.be.a('string');
        const none = await left({ actor_type: 'scim' }, async () => {
          const gone = `${path.split('/').slice(0, 2).join('/')}/01arz3ndektsv4rrffq69g5fav`;
          const bad = await scim.call(method, method === 'POST' ? path : gone, body && { nonsense: 1 });
          expect(bad.status, bad.text).to.be.within(400, 499);
        });
        expect(none).to.deep.equal([]);
      });
    }
  });

  describe('at the sign-in page', () => {
    const enter = (email: string, password: string, totp?: string) =>
      send(`${test.url}/api/auth/sign-in`, {
        method: 'POST',
        body: { email, password, ...(totp ? { totp } : {}) },
      });

    it('holds one event of each sign-in and sign-out, and of each that was refused', async () => {
      const email = 'comes-and-goes@example.org';
      const id = await makeUser(test.db, { email });
      const came = await left({ entity_id: id }, () => signIn(test.url, email));
      expect(came.map((event) => `${event.action} ${event.actor_type} ${event.user_email}`)).to.deep.equal([
        `user.signedIn user ${email}`,
      ]);
      secrets.wrongPassword = 'what somebody typed by mistake';
      const refused = await left({}, async () => {
        expect((await enter(email, secrets.wrongPassword ?? '')).status).to.equal(401);
      });
      expect(refused.map((event) => `${event.action} ${event.entity_id}`)).to.deep.equal([
        `user.signInFailed ${id}`,
      ]);
      const unknown = await left({}, async () => {
        expect((await enter('nobody-here@example.org', 'a password of nobody')).status).to.equal(401);
      });
      expect(unknown.map((event) => `${event.action} ${event.entity_id}`)).to.deep.equal([
        'user.signInFailed null',
      ]);
      const person = await signIn(test.url, email);
      const went = await left({ entity_id: id }, () =>
        send(`${test.url}/api/auth/sign-out`, {
          ...{ method: 'POST', body: {}, headers: { cookie: person.cookie } },
        }),
      );
      expect(went.map((event) => event.action)).to.deep.equal(['user.signedOut']);
    });
  });

  describe('and no secret', () => {
    const keep = (name: string, value: string): string => {
      secrets[name] = value;
      return value;
    };

    it('is in any event, in any log or in any answer but the one that shows it', async function () {
      this.timeout(30_000);
      const { root, ours } = teams;
      const { environmentId } = ours;
      const email = 'keeps-secrets@example.org';
      await makeUser(test.db, { email, teams: { [ours.teamId]: 'ADMIN' } });
      const person: TestUser = await signIn(test.url, email);
      keep('cookie', person.cookie.split('=')[1]?.split(';')[0] ?? '');

      const value = keep('secret', 'the value of a secret, never told');
      const { id } = await person.mutate<{ id: string }>('secret.create', {
        ...{ environmentId, name: 'kept', value },
      });
      await person.mutate('secret.update', {
        ...{ environmentId, id, value: keep('changed secret', 'another value, never told either') },
      });
      await person.mutate('certificate.upload', {
        ...{
          environmentId,
          name: 'kept',
          filename: 'leaf.key',
          fileType: 'key',
          dataBase64: base64(LEAF_KEY),
        },
      });
      keep('private key', LEAF_KEY.split('\n')[1] ?? '');
      keep('private key in base64', base64(LEAF_KEY).slice(100, 160));
      const token = await person.mutate<{ token: string }>('user.createToken', { name: 'laptop' });
      keep('personal token', token.token);
      const enrollment = await person.mutate<{ token: string }>('environment.generateEnrollmentToken', {
        environmentId,
      });
      keep('enrollment token', enrollment.token);
      keep('api key', (await makeKey(root, environmentId)).key);
      const { secret, backupCodes } = await enrollAuthenticator(person);
      keep('authenticator', secret);
      for (const [n, code] of backupCodes.entries()) keep(`backup code ${n}`, code);
      await person.mutate('user.changePassword', {
        currentPassword: PASSWORD,
        newPassword: keep('password', 'an unlikely password of twelve words'),
      });
      await send(`${test.url}/api/auth/sign-in`, {
        method: 'POST',
        body: { email, password: secrets.password, totp: codeOf(secret) },
      });
      await send(`${test.url}/api/auth/sign-in`, {
        method: 'POST',
        body: { email, password: secrets.password, totp: backupCodes[0] },
      });
      await root.mutate('settings.updateOidc', {
        ...{ issuer: 'https://id.example.org', clientId: 'headgate' },
        clientSecret: keep('client secret', 'what only the provider and we know'),
      });
      const made = await root.mutate<{ id: string; password: string }>('admin.createUser', {
        ...{ email: 'temporary@example.org', name: 'T' },
      });
      keep('first password', made.password);
      const reset = await root.mutate<{ temporaryPassword: string }>('admin.resetPassword', {
        userId: made.id,
      });
      keep('temporary password', reset.temporaryPassword);
      // A request that is refused is told in the log.
      await person.call('mutation', 'secret.create', {
        ...{ environmentId, name: 'kept', value: keep('refused secret', 'a value that was refused') },
      });
      await person.call('mutation', 'user.changePassword', {
        currentPassword: keep('refused password', 'not the password of anybody'),
        newPassword: keep('refused new password', 'nor the one after it'),
      });

      for (const [name, text] of Object.entries(secrets)) expect(text.length, name).to.be.above(7);
      const log = test.log();
      expect(log.length).to.be.above(100);
      const shown = await Promise.all([
        root.call('query', 'audit.list', { limit: 200 }),
        root.call('query', 'settings.get'),
        root.call('query', 'admin.listUsers'),
        root.call('query', 'secret.list', { environmentId }),
        root.call('query', 'serviceAccount.list', { environmentId }),
        person.call('query', 'user.listTokens'),
        person.call('query', 'user.me'),
      ]);
      const { rows } = await test.db.raw<{ rows: { all: string }[] }>(
        'SELECT string_agg(a::text, chr(10)) AS all FROM audit_log a',
      );
      for (const [name, text] of Object.entries(secrets)) {
        expect(rows[0]?.all.includes(text), `${name} in the audit log`).to.equal(false);
        expect(log.includes(text), `${name} in the log`).to.equal(false);
        for (const { answer } of shown)
          expect(answer.text.includes(text), `${name} in an answer`).to.equal(false);
      }
    });
  });
});
