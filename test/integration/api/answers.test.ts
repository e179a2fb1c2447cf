/** What every answer carries and what none may: headers, health, errors. */
import { expect } from 'chai';
import pg from 'pg';
import { type HttpResponse, send } from '../../support/clients/http.ts';
import { makeKey } from '../../support/clients/rest.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

describe('answers', () => {
  const test = useController();
  const root = useRoot(test);
  const place = use(() => testEnvironment(root));

  const get = (path: string, headers = {}) => send(`${test.url}${path}`, { headers });

  it('bind no browser to https where the controller is reached without it', async () => {
    for (const path of ['/', '/api/health'])
      expect((await get(path)).headers, path).not.to.have.property('strict-transport-security');
  });

  it('to an unknown path below /api are 404 in JSON, for every method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await send(`${test.url}/api/no/such/thing`, { method });
      expect(answer.status, method).to.equal(404);
      expect(answer.json()).to.deep.equal({ error: `Nothing is at ${method} /api/no/such/thing` });
    }
  });

  it('quote no script back from the path', async () => {
    const answer = await get('/api/<script>alert(1)</script>');
    expect(answer.status).to.equal(404);
    expect(answer.headers['content-type']).to.match(/^application\/json/);
  });

  describe('of the published schemas', () => {
    it('are JSON Schema, one for each kind', async () => {
      const answer = await get('/schemas/v1/pipeline.json');
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.match(/^application\/schema\+json/);
      const schema = answer.json<{ $schema: string; $id: string; properties: object }>();
      expect(schema.$schema).to.include('json-schema.org');
      expect(schema.$id).to.equal(`${test.url}/schemas/v1/pipeline.json`);
      expect(schema.properties).to.include.keys('apiVersion', 'kind', 'metadata', 'spec');
    });

    it('tell which there are where one is not', async () => {
      for (const path of [
        '/schemas/v1/nothing.json',
        '/schemas/v1/constructor.json',
        '/schemas/v1/__proto__',
      ]) {
        const answer = await get(path);
        expect(answer.status, path).to.equal(404);
        expect(answer.json().error).to.include('pipeline.json');
      }
    });
  });

  describe('of a fault in the server', () => {
    /** Nothing that a stranger could learn from. */
    const tellsNothing = (answer: HttpResponse) => {
      expect(answer.status).to.equal(500);
      expect(answer.text).not.to.match(
        /relation|secrets|sessions|select |\.ts|node_modules|at .*\(|stack|127\.0\.0\.1/i,
      );
      expect(answer.text).to.include(String(answer.headers['x-request-id']));
    };

    it('tell a request id and nothing else, by procedure, by REST and by route', async () => {
      const { key } = await makeKey(root, place.environmentId);
      await test.db.raw('ALTER TABLE secrets RENAME TO secrets_away');
      const { answer, fault } = await root.call('query', 'secret.list', {
        environmentId: place.environmentId,
      });
      const rest = await get('/api/v1/secrets', { authorization: `Bearer ${key}` });
      await test.db.raw('ALTER TABLE secrets_away RENAME TO secrets');
      tellsNothing(answer);
      tellsNothing(rest);
      expect(fault).to.deep.equal({
        message: 'Something went wrong on the server; the request id leads to it in its log',
        code: -32_603,
        data: {
          code: 'INTERNAL_SERVER_ERROR',
          httpStatus: 500,
          requestId: answer.headers['x-request-id'],
        },
      });

      await test.db.raw('ALTER TABLE sessions RENAME TO sessions_away');
      const session = await get('/api/auth/session', { cookie: root.cookie });
      const procedure = await root.call('query', 'user.me').catch(() => null);
      await test.db.raw('ALTER TABLE sessions_away RENAME TO sessions');
      tellsNothing(session);
      expect(session.json()).to.deep.equal({
        error: 'Something went wrong on the server',
        requestId: session.headers['x-request-id'],
      });
      expect(procedure?.fault?.data.httpStatus, 'a fault before the procedure has its form too').to.equal(
        500,
      );
      for (const { headers } of [answer, rest, session])
        expect(test.log()).to.include(String(headers['x-request-id']));
    });

    it('leave the server well', async () => {
      expect((await root.call('query', 'user.me')).status).to.equal(200);
    });
  });

  describe('of health', () => {
    it('are ok, and kept by nobody', async () => {
      const answer = await get('/api/health');
      expect(answer.status).to.equal(200);
      expect(answer.json()).to.deep.equal({ status: 'ok' });
      expect(answer.headers['cache-control']).to.equal('no-store');
    });

    it('tell what stands behind it, when asked whether it is ready', async () => {
      await until(async () => (await get('/api/health/ready')).status === 200, { what: 'a leader' });
      const { status, checks } = (await get('/api/health/ready')).json<{ status: string; checks: object }>();
      expect(status).to.equal('ok');
      expect(checks).to.include({
        database: true,
        leader: true,
        leading: true,
        bindings: 0,
        failingBindings: 0,
      });
    });

    it('are 503 while the database is away, and ok when it is back', async function () {
      this.timeout(30_000);
      const address = new URL(test.databaseUrl);
      const name = address.pathname.slice(1);
      address.pathname = '/postgres';
      const outside = new pg.Client({ connectionString: address.href });
      await outside.connect();
      try {
        await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
        await outside.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
          name,
        ]);
        const [health, ready, session] = [
          await get('/api/health'),
          await get('/api/health/ready'),
          await get('/api/auth/session', { cookie: root.cookie }),
        ];
        expect(health.status).to.equal(503);
        expect(health.json()).to.deep.equal({
          status: 'error',
          reason: 'database',
          message: 'The database does not answer',
        });
        expect(ready.status).to.equal(503);
        expect(ready.json()).to.deep.equal({ status: 'error', checks: { database: false, disk: true } });
        expect(session.status).to.be.within(500, 503);
        expect(session.text).not.to.include(name);
      } finally {
        await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
        await outside.end();
      }
      await until(async () => (await get('/api/health')).status === 200, { what: 'health to return' });
      await until(async () => (await get('/api/health/ready')).status === 200, { what: 'a leader' });
      expect((await root.call('query', 'user.me')).status).to.equal(200);
    });
  });
});
