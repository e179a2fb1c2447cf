/** What is the same for all of the REST interface: addresses, methods, limits, and its details row by row. */
import { expect } from 'chai';
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
    const MISSING = [
      '',
      '/',
      '/nothing',
      '/pipelines/',
      '/pipelines/a/b/c',
      '/pipelines/%zz',
      '/Pipelines',
      '//',
    ];
    for (const path of MISSING) {
      it(`answers 404 in JSON at "${path}", with and without a key`, async () => {
        for (const client of [call, restClient(test.url, null)]) {
          for (const method of ['GET', 'POST', 'OPTIONS']) {
            const answer = await client(method, path);
            expect(answer.status, method).to.equal(404);
            expect(answer.json<{ error: string }>().error).to.include('openapi.json');
          }
        }
      });
    }

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

    for (const label of ['region', ':eu', '', 'x'.repeat(400)]) {
      it(`answers 400 to the label "${label.slice(0, 10)}"`, async () => {
        const answer = await call('GET', `/nodes?label=${label}`);
        expect(answer.status).to.equal(400);
        expect(answer.json<{ error: string }>().error).to.include('label');
      });
    }

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
    for (const which of WHICH) {
      it(`wants exactly one of id and name, not ${JSON.stringify(which)}`, async () => {
        const put = await call('PUT', '/secrets', { body: { ...which, value: 'x' } });
        const remove = await call('DELETE', `/secrets?${new URLSearchParams(which)}`);
        for (const answer of [put, remove]) {
          expect(answer.status).to.equal(400);
          expect(answer.json<{ error: string }>().error).to.equal('Name the secret either by id or by name');
        }
      });
    }

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

  describe('for query parameters', () => {
    const WRONG: { query: string; says: string }[] = [
      { query: '/audit?after=abc', says: 'after' },
      { query: '/audit?after=-1', says: 'after' },
      { query: '/audit?after=1.5', says: 'after' },
      { query: '/audit?after=9999999999999999', says: 'after' },
      { query: '/audit?after=', says: 'after' },
      { query: '/audit?limit=0', says: 'limit' },
      { query: '/audit?limit=201', says: 'limit' },
      { query: '/audit?limit=ten', says: 'limit' },
      { query: '/audit?limit=1e2', says: 'limit' },
      { query: '/audit?limit=5&limit=6', says: 'more than once' },
      { query: '/audit?action=', says: 'action' },
      { query: `/audit?action=${'x'.repeat(101)}`, says: 'action' },
      { query: '/audit?cursor=5', says: 'cursor' },
      { query: '/audit?__proto__=5', says: '__proto__' },
      { query: '/pipelines?limit=0', says: 'limit' },
      { query: '/pipelines?limit=1001', says: 'limit' },
      { query: '/pipelines?cursor=%20', says: 'cursor' },
      { query: '/pipelines?cursor=c2VjcmV0czox', says: 'cursor' },
      { query: `/nodes?cursor=${'x'.repeat(201)}`, says: 'cursor' },
      { query: '/pipelines?name=', says: 'name' },
      { query: '/git/status?limit=5', says: 'limit' },
      { query: '/audit?action=%00', says: 'action' },
    ];
    for (const { query, says } of WRONG) {
      it(`answers 400 to ${query.slice(0, 50)}`, async () => {
        const answer = await call('GET', query);
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.json<{ error: string }>().error).to.include(says);
      });
    }
  });
});
