/** What SCIM refuses, and how that is told: always in its own error schema, and never as a fault of the server. */
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { statusesOf } from '../../support/clients/pipelined.ts';
import type { TestController } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { expectError, type Json, type ScimClient } from '../../support/scenes/scim/client.ts';
import { useScimScene } from '../../support/scenes/scim/scene.ts';

const UNKNOWN = '01arz3ndektsv4rrffq69g5fav';

describe('SCIM', () => {
  let test: TestController;
  let scim: ScimClient;
  let userId: string;
  let groupId: string;

  const scene = useScimScene();
  before(() => {
    ({ test, scim, userId, groupId } = scene);
  });

  describe('refuses', () => {
    it('every unknown address with 404 in JSON that names the right base URL', async () => {
      for (const path of [
        ...[
          '/api/scim',
          '/api/scim/',
          '/api/scim/Users',
          '/api/scim/v1/Users',
          '/api/scim/v2',
          '/api/scim/v2/',
        ],
        ...['/api/scim/v2/Nothing', '/api/scim/v2/Users/1/2', '/api/scim/v2/users', '/scim'],
        ...['/scim/v2/Users', '/api/scim/v2/Users/%ff', `/api/scim/v2/${'x'.repeat(2_000)}`],
      ])
        for (const headers of [{}, { authorization: `Bearer ${scim.token}`, accept: 'text/html' }]) {
          const answer = await send(`${test.url}${path}`, { headers });
          expect(expectError(answer, 404), path).to.include(`${test.config.baseUrl}/api/scim/v2`);
        }
    });

    it('nothing where the base URL was entered with a slash at its end', async () => {
      await scim.want(200, 'GET', '//Users');
      await scim.want(200, 'GET', '/Users/');
    });

    it('other methods with 405 and those that there are', async () => {
      for (const [method, path, allow] of [
        ['PUT', '/Users', 'GET, POST, HEAD, OPTIONS'],
        ['POST', `/Users/${userId}`, 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS'],
        ['DELETE', '/ServiceProviderConfig', 'GET, HEAD, OPTIONS'],
        ['GET', '/Users/.search', 'POST, OPTIONS'],
      ] as const) {
        const answer = await scim.call(
          method,
          path,
          method === 'GET' || method === 'DELETE' ? undefined : {},
        );
        expectError(answer, 405);
        expect(answer.headers.allow).to.equal(allow);
      }
      expect((await scim.call('OPTIONS', '/Users')).status).to.equal(204);
      expect((await scim.call('HEAD', '/Users')).status).to.equal(200);
    });

    it('ids that nobody has with 404, whatever they hold', async () => {
      for (const what of ['Users', 'Groups'])
        for (const id of [
          UNKNOWN,
          'x'.repeat(400),
          '%00',
          "'%20or%201=1",
          '..%2f..',
          '%F0%9F%98%80',
          '__proto__',
        ])
          for (const method of ['GET', 'DELETE']) expectError(await scim.call(method, `/${what}/${id}`), 404);
      for (const id of ['Nothing', '__proto__']) {
        expectError(await scim.call('GET', `/Schemas/${id}`), 404);
        expectError(await scim.call('GET', `/ResourceTypes/${id}`), 404);
      }
    });

    it('bodies that are no JSON object, in each way', async () => {
      for (const [method, path] of [
        ['POST', '/Users'],
        ['PUT', `/Users/${userId}`],
        ['PATCH', `/Users/${userId}`],
        ['POST', '/Groups'],
        ['PUT', `/Groups/${groupId}`],
        ['PATCH', `/Groups/${groupId}`],
      ] as const)
        for (const body of ['', '{', '[]', '"x"', 'null', '7', '\ufeff{}', '<xml/>'])
          expectError(await scim.call(method, path, body), 400, 'invalidSyntax');
      const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]);
      const raw = {
        method: 'POST',
        body: bytes,
        headers: { authorization: `Bearer ${scim.token}`, 'content-type': 'application/json' },
      };
      expectError(await send(`${scim.base}/Users`, raw), 400, 'invalidSyntax');
    });

    it('other types of content with 415; plain JSON is taken', async () => {
      const body = { userName: 'plain-json@example.org' };
      for (const type of ['text/plain', 'application/xml', 'multipart/form-data', 'application/jsonx'])
        expectError(await scim.call('POST', '/Users', body, { headers: { 'content-type': type } }), 415);
      const gzip = { headers: { 'content-encoding': 'gzip' } };
      expectError(await scim.call('POST', '/Users', body, gzip), 415);
      const json = { headers: { 'content-type': 'Application/JSON; charset=UTF-8' } };
      expect((await scim.call('POST', '/Users', body, json)).status).to.equal(201);
    });

    it('what is too large with 413', async () => {
      const answer = await scim.call('POST', '/Users', { userName: 'x'.repeat(5_000_000) });
      expectError(answer, 413);
    });

    it('values that are too long, of the wrong form, or that nothing can keep', async () => {
      for (const more of [
        { userName: 7_000, emails: 'none' },
        { userName: 7_000, emails: [{ value: 'wrong@example.org' }] },
        { userName: [{ value: 7 }], emails: [{ value: 'wrong@example.org' }] },
        { displayName: 7 },
        { name: { formatted: 7 } },
        { userName: 'x'.repeat(400) },
        { userName: ['a', 'b'] },
        { userName: { a: 1 } },
        { userName: 'nul\0@example.org' },
        { userName: 'half\ud800@example.org' },
        { displayName: 'x'.repeat(300) },
        { displayName: true },
        { externalId: 'x'.repeat(300) },
        { active: 'perhaps' },
        { active: 1 },
        { emails: Array.from({ length: 30 }, (_, n) => ({ value: `${n}@example.org` })) },
        { emails: [{ value: { a: 1 } }] },
        { emails: [{ value: 'x', type: 'y'.repeat(100) }] },
        { name: { givenName: ['a', 'b'] } },
      ])
        expectError(
          await scim.call('POST', '/Users', { userName: 'wrong@example.org', ...more }),
          400,
          'invalidValue',
        );
      for (const body of [{ name: 'Ada' }, { name: [] }, { emails: [7] }])
        expectError(
          await scim.call('POST', '/Users', { userName: 'wrong@example.org', ...body }),
          400,
          'invalidSyntax',
        );
      for (const more of [
        { displayName: 7 },
        { displayName: '' },
        { displayName: ' ' },
        { displayName: 'x'.repeat(300) },
        { members: [{}] },
        { members: [{ value: 'x'.repeat(65) }] },
        { members: [{ value: null }] },
        { members: Array(20_001).fill('x') },
      ])
        expectError(
          await scim.call('POST', '/Groups', { displayName: 'Wrong', ...more }),
          400,
          'invalidValue',
        );
      for (const [path, attribute] of [
        [`/Users/${userId}`, 'userName'],
        [`/Users/${userId}`, 'displayName'],
        [`/Groups/${groupId}`, 'displayName'],
      ] as const) {
        const Operations = [{ op: 'replace', path: attribute, value: 7 }];
        expectError(await scim.call('PATCH', path, { Operations }), 400, 'invalidValue');
      }
      expect(await test.db('users').where('email', 'like', 'wrong%')).to.have.length(0);
    });

    it('names of objects as attributes, without a fault', async () => {
      const text =
        '{"userName":"proto@example.org","__proto__":{"active":false},"constructor":1,"name":{"__proto__":{"givenName":"x"}}}';
      const user = (await scim.call('POST', '/Users', text)).json<Json>();
      expect(user).to.include({ active: true });
      expect(user).not.to.have.property('name');
    });

    it('deeply nested bodies, without a fault', async () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const kept = await scim.call('POST', '/Users', `{"userName":"deep@example.org","other":${deep}}`);
      expect(kept.status).to.equal(201);
      expectError(await scim.call('POST', '/Users', `{"userName":${deep}}`), 400, 'invalidValue');
    });

    it('filters that it does not understand with 400, and never answers everybody', async () => {
      for (const what of ['Users', 'Groups']) {
        for (const filter of [
          '',
          ' ',
          'x',
          'title eq "x"',
          'displayName like "a"',
          'displayName eq "a" or id',
          `${'\\'.repeat(40)}`,
          `userName eq "${'\\\\'.repeat(40)}`,
        ]) {
          const started = performance.now();
          const path = `/${what}?filter=${encodeURIComponent(filter)}`;
          expectError(await scim.call('GET', path), 400, 'invalidFilter');
          expectError(await scim.call('POST', `/${what}/.search`, { filter }), 400, 'invalidFilter');
          expect(performance.now() - started).to.be.below(patient(2_000));
        }
        expectError(await scim.call('POST', `/${what}/.search`, { filter: 7 }), 400, 'invalidFilter');
        expectError(await scim.call('GET', `/${what}?filter=a&filter=b`), 400, 'invalidValue');
        expectError(await scim.call('GET', `/${what}?filter=a&FILTER=b`), 400, 'invalidValue');
      }
    });

    it('filters of what is not filtered with 403', async () => {
      for (const path of ['/ServiceProviderConfig', '/Schemas', '/ResourceTypes'])
        expectError(await scim.call('GET', `${path}?filter=id%20eq%20%22x%22`), 403);
    });

    it('pages that are no numbers', async () => {
      for (const query of ['count=x', 'startIndex=1.5', 'count=1e3', 'startIndex=NaN'])
        expectError(await scim.call('GET', `/Users?${query}`), 400, 'invalidValue');
    });
  });

  // Cases of a suite run before the suites within it.
  describe('after all of that', () => {
    it('has none of this as a fault of its own in the log', () => {
      expect(test.log()).not.to.include('"level":50');
    });

    // The last one: nobody is answered after it.
    it('refuses a caller who asks more than 3,000 times a minute with 429', async function () {
      this.timeout(60_000);
      const path = `${new URL(scim.base).pathname}/ServiceProviderConfig`;
      const headers = { Authorization: `Bearer ${scim.token}` };
      const statuses = await statusesOf(
        test.url,
        Array.from({ length: 3_050 }, () => ({ path, headers })),
      );
      expect(statuses).to.include(429);
      const refused = await scim.call('GET', '/ServiceProviderConfig');
      expectError(refused, 429);
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
    });
  });
});
