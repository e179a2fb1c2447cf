/** Requests that no client of ours sends: each gets a clear answer in the API's own form, and none an error of the server. */
import { expect } from 'chai';
import { type SendOptions, send } from '../../support/clients/http.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { readProcedureResponse } from '../../support/users/person.ts';

const input = (json: string) => `?input=${encodeURIComponent(json)}`;

describe('the calling convention', () => {
  const test = useController();
  const root = useRoot(test);
  const ask = (path: string, options: SendOptions = {}) =>
    send(`${test.url}/api/trpc/${path}`, {
      ...options,
      headers: { cookie: root.cookie, ...options.headers },
    });

  it('is {result: {data: {json}}} with the dates annotated', async () => {
    await root.mutate('team.create', { name: 'Dated' });
    const body = (await ask('team.list')).json<{
      result: { data: { json: { createdAt: string }[]; meta: unknown } };
    }>();
    expect(Object.keys(body)).to.deep.equal(['result']);
    expect(body.result.data.json[0]?.createdAt).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(body.result.data.meta).to.deep.include({ values: { '0.createdAt': ['Date'] } });
  });

  const REFUSED: { reason: string; status: number; path: string; options?: SendOptions }[] = [
    { reason: 'a procedure that does not exist', status: 404, path: 'pipeline.explode' },
    { reason: 'a procedure named like a member of every object', status: 404, path: 'constructor' },
    { reason: 'a path that is not decodable', status: 400, path: '%E0%A4%A' },
    { reason: 'no procedure at all', status: 404, path: '' },
    { reason: 'several procedures at once', status: 400, path: 'user.me,team.list?batch=1' },
    { reason: 'a query by POST', status: 405, path: 'user.me', options: { body: { json: {} } } },
    { reason: 'a mutation by GET', status: 405, path: `team.create${input('{"json":{"name":"By GET"}}')}` },
    { reason: 'input that is not JSON', status: 400, path: `secret.list${input('{"json":')}` },
    { reason: 'input that is a bare value', status: 400, path: `secret.list${input('7')}` },
    {
      reason: 'a body that is not JSON',
      status: 400,
      path: 'team.create',
      options: { body: '{"json":', headers: { 'content-type': 'application/json' } },
    },
    {
      reason: 'a body over 2 MiB',
      status: 413,
      path: 'team.create',
      options: { body: { json: { name: 'x'.repeat(2 * 1024 * 1024) } } },
    },
    {
      reason: 'an annotation that names a type nobody has',
      status: 400,
      path: 'team.create',
      options: { body: { json: { name: 'x' }, meta: { values: { name: [['custom', 'Boom']] } } } },
    },
    {
      reason: 'an annotation that points into the prototype',
      status: 400,
      path: 'team.create',
      options: { body: { json: { name: 'x' }, meta: { values: { '__proto__.polluted': ['Date'] } } } },
    },
    {
      reason: 'a number annotated as a big integer',
      status: 400,
      path: 'user.createToken',
      options: {
        body: { json: { name: 'x', expiresInDays: '9' }, meta: { values: { expiresInDays: ['bigint'] } } },
      },
    },
    ...[
      { reason: 'a big integer', value: '1', as: ['bigint'] },
      { reason: 'a number that is none', value: 'NaN', as: ['number'] },
      { reason: 'a set', value: [1], as: ['set'] },
      { reason: 'a map', value: [['a', 1]], as: ['map'] },
      { reason: 'a regular expression', value: '/a/', as: ['regexp'] },
      { reason: 'bytes', value: [1], as: [['typed-array', 'Uint8Array']] },
    ].map(({ reason, value, as }) => ({
      reason: `${reason} where anything may stand`,
      status: 400,
      path: 'filterPreset.create',
      options: {
        body: {
          json: { environmentId: 'x', name: 'x', scope: 'pipeline_list', filters: { a: value } },
          meta: { values: { 'filters.a': as } },
        },
      },
    })),
    {
      reason: 'a key that is the prototype',
      status: 400,
      path: 'team.create',
      options: {
        body: '{"json":{"name":"x","more":{"__proto__":1}}}',
        headers: { 'content-type': 'application/json' },
      },
    },
    {
      reason: 'annotations that are none',
      status: 400,
      path: 'team.create',
      options: { body: { json: { name: 'x' }, meta: { values: 'x' } } },
    },
    ...['"AAA"', '[null,null]', 'false', '{"meta":{}}', '{"other":1}', '{"json":{},"more":1}'].map(
      (body) => ({
        reason: `an envelope that is none, ${body}, also where there is no input,`,
        status: 400,
        path: 'user.endOtherSessions',
        options: { body, headers: { 'content-type': 'application/json' } },
      }),
    ),
    {
      reason: 'a body that is nothing',
      status: 400,
      path: 'team.create',
      options: { body: 'null', headers: { 'content-type': 'application/json' } },
    },
    {
      reason: 'input nested without end',
      status: 400,
      path: 'team.create',
      options: {
        body: `{"json":{"name":${'['.repeat(500)}${']'.repeat(500)}}}`,
        headers: { 'content-type': 'application/json' },
      },
    },
  ];
  for (const { reason, status, path, options } of REFUSED) {
    it(`answers ${status} to ${reason}`, async () => {
      const answer = await ask(path, options);
      expect(answer.text.slice(0, 300)).to.match(/^\{"error"/);
      const { fault } = readProcedureResponse(answer);
      expect(answer.status, fault?.message).to.equal(status);
      expect(fault?.data.httpStatus).to.equal(status);
      expect(fault?.data.code).to.be.a('string');
      expect(fault?.data.requestId).to.equal(answer.headers['x-request-id']);
      expect(Object.keys(answer.json<{ error: object }>().error)).to.deep.equal(['json']);
      expect(answer.text).not.to.match(/node_modules|\.ts:\d|"stack"/);
    });
  }

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
