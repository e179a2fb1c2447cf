/** What is the same for all of the REST interface: addresses, methods, limits, and its details row by row. */
import { expect } from 'chai';
import { describeApi } from '../../../api/openapi/document.ts';
import { type SendOptions, send } from '../../support/clients/http.ts';
import {
  draftPipeline,
  makeKey,
  type RestCall,
  type RestKey,
  restClient,
} from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

interface Listed {
  id: string;
  name: string;
  version: number;
  changelog: string;
  createdById: string;
  isDeployed: boolean;
}

describe('the REST interface', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let key: RestKey;
  let call: RestCall;
  let drafts = 0;

  before(async () => {
    key = await makeKey(teams.root, teams.ours.environmentId);
    call = restClient(test.url, key.key);
  });

  const draft = (config?: object) =>
    draftPipeline(teams.root, teams.ours.environmentId, `of the door ${++drafts}`, config);

  describe('at addresses and with methods that it does not have', () => {
    it('answers 404 in JSON, with and without a key', async () => {
      const missing = [
        '',
        '/',
        '/nothing',
        '/pipelines/',
        '/pipelines/a/b/c',
        '/pipelines/%zz',
        '/Pipelines',
        '//',
      ];
      for (const path of missing)
        for (const [client, method] of [
          [call, 'GET'],
          [restClient(test.url, null), 'POST'],
          [call, 'OPTIONS'],
        ] as const) {
          const answer = await client(method, path);
          expect(answer.status, `${method} ${path}`).to.equal(404);
          expect(answer.json<{ error: string }>().error).to.include('openapi.json');
        }
    });

    it('answers 405 with the methods that there are', async () => {
      const answer = await call('PATCH', '/secrets', { body: {} });
      expect(answer.status).to.equal(405);
      expect(answer.headers.allow).to.equal('GET, POST, PUT, DELETE, HEAD, OPTIONS');
      expect(answer.json<{ error: string }>().error).to.include('PATCH');
      expect((await call('GET', '/pipelines/x/deploy')).headers.allow).to.equal('POST, OPTIONS');
    });

    it('tells its methods without a key, and nothing to other origins', async () => {
      const answer = await restClient(test.url, null)('OPTIONS', '/pipelines', {
        headers: { origin: 'https://elsewhere.example.org', 'access-control-request-method': 'GET' },
      });
      expect(answer.status).to.equal(204);
      expect(answer.headers.allow).to.equal('GET, POST, HEAD, OPTIONS');
      expect(answer.headers).not.to.have.property('access-control-allow-origin');
      expect((await call('GET', '/pipelines')).headers).not.to.have.property('access-control-allow-origin');
    });

    it('answers HEAD like GET, without the body, and wants a key for it', async () => {
      const [head, get] = [await call('HEAD', '/secrets'), await call('GET', '/secrets')];
      expect(head.status).to.equal(200);
      expect(head.text).to.equal('');
      expect(head.headers['content-type']).to.equal(get.headers['content-type']);
      expect((await restClient(test.url, null)('HEAD', '/secrets')).status).to.equal(401);
    });
  });

  it('takes the word Bearer in any case', async () => {
    const headers = { authorization: `bearer  ${key.key}` };
    expect((await restClient(test.url, null)('GET', '/nodes', { headers })).status).to.equal(200);
  });

  it('gives every answer an id, and tells of a wrong input where', async () => {
    const answer = await call('POST', '/secrets', { body: { name: '1 wrong', value: '' } });
    expect(answer.headers['x-request-id']).to.be.a('string');
    const { details } = answer.json<{ details: { path: string; message: string }[] }>();
    expect(details.map(({ path }) => path)).to.deep.equal(['/name', '/value']);
    expect(Object.keys(details[0]!).sort()).to.deep.equal(['message', 'path']);
  });

  it('refuses a body that is not UTF-8: its letters would be replaced in silence', async () => {
    const body = Buffer.concat([
      Buffer.from('{"name":"latin","value":"'),
      Buffer.from([0xe9]),
      Buffer.from('"}'),
    ]);
    const answer = await call('POST', '/secrets', { body, headers: { 'content-type': 'application/json' } });
    expect(answer.status).to.equal(400);
    expect(answer.json<{ error: string }>().error).to.equal('The body is not UTF-8');
  });

  it('limits the requests of one key, and not those of another', async function () {
    this.timeout(20_000);
    const busy = restClient(
      test.url,
      (await makeKey(teams.root, teams.ours.environmentId, ['metrics.read'])).key,
    );
    let answer = await busy('GET', '/secrets');
    for (let asked = 1; answer.status === 403 && asked < 700; asked++) answer = await busy('GET', '/secrets');
    expect(answer.status).to.equal(429);
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(answer.json<{ error: string }>().error).to.include('Too many requests');
    expect((await call('GET', '/secrets')).status).to.equal(200);
  });

  describe('for pipelines', () => {
    const versionsOf = async (id: string) =>
      (await call('GET', `/pipelines/${id}/versions`)).json<{ versions: Listed[] }>().versions;

    it('deploys, undeploys and rolls back, with a version each time but the second', async () => {
      const id = await draft();
      const first = (await call('POST', `/pipelines/${id}/deploy`, { body: { changelog: 'one' } })).json();
      expect(first).to.include({ success: true, versionNumber: 1 });
      const second = (
        await call('POST', `/pipelines/${id}/rollback`, { body: { targetVersionId: first.versionId } })
      ).json();
      expect(second).to.include({ success: true, versionNumber: 2 });
      expect((await call('POST', `/pipelines/${id}/undeploy`)).json()).to.deep.equal({ success: true });
      expect((await call('POST', `/pipelines/${id}/undeploy`, { body: {} })).json()).to.deep.equal({
        success: true,
      });
      const pipeline = (await call('GET', `/pipelines/${id}`)).json<{
        pipeline: { isDraft: boolean; latestVersionNumber: number; deployedAt: null };
      }>().pipeline;
      expect(pipeline).to.include({ isDraft: true, latestVersionNumber: 2, deployedAt: null });
      expect((await versionsOf(id)).map(({ version, changelog }) => `${version} ${changelog}`)).to.deep.equal(
        ['2 Rollback to version 1', '1 one'],
      );
    });

    it('names the service account that created a version, also when that is gone', async () => {
      const account = await teams.root.mutate<{ id: string; key: string }>('serviceAccount.create', {
        environmentId: teams.ours.environmentId,
        name: 'release robot',
        permissions: ['pipelines.deploy'],
      });
      const id = await draft();
      const deploy = { body: { changelog: 'by the robot' } };
      await restClient(test.url, account.key)('POST', `/pipelines/${id}/deploy`, deploy);
      const created = { createdById: account.id, createdByName: 'release robot', source: 'api' };
      expect((await versionsOf(id))[0]).to.include(created);
      await teams.root.mutate('serviceAccount.delete', { id: account.id });
      expect((await versionsOf(id))[0]).to.include(created);
      const [listed] = await teams.root.query<{ id: string }[]>('pipeline.versions', { pipelineId: id });
      expect(listed).to.include(created);
      expect(
        await teams.root.query<object>('pipeline.getVersion', { versionId: listed?.id }),
      ).to.deep.include(created);
    });

    it('keeps the types that are promised where nothing is known', async () => {
      const id = await draft();
      await call('POST', `/pipelines/${id}/deploy`, { body: { changelog: '' } });
      const [version] = await versionsOf(id);
      expect(version).to.include({ changelog: '', version: 1, isDeployed: true });
      const { pipelines } = (await call('GET', '/pipelines')).json<{
        pipelines: Record<string, unknown>[];
      }>();
      const listed = pipelines.find((one) => one.id === id)!;
      expect(listed).to.include({ description: '', isDraft: false });
      for (const field of ['deployedAt', 'createdAt', 'updatedAt'])
        expect(new Date(String(listed[field])).toISOString()).to.equal(listed[field]);
    });

    it('answers 422 with what is wrong to a deploy of what is not valid, and changes nothing', async () => {
      const id = await draft({ format: 'shuffle', lines: ['$SVC_SECRET_NOT_THERE'] });
      const answer = await call('POST', `/pipelines/${id}/deploy`, { body: { changelog: 'x' } });
      expect(answer.status, answer.text).to.equal(422);
      const body = answer.json<{ error: string; validationErrors: { message: string }[] }>();
      expect(body.error).to.be.a('string');
      expect(JSON.stringify(body.validationErrors)).to.include('SVC_SECRET_NOT_THERE');
      expect(await versionsOf(id)).to.deep.equal([]);
    });

    it('answers 412 with path and line for what git describes', async () => {
      const answer = await call('POST', `/pipelines/${teams.ours.pipelineId}/deploy`, {
        body: { changelog: 'x' },
      });
      expect(answer.status).to.equal(412);
      expect(answer.json()).to.include({ path: 'ours/orders.yaml', line: 1 });
    });
  });

  describe('for nodes', () => {
    const named = async (query: string) =>
      (await call('GET', `/nodes${query}`)).json<{ nodes: Listed[] }>().nodes.map(({ name }) => name);

    it('lists those that carry every label that is asked for', async () => {
      await test
        .db('nodes')
        .where({ id: teams.ours.node.nodeId })
        .update({ ui_labels: { region: 'eu', 'site:hall': 'a:b' } });
      expect(await named('')).to.deep.equal(['ours-node']);
      expect(await named('?label=region:eu')).to.deep.equal(['ours-node']);
      expect(await named('?label=region:eu&label=site:hall:a:b')).to.deep.equal(['ours-node']);
      expect(await named('?label=region:eu&label=site:hall:c')).to.deep.equal([]);
      expect(await named('?label=region:us')).to.deep.equal([]);
      expect(await named('?label=region:eu&label=region:us')).to.deep.equal([]);
    });

    it('takes the pipelines off a node at once in maintenance, and gives them back', async () => {
      const { node } = teams.ours;
      const served = async () =>
        (await node.config()).json<{ pipelines: unknown[]; configRevision: number }>();
      const before = await served();
      expect(before.pipelines).not.to.deep.equal([]);
      const answer = await call('POST', `/nodes/${node.nodeId}/maintenance`, { body: { enabled: true } });
      expect(answer.json<{ node: object }>().node).to.include({ id: node.nodeId, maintenance: true });
      await until(async () => (await served()).pipelines.length === 0, {
        what: 'the node to be served nothing',
      });
      expect((await served()).configRevision).to.be.greaterThan(before.configRevision);
      await call('POST', `/nodes/${node.nodeId}/maintenance`, { body: { enabled: false } });
      await until(async () => (await served()).pipelines.length === before.pipelines.length, {
        what: 'the pipelines to be served again',
      });
    });
  });

  describe('for secrets', () => {
    const WHICH: Record<string, string>[] = [{}, { id: 'x', name: 'y' }];
    it('wants exactly one of id and name', async () => {
      for (const which of WHICH) {
        const put = await call('PUT', '/secrets', { body: { ...which, value: 'x' } });
        const remove = await call('DELETE', `/secrets?${new URLSearchParams(which)}`);
        for (const answer of [put, remove]) {
          expect(answer.status, JSON.stringify(which)).to.equal(400);
          expect(answer.json<{ error: string }>().error).to.equal('Name the secret either by id or by name');
        }
      }
    });

    it('answers 404 to a name that is not there, and 409 to one that is taken', async () => {
      expect((await call('PUT', '/secrets', { body: { name: 'nobody', value: 'x' } })).status).to.equal(404);
      expect((await call('DELETE', '/secrets?name=nobody')).status).to.equal(404);
      const again = await call('POST', '/secrets', { body: { name: 'db_password', value: 'x' } });
      expect(again.status).to.equal(409);
    });

    it('does not tell a key that may not change secrets which names there are', async () => {
      const reader = restClient(
        test.url,
        (await makeKey(teams.root, teams.ours.environmentId, ['nodes.read'])).key,
      );
      const answers = await Promise.all(
        ['db_password', 'nobody'].map((name) => reader('PUT', '/secrets', { body: { name, value: 'x' } })),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([403, 403]);
      expect(answers[0]!.text).to.equal(answers[1]!.text);
    });

    it('keeps a secret that something deployed uses', async () => {
      const answer = await call('DELETE', '/secrets?name=db_password');
      expect(answer.status).to.equal(412);
      expect(answer.json<{ error: string }>().error).to.include('orders');
    });
  });

  it('answers 400 to wrong query parameters, and names them', async () => {
    const WRONG: [says: string, queries: string[]][] = [
      ['after', ['abc', '-1', '1.5', '9999999999999999', ''].map((value) => `/audit?after=${value}`)],
      [
        'limit',
        [
          ...['0', '201', 'ten', '1e2'].map((value) => `/audit?limit=${value}`),
          ...['/pipelines?limit=0', '/pipelines?limit=1001', '/git/status?limit=5'],
        ],
      ],
      ['more than once', ['/audit?limit=5&limit=6']],
      ['action', ['', 'x'.repeat(101), '%00'].map((value) => `/audit?action=${value}`)],
      [
        'cursor',
        [
          ...['/audit?cursor=5', '/pipelines?cursor=%20', '/pipelines?cursor=c2VjcmV0czox'],
          `/nodes?cursor=${'x'.repeat(201)}`,
        ],
      ],
      ['__proto__', ['/audit?__proto__=5']],
      ['name', ['/pipelines?name=']],
      ['label', ['region', ':eu', '', 'x'.repeat(400)].map((value) => `/nodes?label=${value}`)],
    ];
    for (const [says, queries] of WRONG)
      for (const query of queries) {
        const answer = await call('GET', query);
        expect(answer.status, query).to.equal(400);
        expect(answer.json<{ error: string }>().error, query).to.include(says);
      }
  });

  describe('for its description', () => {
    const get = (options: SendOptions = {}) => send(`${test.url}/api/v1/openapi.json`, options);

    it('needs no key, is open to every origin, and is the document', async () => {
      const headers = { origin: 'https://editor.example.org' };
      const answer = await get({ headers });
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.include('application/json');
      expect(answer.headers).not.to.have.property('set-cookie');
      const described = describeApi({ baseUrl: test.url, cookieName: 'headgate.session-token' });
      const { paths, components } = JSON.parse(JSON.stringify(described)) as Record<string, object>;
      expect(answer.json()).to.deep.include({ paths, components });
      const asked = {
        ...headers,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-requested-with',
      };
      const before = await get({ method: 'OPTIONS', headers: asked });
      expect(before.status).to.equal(204);
      expect(before.headers['access-control-allow-methods']).to.include('GET');
      expect(before.headers['access-control-allow-headers']).to.equal('*');
      const { etag } = answer.headers;
      expect(etag).to.match(/^"[\w-]{20,}"$/);
      const same = await get({ headers: { 'if-none-match': etag } });
      expect([same.status, same.text]).to.deep.equal([304, '']);
      for (const one of [answer, before, same]) {
        expect(one.headers['access-control-allow-origin']).to.equal('*');
        expect(one.headers).not.to.have.property('access-control-allow-credentials');
      }
      expect((await get({ headers: { 'if-none-match': '"other"' } })).status).to.equal(200);
    });

    it('takes GET, HEAD and OPTIONS alone', async () => {
      const head = await get({ method: 'HEAD' });
      expect([head.status, head.text]).to.deep.equal([200, '']);
      const post = await get({ method: 'POST', body: {} });
      expect([post.status, post.headers.allow]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    });
  });
});
