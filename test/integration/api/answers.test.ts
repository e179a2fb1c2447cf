/** What every answer carries and what none may: headers, health, errors, and the calling convention of procedures. */

import { expect } from 'chai';
import pg from 'pg';
import { type HttpResponse, type SendOptions, send } from '../../support/clients/http.ts';
import { makeKey } from '../../support/clients/rest.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';
import { use } from '../../support/harness/use.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import { readProcedureResponse } from '../../support/users/person.ts';

const input = (json: string) => `?input=${encodeURIComponent(json)}`;

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

  describe('the calling convention', () => {
    const ask = (path: string, options: SendOptions = {}) =>
      send(`${test.url}/api/trpc/${path}`, {
        ...options,
        headers: { cookie: root.cookie, ...options.headers },
      });

    it('is {result: {data: {json}}} with the dates annotated', async () => {
      await root.mutate('team.create', { name: 'Dated' });
      const body = (await ask('team.list')).json<{
        result: { data: { json: { createdAt: string }[]; meta: { values: Record<string, unknown> } } };
      }>();
      expect(Object.keys(body)).to.deep.equal(['result']);
      expect(body.result.data.json[0]?.createdAt).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      expect(body.result.data.meta.values['0.createdAt']).to.deep.equal(['Date']);
    });

    /** A body as it is written. */
    const raw = (body: string) => ({ body, headers: { 'content-type': 'application/json' } });
    const noted = (json: object, values: unknown) => ({ body: { json, meta: { values } } });
    const anyAs = (value: unknown, as: unknown) =>
      noted(
        { environmentId: 'x', name: 'x', scope: 'pipeline_list', filters: { a: value } },
        { 'filters.a': as },
      );
    const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
    const REFUSED: [status: number, reason: string, path: string, options?: SendOptions][] = [
      [404, 'a procedure that does not exist', 'pipeline.explode'],
      [404, 'a procedure named like a member of every object', 'constructor'],
      [400, 'a path that is not decodable', '%E0%A4%A'],
      [404, 'no procedure at all', ''],
      [400, 'several procedures at once', 'user.me,team.list?batch=1'],
      [405, 'a query by POST', 'user.me', { body: { json: {} } }],
      [405, 'a mutation by GET', `team.create${input('{"json":{"name":"By GET"}}')}`],
      [400, 'input that is not JSON', `secret.list${input('{"json":')}`],
      [400, 'input that is a bare value', `secret.list${input('7')}`],
      [400, 'a body that is not JSON', 'team.create', raw('{"json":')],
      [413, 'a body over 2 MiB', 'team.create', { body: { json: { name: 'x'.repeat(2 * 1024 * 1024) } } }],
      [400, 'a type that nobody has', 'team.create', noted({ name: 'x' }, { name: [['custom', 'Boom']] })],
      [
        400,
        'a note of the prototype',
        'team.create',
        noted({ name: 'x' }, { '__proto__.polluted': ['Date'] }),
      ],
      [
        ...([400, 'a number noted as a big integer', 'user.createToken'] as const),
        noted({ name: 'x', expiresInDays: '9' }, { expiresInDays: ['bigint'] }),
      ],
      [400, 'a big integer where anything may stand', 'filterPreset.create', anyAs('1', ['bigint'])],
      [400, 'a number that is none there', 'filterPreset.create', anyAs('NaN', ['number'])],
      [400, 'a set there', 'filterPreset.create', anyAs([1], ['set'])],
      [400, 'a map there', 'filterPreset.create', anyAs([['a', 1]], ['map'])],
      [400, 'a regular expression there', 'filterPreset.create', anyAs('/a/', ['regexp'])],
      [400, 'bytes there', 'filterPreset.create', anyAs([1], [['typed-array', 'Uint8Array']])],
      [
        400,
        'a key that is the prototype',
        'team.create',
        raw('{"json":{"name":"x","more":{"__proto__":1}}}'),
      ],
      [400, 'notes that are none', 'team.create', noted({ name: 'x' }, 'x')],
      ...['"AAA"', '[null,null]', 'false', '{"meta":{}}', '{"other":1}', '{"json":{},"more":1}'].map(
        (body): [number, string, string, SendOptions] => [
          ...([400, `the envelope ${body}, also where there is no input`] as const),
          ...(['user.endOtherSessions', raw(body)] as const),
        ],
      ),
      [400, 'a body that is nothing', 'team.create', raw('null')],
      [400, 'input nested without end', 'team.create', raw(`{"json":{"name":${deep}}}`)],
    ];
    it('answers what no client of ours sends in its own form', async () => {
      for (const [status, reason, path, options] of REFUSED) {
        const answer = await ask(path, options);
        expect(answer.text.slice(0, 300), reason).to.match(/^\{"error"/);
        const { fault } = readProcedureResponse(answer);
        expect(answer.status, `${reason}: ${fault?.message}`).to.equal(status);
        expect(fault?.data.httpStatus, reason).to.equal(status);
        expect(fault?.data.code, reason).to.be.a('string');
        expect(fault?.data.requestId, reason).to.equal(answer.headers['x-request-id']);
        expect(Object.keys(answer.json<{ error: object }>().error), reason).to.deep.equal(['json']);
        expect(answer.text, reason).not.to.match(/node_modules|\.ts:\d|"stack"/);
      }
    });

    it('takes no input as nothing, as null and as {}', async () => {
      for (const body of ['null', '{}', '{"json":null}', '{"json":{}}']) {
        const headers = { 'content-type': 'application/json' };
        expect((await ask('user.endOtherSessions', { body, headers })).status, body).to.equal(200);
      }
    });

    it('names the method of a procedure, and both where there is none of the name', async () => {
      for (const [path, allow] of [
        ['user.me', 'GET'],
        ['team.create', 'POST'],
        ['no.such', 'GET, POST'],
      ] as const) {
        const told = await ask(path, { method: 'OPTIONS' });
        expect([told.status, told.headers.allow], path).to.deep.equal([204, allow]);
        const put = await ask(path, { method: 'PUT', body: '{}' });
        expect([put.status, put.headers.allow], path).to.deep.equal([405, allow]);
      }
    });

    it('makes no billions of values of a few that are said to be the same', async () => {
      const depth = 40;
      const paths = Array.from({ length: depth }, (_, level) => `name${'.0'.repeat(level)}`);
      const name = paths.reduce<unknown>((inner) => [inner, 0], 1);
      const referentialEqualities = Object.fromEntries(
        paths.toReversed().map((path) => [`${path}.0`, [`${path}.1`]]),
      );
      const begin = performance.now();
      const answer = await ask('team.create', { body: { json: { name }, meta: { referentialEqualities } } });
      expect(answer.status).to.equal(400);
      expect(performance.now() - begin).to.be.below(patient(2_000));
    });

    it('changed nothing by any of these', async () => {
      expect(await test.db('teams').whereIn('name', ['By GET', 'x'])).to.deep.equal([]);
      expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
    });

    it('takes a date as an ISO string or annotated, where a text is wanted', async () => {
      const moment = '2026-01-02T03:04:05.000Z';
      for (const meta of [undefined, { values: { name: ['Date'] } }]) {
        await ask('user.createToken', { body: { json: { name: moment }, meta } });
      }
      const tokens = await root.query<{ name: string }[]>('user.listTokens');
      expect(tokens.map((token) => token.name)).to.deep.equal([moment, moment]);
    });
  });
});
