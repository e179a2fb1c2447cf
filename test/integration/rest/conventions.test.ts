/**
 * What the whole REST interface keeps to: codes of errors, pages, entity tags (RFC 9110, 8.8.3, 13.1.1 and 13.1.2), `Location`
 * (10.2.2), and the rate limit fields of draft-ietf-httpapi-ratelimit-headers-10.
 */
import { expect } from 'chai';
import { ERROR_CODES } from '../../../schemas/api/error-codes.ts';
import type { HttpResponse } from '../../support/clients/http.ts';
import {
  CONFIG_YAML,
  draftPipeline,
  makeKey,
  type RestCall,
  restClient,
  useRest,
} from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

interface Named {
  id: string;
  name: string;
}

describe('the conventions of the REST interface', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  const rest = useRest(test, teams);
  const call: RestCall = (...request) => rest.call(...request);
  let made = 0;

  const draft = () => draftPipeline(teams.root, teams.ours.environmentId, `conventional ${++made}`);
  const rule = async (name: string): Promise<HttpResponse> =>
    call('POST', '/alerts/rules', {
      body: {
        ...{ name, metric: 'error_rate', condition: 'gt', threshold: 1, teamId: teams.ours.teamId },
      },
    });
  const etagOf = (answer: HttpResponse): string => {
    expect(answer.headers.etag, answer.text.slice(0, 200)).to.match(/^"[\w.-]+"$/);
    return answer.headers.etag ?? '';
  };

  describe('of errors', () => {
    const CASES: [reason: string, code: keyof typeof ERROR_CODES, request: () => Promise<HttpResponse>][] = [
      ['a wrong input', 'BAD_REQUEST', () => call('POST', '/pipelines', { body: { name: '' } })],
      ['no key', 'UNAUTHORIZED', () => restClient(test.url, null)('GET', '/pipelines')],
      [
        'a permission that is missing',
        'FORBIDDEN',
        async () => {
          const { key } = await makeKey(teams.root, teams.ours.environmentId, ['nodes.read']);
          return restClient(test.url, key)('GET', '/pipelines');
        },
      ],
      [
        'what another environment has',
        'NOT_FOUND',
        () => call('GET', `/pipelines/${teams.theirs.pipelineId}/config`),
      ],
      ['an address that is not there', 'NOT_FOUND', () => call('GET', '/nothing')],
      ['another method', 'METHOD_NOT_SUPPORTED', () => call('PUT', '/pipelines', { body: {} })],
      ['a name that is taken', 'CONFLICT', () => call('POST', '/pipelines', { body: { name: 'orders' } })],
      ['what git describes', 'MANAGED_BY_GIT', () => call('DELETE', `/pipelines/${teams.ours.pipelineId}`)],
      ['a secret that is in use', 'PRECONDITION_FAILED', () => call('DELETE', '/secrets?name=db_password')],
      [
        'a body that is too large',
        'PAYLOAD_TOO_LARGE',
        () => call('POST', '/pipelines', { body: { name: 'x'.repeat(300_000) } }),
      ],
      [
        'a body of another type',
        'UNSUPPORTED_MEDIA_TYPE',
        () => call('POST', '/pipelines', { body: 'name=x', headers: { 'content-type': 'text/plain' } }),
      ],
      [
        'a pipeline that is not valid',
        'VALIDATION_FAILED',
        async () => {
          const lines = { format: 'shuffle', lines: ['$SVC_SECRET_NOT_THERE'] };
          const id = await draftPipeline(teams.root, teams.ours.environmentId, `wrong ${++made}`, lines);
          return call('POST', `/pipelines/${id}/deploy`, { body: { changelog: '' } });
        },
      ],
      [
        'a key of another request',
        'IDEMPOTENCY_KEY_REUSED',
        async () => {
          const headers = { 'idempotency-key': 'used-twice' };
          await call('POST', '/pipelines', { body: { name: 'first' }, headers });
          return call('POST', '/pipelines', { body: { name: 'second' }, headers });
        },
      ],
    ];
    it('have a code beside the sentence', async () => {
      for (const [reason, code, request] of CASES) {
        const answer = await request();
        expect(answer.json(), `${reason}: ${answer.text}`).to.include({ code });
        expect(answer.json<{ error: string }>().error).to.be.a('string').with.length.above(5);
        expect(answer.status, reason).to.equal(ERROR_CODES[code][0]);
      }
    });
  });

  describe('of lists', () => {
    const list = async (query: string) =>
      (await call('GET', `/alerts/rules${query}`)).json<{ rules: Named[]; nextCursor?: string | null }>();

    it('are whole and without a cursor where no page is asked for', async () => {
      for (let n = 0; n < 5; n++) expect((await rule(`listed ${n}`)).status).to.equal(201);
      const whole = await list('');
      expect(whole.rules.length).to.be.at.least(5);
      expect(whole).not.to.have.property('nextCursor');
    });

    it('come in pages that together are the list, though some are made and deleted meanwhile', async () => {
      const all = (await list('')).rules.map(({ id }) => id);
      const seen: string[] = [];
      let query = '?limit=2';
      for (;;) {
        const page = await list(query);
        expect(page.rules.length).to.be.at.most(2);
        seen.push(...page.rules.map(({ id }) => id));
        if (seen.length === 2) await call('DELETE', `/alerts/rules/${seen[0]}`);
        if (page.nextCursor === null) break;
        query = `?limit=2&cursor=${page.nextCursor}`;
      }
      expect(seen.sort()).to.deep.equal(all.sort());
    });

    it('end with a null cursor, also where the last page is full', async () => {
      const { rules } = await list('');
      expect((await list(`?limit=${rules.length}`)).nextCursor).to.equal(null);
      expect((await list('?limit=1')).nextCursor).to.match(/^[\w-]{1,200}$/);
    });

    it('are found by exactly a name', async () => {
      await rule('Listed exactly');
      expect((await list('?name=Listed%20exactly')).rules.map(({ name }) => name)).to.deep.equal([
        'Listed exactly',
      ]);
      expect((await list('?name=listed%20exactly')).rules).to.deep.equal([]);
      for (const [path, field, name] of [
        ['/pipelines', 'pipelines', 'orders'],
        ['/nodes', 'nodes', 'ours-node'],
        ['/secrets', 'secrets', 'db_password'],
      ]) {
        const found = (await call('GET', `${path}?name=${name}`)).json<Record<string, Named[]>>();
        expect(found[field!]?.map((one) => one.name)).to.deep.equal([name]);
      }
    });

    it('of versions go from the newest to the oldest', async () => {
      const id = await draft();
      for (let n = 0; n < 3; n++)
        await call('POST', `/pipelines/${id}/versions`, { body: { configYaml: CONFIG_YAML } });
      const page = (query: string) =>
        call('GET', `/pipelines/${id}/versions${query}`).then((answer) =>
          answer.json<{ versions: { version: number }[]; nextCursor: string }>(),
        );
      const first = await page('?limit=2');
      expect(first.versions.map(({ version }) => version)).to.deep.equal([3, 2]);
      const second = await page(`?limit=2&cursor=${first.nextCursor}`);
      expect(second.versions.map(({ version }) => version)).to.deep.equal([1]);
    });
  });

  it('refuse an id that none can be, before anything is looked for', async () => {
    for (const id of ['%00', 'a%00b', 'x'.repeat(65)])
      for (const path of [`/pipelines/${id}`, `/pipelines/${id}/config`, `/alerts/rules/${id}`])
        expect((await call('GET', path)).status, path).to.equal(400);
  });

  it('tells with each answer what is left of the limit', async () => {
    const { key } = await makeKey(teams.root, teams.ours.environmentId, ['nodes.read']);
    const other = restClient(test.url, key);
    const [first, second] = [await other('GET', '/nodes'), await other('GET', '/secrets')];
    expect(first.headers['ratelimit-policy']).to.equal('"key";q=600;w=60');
    expect(first.headers.ratelimit).to.match(/^"key";r=599;t=(60|5\d)$/);
    expect(second.status).to.equal(403);
    expect(second.headers.ratelimit).to.match(/^"key";r=598;t=(60|[1-5]?\d)$/);
  });

  describe('of what is made', () => {
    const MADE: [what: string, request: () => Promise<HttpResponse>, name: (body: never) => string][] = [
      [
        'a pipeline',
        () => call('POST', '/pipelines', { body: { name: `located ${++made}` } }),
        (body: { pipeline: Named }) => body.pipeline.name,
      ],
      ['an alert rule', () => rule(`located ${++made}`), (body: { rule: Named }) => body.rule.name],
      [
        'a version',
        async () =>
          call('POST', `/pipelines/${await draft()}/versions`, { body: { configYaml: CONFIG_YAML } }),
        (body: { versionId: string }) => body.versionId,
      ],
      [
        'a secret',
        () => call('POST', '/secrets', { body: { name: `located_${++made}`, value: 'of-a-test' } }),
        (body: { secret: Named }) => body.secret.name,
      ],
    ];
    for (const [what, request, name] of MADE) {
      it(`say where ${what} is`, async () => {
        const answer = await request();
        expect(answer.status, answer.text).to.equal(201);
        const { location = '' } = answer.headers;
        expect(location).to.match(/^\/api\/v1\//);
        const found = await call('GET', location.slice('/api/v1'.length));
        expect(found.status).to.equal(200);
        expect(found.text).to.include(name(answer.json() as never));
      });
    }
  });

  describe('of entity tags', () => {
    it('answer 304 to who has it, with the tag and without a body', async () => {
      const id = await draft();
      for (const path of [`/pipelines/${id}`, '/nodes', '/alerts/rules', '/git/status', '/secrets?limit=1']) {
        const etag = etagOf(await call('GET', path));
        const same = await call('GET', path, { headers: { 'if-none-match': `"other", W/${etag}` } });
        expect([same.status, same.text, same.headers.etag], path).to.deep.equal([304, '', etag]);
        const other = await call('GET', path, { headers: { 'if-none-match': '"other"' } });
        expect(other.status, path).to.equal(200);
      }
    });

    it('answer in whole after a change', async () => {
      const id = await draft();
      const etag = etagOf(await call('GET', `/pipelines/${id}`));
      await call('PATCH', `/pipelines/${id}`, { body: { description: 'another' } });
      const answer = await call('GET', `/pipelines/${id}`, { headers: { 'if-none-match': etag } });
      expect(answer.status).to.equal(200);
      expect(etagOf(answer)).not.to.equal(etag);
    });

    it('let one of two writers through', async () => {
      const id = await draft();
      const path = `/pipelines/${id}/config`;
      const headers = { 'if-match': etagOf(await call('GET', path)) };
      const [one, other] = await Promise.all(
        ['json', 'shuffle'].map((format) =>
          call('PUT', path, { body: { configYaml: CONFIG_YAML.replace('json', format) }, headers }),
        ),
      );
      expect([one!.status, other!.status].sort()).to.deep.equal([200, 412]);
      const refused = one!.status === 412 ? one! : other!;
      expect(refused.json()).to.include({ code: 'ETAG_MISMATCH' });
    });

    it('let a change through that was begun before a deploy and a heartbeat: those set nothing', async () => {
      const id = await draft();
      const headers = { 'if-match': etagOf(await call('GET', `/pipelines/${id}`)) };
      expect((await call('POST', `/pipelines/${id}/deploy`, { body: { changelog: '' } })).status).to.equal(
        200,
      );
      const answer = await call('PATCH', `/pipelines/${id}`, { body: { description: 'mine' }, headers });
      expect(answer.status, answer.text).to.equal(200);
    });

    it('refuse with 412 what names another state, and take * for any', async () => {
      const { rule: made } = (await rule('tagged')).json<{ rule: Named }>();
      const path = `/alerts/rules/${made.id}`;
      const stale = etagOf(await call('GET', path));
      const change = (tag: string) =>
        call('PATCH', path, { body: { threshold: ++count }, headers: { 'if-match': tag } });
      let count = 5;
      expect((await change('*')).status).to.equal(200);
      expect((await change(stale)).status).to.equal(412);
      expect((await change(etagOf(await call('GET', path)))).status).to.equal(200);
      expect((await call('DELETE', path, { headers: { 'if-match': stale } })).status).to.equal(412);
      for (const tag of ['nonsense', 'x*', 'tag*tag', 'garbage "a" *', '"a" "b"', '"a",*'])
        expect((await call('DELETE', path, { headers: { 'if-match': tag } })).status, tag).to.equal(400);
      expect((await call('DELETE', path, { headers: { 'if-match': '*' } })).status).to.equal(200);
      expect((await change('*')).status).to.equal(404);
    });

    it('hold for secrets, which are replaced where they are listed', async () => {
      await call('POST', '/secrets', { body: { name: 'tagged', value: 'of-a-test' } });
      const stale = etagOf(await call('GET', '/secrets'));
      const replace = (tag: string) =>
        call('PUT', '/secrets', {
          body: { name: 'tagged', value: 'of-a-test' },
          headers: { 'if-match': tag },
        });
      expect((await replace(stale)).status).to.equal(200);
      expect((await replace(stale)).status).to.equal(412);
    });
  });

  describe('of pipelines that programs make', () => {
    it('make, configure, deploy and delete one with a key alone', async () => {
      const { pipeline } = (await call('POST', '/pipelines', { body: { name: 'by key' } })).json<{
        pipeline: Named;
      }>();
      const path = `/pipelines/${pipeline.id}`;
      const saved = await call('PUT', `${path}/config`, { body: { configYaml: CONFIG_YAML } });
      expect(saved.status, saved.text).to.equal(200);
      const { config } = (await call('GET', `${path}/config`)).json<{ config: { configYaml: string } }>();
      expect(config.configYaml).to.include('demo_logs');
      const again = await call('PUT', `${path}/config`, { body: { configYaml: config.configYaml } });
      expect(again.json()).to.deep.equal(saved.json());
      expect((await call('GET', `${path}/versions`)).json<{ versions: [] }>().versions).to.deep.equal([]);
      const deployed = await call('POST', `${path}/deploy`, { body: { changelog: 'by key' } });
      expect(deployed.json()).to.include({ success: true, versionNumber: 1 });
      const version = await call('GET', `/versions/${deployed.json<{ versionId: string }>().versionId}`);
      expect(version.json<{ version: object }>().version).to.include({ version: 1, changelog: 'by key' });
      expect((await call('DELETE', path)).json()).to.deep.equal({ deleted: true });
      expect((await call('GET', path)).status).to.equal(404);
    });

    it('show what is written out to a key that may edit, and blank it for one that may read', async () => {
      const { key } = await makeKey(teams.root, teams.ours.environmentId, ['pipelines.read']);
      const id = await draftPipeline(teams.root, teams.ours.environmentId, 'with a password', {
        ...{ format: 'shuffle', lines: ['x'], password: 'written-out-of-a-test' },
      });
      expect((await call('GET', `/pipelines/${id}/config`)).text).to.include('written-out-of-a-test');
      const reader = restClient(test.url, key);
      expect((await reader('GET', `/pipelines/${id}/config`)).status).to.equal(403);
      expect((await reader('GET', `/pipelines/${id}`)).text).not.to.include('written-out-of-a-test');
    });
  });

  describe('of a change that is sent again with its Idempotency-Key', () => {
    const KEYED: [method: string, request: () => Promise<{ path: string; body?: object }>][] = [
      [
        'PUT',
        async () => ({
          path: `/pipelines/${await draft()}/config`,
          body: { configYaml: CONFIG_YAML },
        }),
      ],
      ['PATCH', async () => ({ path: `/pipelines/${await draft()}`, body: { description: 'once' } })],
      ['DELETE', async () => ({ path: `/pipelines/${await draft()}` })],
    ];
    for (const [method, request] of KEYED) {
      it(`gives the first answer of a ${method} again`, async () => {
        const { path, body } = await request();
        const send = () =>
          call(method, path, { ...(body ? { body } : {}), headers: { 'idempotency-key': `once-${path}` } });
        const first = await send();
        expect(first.status, first.text).to.equal(200);
        const again = await send();
        expect([again.status, again.text]).to.deep.equal([200, first.text]);
        expect(again.headers['idempotent-replayed']).to.equal('true');
      });
    }

    it('gives the answer of what only looks again too, and keeps none of what came while too much was asked for', async () => {
      const plan = (key: string) =>
        call('POST', '/git/plan', { body: { ref: 'main' }, headers: { 'idempotency-key': key } });
      const first = await plan('plan-once');
      expect(first.status, first.text).to.equal(200);
      const again = await plan('plan-once');
      expect([again.text, again.headers['idempotent-replayed']]).to.deep.equal([first.text, 'true']);
      const keys = Array.from({ length: 24 }, (_, index) => `plan-${index}`);
      const answers = await Promise.all(keys.map(plan));
      const refused = keys.filter((_, index) => answers[index]?.status === 429);
      expect(refused.length).to.be.above(0);
      expect(await test.db('idempotent_requests').whereIn('key', refused)).to.deep.equal([]);
    });

    it('tells one DELETE from another by its query', async () => {
      for (const name of ['first_of_two', 'second_of_two'])
        await call('POST', '/secrets', { body: { name, value: 'of-a-test' } });
      const headers = { 'idempotency-key': 'two-deletes' };
      expect((await call('DELETE', '/secrets?name=first_of_two', { headers })).status).to.equal(200);
      expect((await call('DELETE', '/secrets?name=second_of_two', { headers })).status).to.equal(422);
    });

    it('says where what was made is, with the first answer and with each after it', async () => {
      const headers = { 'idempotency-key': 'made-and-located' };
      const send = () => call('POST', '/pipelines', { body: { name: 'made once' }, headers });
      const [first, again] = [await send(), await send()];
      expect(first.headers.location).to.match(/^\/api\/v1\/pipelines\/\w+$/);
      expect(again.headers.location).to.equal(first.headers.location);
    });
  });
});
