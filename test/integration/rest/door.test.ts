/** What is the same for all of the REST interface: addresses, methods, limits, and its details row by row. */

import { expect } from 'chai';
import { describeApi } from '../../../api/openapi/document.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { git } from '../../support/clients/fast-import.ts';
import { type SendOptions, send } from '../../support/clients/http.ts';
import { statusesOf } from '../../support/clients/pipelined.ts';
import {
  draftPipeline,
  followBranch,
  makeKey,
  openPull,
  type RestCall,
  type RestKey,
  restClient,
  useRest,
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
interface Deployed {
  versionId: string;
  versionNumber: number;
  deployment?: { id: string; state: string; reason: string; nodeCounts: { total: number } };
}
interface Pull {
  number: number;
  state: string;
  approvals: number;
  merge: { refusal: string | null };
  reviews: { reviewer: string; verdict: string }[];
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
    const { key } = await makeKey(teams.root, teams.ours.environmentId, ['metrics.read']);
    const busy = restClient(test.url, key);
    const request = { path: '/api/v1/secrets', headers: { Authorization: `Bearer ${key}` } };
    const statuses = await statusesOf(test.url, Array(650).fill(request));
    expect(new Set(statuses)).to.deep.equal(new Set([403, 429]));
    const answer = await busy('GET', '/secrets');
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

  describe('a deployment by REST', function () {
    this.timeout(60_000);
    const rest = useRest(test, teams);
    const call: RestCall = (...request) => rest.call(...request);
    let made = 0;

    const draft = () => draftPipeline(teams.root, teams.ours.environmentId, `followed ${++made}`);
    const deploy = async (id: string, query = '', client = call): Promise<Deployed> => {
      const answer = await client('POST', `/pipelines/${id}/deploy${query}`, { body: { changelog: '' } });
      expect(answer.status, answer.text).to.equal(200);
      return answer.json<Deployed>();
    };
    const follow = async (versionId: string) =>
      (await call('GET', `/deployments/${versionId}`)).json<{
        deployment: NonNullable<Deployed['deployment']>;
      }>().deployment;
    const report = (pipelineId: string, version: number) =>
      teams.ours.node.heartbeat(
        heartbeat({
          pipelines: [{ pipelineId, version, status: 'RUNNING', pid: 7, uptimeSeconds: 3, eventsIn: 1 }],
        }),
      );

    it('is answered at once without `wait`, as ever, and can be followed to its end', async () => {
      const id = await draft();
      const { versionId, ...rest } = await deploy(id);
      expect(rest).to.deep.equal({ success: true, versionNumber: 1 });
      expect(await follow(versionId)).to.include({ id: versionId, pipelineId: id, state: 'IN_PROGRESS' });
      await report(id, 1);
      await until(async () => (await follow(versionId)).state === 'SUCCEEDED', {
        what: 'the version to run',
      });
      const second = await deploy(id);
      expect((await follow(versionId)).state).to.equal('SUPERSEDED');
      await call('POST', `/pipelines/${id}/undeploy`);
      expect((await follow(second.versionId)).state).to.equal('UNDEPLOYED');
    });

    it('is answered with `wait` as soon as it runs, to a key that may deploy and not read', async () => {
      const { key } = await makeKey(teams.root, teams.ours.environmentId, ['pipelines.deploy']);
      const id = await draft();
      const waiting = deploy(id, '?wait=60', restClient(test.url, key));
      await until(
        async () => (await test.db('pipelines').where({ id }).first('is_draft')).is_draft === false,
        {
          what: 'the deploy',
        },
      );
      await report(id, 1);
      const { deployment, versionId } = await waiting;
      expect(deployment).to.include({ id: versionId, state: 'SUCCEEDED' });
    });

    it('is answered when the time is over, with where it stands', async () => {
      const { deployment } = await deploy(await draft(), '?wait=1');
      expect(deployment?.state).to.equal('IN_PROGRESS');
      expect(deployment?.reason).to.be.a('string').with.length.above(5);
    });

    it('waits for 1 to 60 seconds', async () => {
      const id = await draft();
      for (const wait of ['0', '61', 'long']) {
        const answer = await call('POST', `/pipelines/${id}/deploy?wait=${wait}`, {
          body: { changelog: '' },
        });
        expect(answer.status, wait).to.equal(400);
        expect(answer.json()).to.include({ code: 'BAD_REQUEST' });
      }
    });

    it('is made once by one Idempotency-Key, however long the second request waits', async () => {
      const id = await draft();
      const send = (query: string) =>
        call('POST', `/pipelines/${id}/deploy${query}`, {
          body: { changelog: '' },
          headers: { 'idempotency-key': `waited-${id}` },
        });
      const [first, again] = [await send(''), await send('?wait=1')];
      expect(again.headers['idempotent-replayed']).to.equal('true');
      expect(again.json()).to.deep.include(first.json());
      expect(again.json<Deployed>().deployment?.state).to.equal('IN_PROGRESS');
    });
  });

  describe('pull requests by REST', function () {
    this.timeout(60_000);
    const rest = useRest(test, teams);
    const call: RestCall = (...request) => rest.call(...request);
    let made = 0;

    const opened = () => openPull(teams.ours, 'main', ++made);
    const get = async (number: string) =>
      (await call('GET', `/pulls/${number}`)).json<{ pullRequest: Pull }>().pullRequest;
    const merge = (number: string, headSha: string) =>
      call('POST', `/pulls/${number}/merge`, { body: { method: 'squash', headSha } });

    it('come in pages, from the newest', async () => {
      const numbers = [(await opened()).id, (await opened()).id, (await opened()).id].map(Number);
      const page = async (query: string) =>
        (await call('GET', `/pulls?state=open&${query}`)).json<{
          pullRequests: Pull[];
          nextCursor: string | null;
        }>();
      const first = await page('limit=2');
      expect(first.pullRequests.map(({ number }) => number)).to.deep.equal([numbers[2], numbers[1]]);
      const second = await page(`limit=2&cursor=${first.nextCursor}`);
      expect(second.pullRequests.map(({ number }) => number)).to.deep.equal([numbers[0]]);
      expect(second.nextCursor).to.equal(null);
    });

    it('are not merged into a branch that another environment follows, and say so before', async () => {
      const { id, headSha } = await opened();
      expect((await get(id)).merge.refusal).to.be.a('string');
      const answer = await merge(id, headSha);
      expect([answer.status, answer.json<{ code: string }>().code]).to.deep.equal([403, 'FORBIDDEN']);
      expect(answer.text).to.include('Other environments follow');
      expect((await get(id)).state).to.equal('open');
    });

    describe('against a branch that one environment alone follows', () => {
      before(() => followBranch(teams.theirs, 'theirs'));

      it('are merged at the commit that was looked at, and at no other', async () => {
        const { id, headSha } = await opened();
        expect((await get(id)).merge.refusal).to.equal(null);
        // Of no commit, and of the one that the base stands at, which it holds already.
        const base = git(teams.ours.gitdir, 'rev-parse', 'main');
        for (const wrong of ['0'.repeat(40), base]) {
          const refused = await merge(id, wrong);
          expect(refused.status, refused.text).to.equal(409);
          expect(refused.text).to.include('now; review the new commits');
        }
        expect((await get(id)).state).to.equal('open');
        const merged = await merge(id, headSha);
        expect(merged.status, merged.text).to.equal(200);
        expect(merged.json<{ mergeSha: string }>().mergeSha).to.match(/^[0-9a-f]{40}$/);
        expect((await get(id)).state).to.equal('merged');
      });

      it('are reviewed by a key without counting for an approval that a merge needs', async () => {
        await test
          .db('git_bindings')
          .where({ environment_id: teams.ours.environmentId })
          .update({ required_approvals: 1 });
        const { id, headSha } = await opened();
        const body = { verdict: 'approve', headSha, body: 'checks are green' };
        expect((await call('POST', `/pulls/${id}/reviews`, { body })).status).to.equal(200);
        const pull = await get(id);
        expect(pull.reviews.map(({ verdict }) => verdict)).to.deep.equal(['approve']);
        expect(pull.approvals).to.equal(0);
        const refused = await merge(id, headSha);
        expect([refused.status, refused.json<{ code: string }>().code]).to.deep.equal([
          412,
          'PRECONDITION_FAILED',
        ]);
      });
    });
  });
});
