/**
 * Every row of the REST interface through its door, by one table: who may, what is refused, and that the answer has exactly
 * the form that is promised. A row without a case fails.
 */
import { expect } from 'chai';
import type { TObject } from 'typebox';
import type { RestRow } from '../../../api/rest/row.ts';
import { REST_ROWS } from '../../../api/rest/rows.ts';
import { mintToken } from '../../../controller/platform/crypto/tokens.ts';
import { PERMISSIONS, type Permission } from '../../../schemas/api/identity/service-accounts.ts';
import { validator } from '../../../schemas/validate.ts';
import { type HttpResponse, type SendOptions, send } from '../../support/clients/http.ts';
import {
  CONFIG_YAML,
  draftPipeline,
  followBranch,
  makeKey,
  openPull,
  type RestKey,
  restClient,
} from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { unknownFields } from '../../support/procedures/operations.ts';
import { openEvent } from '../../support/procedures/rows/alerts.ts';
import { wrongInputs } from '../../support/procedures/wrong-inputs.ts';
import { SECRET_VALUE, type Side, useTwoTeams } from '../../support/scenes/two-teams.ts';

/** The contract: method, path, permission, status, and the keys of the answer. */
const CONTRACT = `
GET /pipelines pipelines.read 200 pipelines
GET /pipelines/{id} pipelines.read 200 pipeline
POST /pipelines/{id}/deploy pipelines.deploy 200 success,versionId,versionNumber
POST /pipelines/{id}/undeploy pipelines.deploy 200 success
POST /pipelines/{id}/retry pipelines.deploy 200 nodes,success
GET /pipelines/{id}/versions pipelines.read 200 versions
POST /pipelines/{id}/rollback pipelines.deploy 200 success,versionId,versionNumber
GET /nodes nodes.read 200 nodes
GET /nodes/{id} nodes.read 200 node
POST /nodes/{id}/maintenance nodes.manage 200 node
GET /secrets secrets.read 200 secrets
POST /secrets secrets.manage 201 secret
PUT /secrets secrets.manage 200 secret
DELETE /secrets secrets.manage 200 deleted
GET /alerts/rules alerts.read 200 rules
POST /alerts/rules alerts.manage 201 rule
GET /audit audit.read 200 cursor,events,hasMore
POST /pipelines pipelines.edit 201 pipeline
PATCH /pipelines/{id} pipelines.edit 200 pipeline
DELETE /pipelines/{id} pipelines.edit 200 deleted
GET /pipelines/{id}/config pipelines.edit 200 config
PUT /pipelines/{id}/config pipelines.edit 200 config
POST /pipelines/{id}/versions pipelines.edit 201 success,versionId,versionNumber
GET /versions/{id} pipelines.read 200 version
GET /deployments/{id} pipelines.read 200 deployment
GET /alerts/rules/{id} alerts.read 200 rule
PATCH /alerts/rules/{id} alerts.edit 200 rule
DELETE /alerts/rules/{id} alerts.edit 200 deleted
GET /alerts/events alerts.read 200 events
GET /alerts/events/{id} alerts.read 200 event
POST /alerts/events/{id}/acknowledge alerts.manage 200 event
GET /alerts/silences alerts.read 200 silences
POST /alerts/silences alerts.manage 201 silence
POST /alerts/silences/{id}/end alerts.manage 200 silence
GET /pulls gitops.read 200 pullRequests
GET /pulls/{number} gitops.read 200 pullRequest
POST /pulls/{number}/reviews pulls.review 200 number
POST /pulls/{number}/merge pulls.merge 200 mergeSha,number
GET /git/export gitops.read 200 files,skipped
GET /git/jobs gitops.read 200 jobs
GET /git/status gitops.read 200 status
POST /git/jobs/{id}/retry gitops.manage 200 jobId
POST /git/sync gitops.manage 200 jobId
POST /git/plan gitops.read 200 plan
`;

interface Described {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}
interface Request {
  /** In the place of `{id}` or `{number}`. */
  id?: string;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
}
interface Case {
  /** A request that works with the key of the side's environment. `n` differs from call to call. */
  request(side: Side, n: number): Request | Promise<Request>;
  /** Requests that name, beside what is ours, something of another environment; the path's own id is tried anyway. */
  elsewhere?(ours: Request, theirs: Side): Request[];
}

const ROWS_PER_KEY = 10;
const UNKNOWN_ID = '01arz3ndektsv4rrffq69g5fav';

/** By the first word of the action. */
const ENTITY_TYPES: Record<string, string> = {
  ...{ pipeline: 'Pipeline', pullRequest: 'PullRequest', alertRule: 'AlertRule', node: 'Node' },
  ...{ alertEvent: 'AlertEvent', silence: 'Silence' },
  ...{ secret: 'Secret', gitSync: 'GitBinding' },
};

const keyOf = ({ method, path }: RestRow) => `${method} ${path}`;

describe('every row of the REST interface', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let all: RestKey;
  let rowsOfKey = ROWS_PER_KEY;
  let made = 0;
  /** Row and status of every answer. */
  const answered = new Set<string>();

  /** Keys that work no more. */
  let revoked: RestKey;
  let expired: RestKey;
  /** Keys by what they may do. */
  const keys = new Map<string, Promise<RestKey>>();
  const keyWith = (permissions: readonly Permission[]): Promise<RestKey> => {
    const wanted = permissions.join();
    const made = keys.get(wanted) ?? makeKey(teams.root, teams.ours.environmentId, permissions);
    keys.set(wanted, made);
    return made;
  };

  before(async () => {
    const { environmentId } = teams.ours;
    revoked = await makeKey(teams.root, environmentId);
    await teams.root.mutate('serviceAccount.revoke', { id: revoked.accountId });
    expired = await makeKey(teams.root, environmentId);
    await test
      .db('service_accounts')
      .where({ id: expired.accountId })
      .update({ expires_at: new Date(Date.now() - 1_000) });
    // Pull requests belong to a branch, and both environments would follow the same one.
    await followBranch(teams.theirs, 'theirs');
  });

  const freshSecret = async ({ environmentId }: Side, n: number) =>
    teams.root.mutate<{ id: string; name: string }>('secret.create', {
      environmentId,
      name: `short_lived_${n}`,
      value: SECRET_VALUE,
    });
  const draft = ({ environmentId }: Side, n: number) =>
    draftPipeline(teams.root, environmentId, `draft ${n}`);
  async function deployed(side: Side, n: number): Promise<{ id: string; versionId: string }> {
    const id = await draft(side, n);
    const { versionId } = await teams.root.mutate<{ versionId: string }>('deploy.agent', {
      pipelineId: id,
      changelog: 'first',
    });
    return { id, versionId };
  }

  const rule = async ({ environmentId, teamId }: Side): Promise<string> => {
    const fields = { metric: 'error_rate', condition: 'gt', threshold: 1, teamId };
    const name = `watched ${++made}`;
    const { id } = await teams.root.mutate<{ id: string }>('alert.createRule', {
      ...{ name, environmentId, ...fields },
    });
    return id;
  };
  const silence = {
    ...{ matchers: { node: 'nobody' }, reason: 'disks are replaced' },
    endsAt: new Date(Date.now() + 3_600_000).toISOString(),
  };
  const pull = (side: Side) => openPull(side, side.isOurs ? 'main' : 'theirs', ++made);

  const CASES: Record<string, Case> = {
    'GET /pipelines': { request: () => ({}) },
    'GET /pipelines/{id}': { request: ({ pipelineId }) => ({ id: pipelineId }) },
    'POST /pipelines/{id}/deploy': {
      request: async (side, n) => ({
        id: await draft(side, n),
        body: { changelog: 'from the build server' },
      }),
    },
    'POST /pipelines/{id}/retry': { request: async (side, n) => ({ id: (await deployed(side, n)).id }) },
    'POST /pipelines/{id}/undeploy': { request: async (side, n) => ({ id: (await deployed(side, n)).id }) },
    'GET /pipelines/{id}/versions': { request: ({ pipelineId }) => ({ id: pipelineId }) },
    'POST /pipelines/{id}/rollback': {
      request: async (side, n) => {
        const { id, versionId } = await deployed(side, n);
        return { id, body: { targetVersionId: versionId } };
      },
      elsewhere: (ours, { versionId }) => [{ ...ours, body: { targetVersionId: versionId } }],
    },
    'POST /pipelines': { request: (_, n) => ({ body: { name: `made ${n}`, description: 'by a program' } }) },
    'PATCH /pipelines/{id}': {
      request: async (side, n) => ({
        id: await draft(side, n),
        body: { name: `renamed ${n}`, logLevel: 'debug' },
      }),
    },
    'DELETE /pipelines/{id}': { request: async (side, n) => ({ id: await draft(side, n) }) },
    'GET /pipelines/{id}/config': { request: async (side, n) => ({ id: await draft(side, n) }) },
    'PUT /pipelines/{id}/config': {
      request: async (side, n) => ({ id: await draft(side, n), body: { configYaml: CONFIG_YAML } }),
    },
    'POST /pipelines/{id}/versions': {
      request: async (side, n) => ({
        id: await draft(side, n),
        body: { configYaml: CONFIG_YAML, changelog: 'x' },
      }),
    },
    'GET /versions/{id}': { request: ({ versionId }) => ({ id: versionId }) },
    'GET /deployments/{id}': { request: ({ versionId }) => ({ id: versionId }) },
    'GET /nodes': { request: () => ({}) },
    'GET /nodes/{id}': { request: ({ node }) => ({ id: node.nodeId }) },
    'POST /nodes/{id}/maintenance': {
      request: ({ node }, n) => ({ id: node.nodeId, body: { enabled: n % 2 === 0 } }),
    },
    'GET /secrets': { request: () => ({}) },
    'POST /secrets': { request: (_, n) => ({ body: { name: `made_${n}`, value: SECRET_VALUE } }) },
    'PUT /secrets': {
      request: async (side, n) => {
        const { id, name } = await freshSecret(side, n);
        return { body: { ...(n % 2 === 0 ? { id } : { name }), value: SECRET_VALUE } };
      },
      elsewhere: (_, { secretId }) => [{ body: { id: secretId, value: 'taken over' } }],
    },
    'DELETE /secrets': {
      request: async (side, n) => {
        const { id, name } = await freshSecret(side, n);
        const query: Record<string, string> = n % 2 === 0 ? { id } : { name };
        return { query };
      },
      elsewhere: (_, { secretId }) => [{ query: { id: secretId } }],
    },
    'GET /alerts/rules': { request: () => ({}) },
    'POST /alerts/rules': {
      request: ({ teamId, pipelineId }, n) => ({
        body: {
          name: `too many errors ${n}`,
          metric: 'error_rate',
          condition: 'gt',
          threshold: 0.5,
          durationSeconds: 120,
          teamId,
          pipelineId,
        },
      }),
      elsewhere: (ours, { pipelineId }) => [{ body: { ...ours.body, pipelineId } }],
    },
    'GET /alerts/rules/{id}': { request: async (side) => ({ id: await rule(side) }) },
    'PATCH /alerts/rules/{id}': {
      request: async (side) => ({ id: await rule(side), body: { threshold: 2, enabled: false } }),
    },
    'DELETE /alerts/rules/{id}': { request: async (side) => ({ id: await rule(side) }) },
    'GET /alerts/events': { request: () => ({ query: { status: 'open', limit: '3' } }) },
    'GET /alerts/events/{id}': { request: (side, n) => openEvent(side, n, teams.root) },
    'POST /alerts/events/{id}/acknowledge': {
      request: async (side, n) => ({
        ...(await openEvent(side, n, teams.root)),
        body: { note: 'looked at by a program' },
      }),
    },
    'GET /alerts/silences': { request: () => ({}) },
    'POST /alerts/silences': { request: () => ({ body: silence }) },
    'POST /alerts/silences/{id}/end': {
      request: async ({ environmentId }) => ({
        id: (await teams.root.mutate<{ id: string }>('alert.createSilence', { environmentId, ...silence }))
          .id,
      }),
    },
    'GET /pulls': { request: () => ({ query: { state: 'open', limit: '3' } }) },
    'GET /pulls/{number}': { request: async (side) => ({ id: (await pull(side)).id }) },
    'POST /pulls/{number}/reviews': {
      request: async (side) => {
        const { id, headSha } = await pull(side);
        return { id, body: { verdict: 'approve', headSha, body: 'looked at by a program' } };
      },
    },
    'POST /pulls/{number}/merge': {
      request: async (side) => {
        const { id, headSha } = await pull(side);
        return { id, body: { method: 'merge', headSha } };
      },
    },
    'GET /git/export': { request: () => ({}) },
    'GET /git/jobs': { request: () => ({ query: { status: 'failed', limit: '3' } }) },
    'GET /git/status': { request: () => ({}) },
    'POST /git/jobs/{id}/retry': {
      async request({ environmentId }, n) {
        const binding = await test.db('git_bindings').where({ environment_id: environmentId }).first('id');
        const id = `failed-${n}`;
        const job = { id, binding_id: binding.id, type: 'pass', status: 'failed', trigger: 'timer' };
        await test.db('git_jobs').insert(job);
        return { id };
      },
    },
    'POST /git/sync': { request: () => ({}) },
    'POST /git/plan': { request: () => ({ body: { ref: 'main' } }) },
    'GET /audit': { request: () => ({ query: { after: '0', limit: '3', action: 'secret.created' } }) },
  };

  async function call(
    row: RestRow,
    request: Request,
    key: string | null,
    more: SendOptions = {},
  ): Promise<HttpResponse> {
    const query = new URLSearchParams(request.query).toString();
    const path = row.path.replace(/\{\w+\}/, encodeURIComponent(request.id ?? ''));
    const answer = await restClient(test.url, key)(row.method, query ? `${path}?${query}` : path, {
      ...(request.body === undefined ? {} : { body: request.body }),
      ...more,
    });
    answered.add(`${keyOf(row)} ${answer.status}`);
    return answer;
  }
  const requestOf = (row: RestRow, side = teams.ours): Promise<Request> =>
    Promise.resolve(CASES[keyOf(row)]!.request(side, ++made));
  const expectRefusal = (answer: HttpResponse, status: number, what: string) => {
    expect(answer.status, `${what}: ${answer.text.slice(0, 300)}`).to.equal(status);
    expect(answer.headers['content-type'], what).to.include('application/json');
    const { error } = answer.json<{ error: string }>();
    expect(error, what).to.be.a('string').and.have.length.within(5, 1_000);
    return error;
  };
  const expectNoKey = (answer: HttpResponse, what: string) => {
    expectRefusal(answer, 401, what);
    expect(answer.headers['www-authenticate'], what).to.equal('Bearer');
  };

  it('is met under its method, path and permission, with nothing beside it', () => {
    const rows = REST_ROWS.map(
      (row) => `${keyOf(row)} ${row.operation.permission} ${row.status} ${fieldsOf(row).join()}`,
    );
    expect(rows.sort()).to.deep.equal(CONTRACT.trim().split('\n').sort());
    expect(Object.keys(CASES).sort()).to.deep.equal(REST_ROWS.map(keyOf).sort());
    expect(new Set(REST_ROWS.map(({ operationId }) => operationId)).size).to.equal(REST_ROWS.length);
  });

  for (const row of REST_ROWS) {
    describe(keyOf(row), () => {
      // What is refused changes nothing: all those cases are given the same.
      let good: Request;
      before(async () => {
        good = await requestOf(row);
        // A key may ask 600 times a minute.
        rowsOfKey += 1;
        if (rowsOfKey <= ROWS_PER_KEY) return;
        all = await makeKey(teams.root, teams.ours.environmentId);
        rowsOfKey = 1;
      });

      it('answers 401 without a key and with one that was revoked, whatever the request', async () => {
        for (const [request, key] of [
          [good, null],
          [good, revoked.key],
          [{ ...good, query: { surprise: '1' } }, null],
        ] as const)
          expectNoKey(await call(row, request, key), key === null ? 'none' : 'revoked');
      });

      it('answers 403 to a key with every permission but its own, and names that one', async () => {
        const { permission } = row.operation;
        const others = PERMISSIONS.filter((one) => one !== permission) as Permission[];
        const { key } = await keyWith(others);
        const error = expectRefusal(await call(row, good, key), 403, 'another key');
        expect(error).to.include(permission);
      });

      it('works with a key that has this permission alone, in the form that is promised, and leaves one event of it', async () => {
        const { key, accountId } = await keyWith([row.operation.permission!]);
        const events = () => test.db('audit_log').where({ user_id: accountId }).orderBy(['created_at', 'id']);
        // Secrets are named by id and by name.
        for (const request of row.path === '/secrets'
          ? [await requestOf(row), await requestOf(row)]
          : [await requestOf(row)]) {
          const before = (await events()).length;
          const answer = await call(row, request, key);
          expect(answer.status, answer.text).to.equal(row.status);
          expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
          expect(answer.headers['cache-control']).to.equal('no-store');
          const body = answer.json();
          const paged =
            request.query?.limit !== undefined && 'nextCursor' in (row.response as TObject).properties;
          const fields = [...fieldsOf(row), ...(paged ? ['nextCursor'] : [])];
          expect(Object.keys(body).sort()).to.deep.equal(fields.sort());
          expect(validator(row.response).issues(body)).to.deep.equal([]);
          expect(unknownFields(row.response, body), 'fields that the schema does not name').to.deep.equal([]);
          expect(answer.text).not.to.include(SECRET_VALUE);
          const wrong = { ...request, query: { ...request.query, surprise: '1' } };
          expectRefusal(await call(row, wrong, key), 400, 'surprise');
          expectLeft((await events()).slice(before));
        }
      });

      /** None of what is refused, and none of what only reads. */
      function expectLeft(events: { entity_id: unknown }[]): void {
        const { operation } = row;
        expect(events).to.have.length(operation.kind === 'mutation' ? 1 : 0);
        if (operation.kind !== 'mutation') return;
        expect(events[0]).to.include({
          ...{ action: operation.audit, entity_type: ENTITY_TYPES[operation.audit.split('.')[0] ?? ''] },
          ...(operation.audit === 'gitSync.retried' ? { entity_type: 'GitJob' } : {}),
          ...{ actor_type: 'service_account', ip_address: '127.0.0.1' },
          ...{ environment_id: teams.ours.environmentId, team_id: teams.ours.teamId },
        });
        expect(events[0]?.entity_id).to.be.a('string');
      }

      it('does not find what another environment has', async () => {
        const wrong = CASES[keyOf(row)]!.elsewhere?.(good, teams.theirs) ?? [];
        if (good.id !== undefined) {
          const theirs = await requestOf(row, teams.theirs);
          wrong.push({ ...good, id: theirs.id! }, { ...good, id: unknownId(row) });
        }
        for (const request of wrong) {
          const error = expectRefusal(await call(row, request, all.key), 404, JSON.stringify(request));
          expect(error).to.match(/not found$/);
        }
      });

      it('answers 400 to input of the wrong form, and names the place', async () => {
        const headers = { 'content-type': 'application/json' };
        const bad: { fields: string[]; request?: Request; body?: unknown }[] = [
          { fields: ['surprise'], request: { ...good, query: { ...good.query, surprise: '1' } } },
        ];
        if (row.body)
          for (const { fields, input } of wrongInputs('rest', row.body, good.body ?? {}))
            bad.push({ fields, body: input });
        else if (row.method !== 'GET' && row.method !== 'DELETE')
          bad.push({ fields: ['body'], body: { surprise: 1 } });
        const field = row.path.includes('{number}') ? 'number' : 'd';
        if (good.id !== undefined) bad.push({ fields: [field], request: { ...good, id: 'x'.repeat(65) } });
        for (const { fields, request = good, body } of bad) {
          const told = JSON.stringify(body ?? request).slice(0, 100);
          const more = body === undefined ? {} : { headers, body: JSON.stringify(body) };
          const answer = await call(row, request, all.key, more);
          const error = expectRefusal(answer, 400, told);
          const { details } = answer.json<{ details?: { path: string }[] }>();
          const named = details ? details.map(({ path }) => path).join() : error;
          for (const one of fields) expect(named, told).to.include(one);
        }
      });

      if (row.body)
        it('answers 413 to a body that is too large, and 415 to one that is not JSON', async () => {
          const huge = { ...good.body, padding: 'x'.repeat((row.bodyBytes ?? 256 * 1024) + 40_000) };
          expectRefusal(await call(row, { ...good, body: huge }, all.key), 413, 'huge');
          const [body, headers] = [JSON.stringify(good.body), { 'content-type': 'text/plain' }];
          expectRefusal(await call(row, good, all.key, { body, headers }), 415, 'text/plain');
        });
    });
  }

  describe('whatever the row', () => {
    const rowOf = (key: string) => REST_ROWS.find((row) => keyOf(row) === key)!;

    for (const row of [rowOf('GET /pipelines'), rowOf('POST /secrets')])
      it(`answers 401 to ${keyOf(row)} with any credential but a key that works`, async () => {
        const request = await requestOf(row);
        const KEYS: Record<string, string> = {
          unknown: mintToken('svc').token,
          'with another secret': all.key.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
          expired: expired.key,
          'personal token': teams.token,
          'no key at all': 'hunter2',
        };
        for (const [what, key] of Object.entries(KEYS)) expectNoKey(await call(row, request, key), what);
        for (const headers of [
          { cookie: teams.root.cookie },
          { cookie: teams.root.cookie, authorization: 'Bearer ' },
          { authorization: `Basic ${all.key}` },
          { authorization: all.key },
        ])
          expectNoKey(await call(row, request, null, { headers }), JSON.stringify(Object.keys(headers)));
        expect(await test.db('audit_log').where({ user_id: expired.accountId })).to.deep.equal([]);
      });

    it('answers 415 to what is not declared as plain JSON, and 400 to what is none', async () => {
      const row = rowOf('POST /secrets');
      const good = await requestOf(row);
      const text = JSON.stringify(good.body);
      const json = { 'content-type': 'application/json' };
      for (const headers of [
        ...[{ 'content-type': 'application/x-www-form-urlencoded' }, { 'content-type': 'application/jsonx' }],
        ...[{}, { ...json, 'content-encoding': 'gzip' }],
      ])
        expectRefusal(await call(row, good, all.key, { body: text, headers }), 415, JSON.stringify(headers));
      for (const body of ['{', '', 'null', '[]', '"text"'])
        expectRefusal(await call(row, good, all.key, { body, headers: json }), 400, `«${body}»`);
    });
  });

  describe('as it is described', () => {
    it('answers with no status that its description does not name', async () => {
      const { paths } = (await send(`${test.url}/api/v1/openapi.json`)).json<Described>();
      const described = REST_ROWS.flatMap((row) =>
        Object.keys(paths[`/api/v1${row.path}`]?.[row.method.toLowerCase()]?.responses ?? {}).map(
          (status) => `${keyOf(row)} ${status}`,
        ),
      );
      expect([...answered].filter((one) => !described.includes(one))).to.deep.equal([]);
      expect(answered.size).to.be.above(4 * REST_ROWS.length);
    });
  });

  describe('after all of them', () => {
    it('writes neither keys nor secret values to the log, and no secret value to the audit log', async () => {
      expect(test.log()).not.to.include(SECRET_VALUE);
      expect(test.log()).not.to.include(all.key.slice(-64));
      const audited = JSON.stringify(await test.db('audit_log'));
      expect(audited).not.to.include(SECRET_VALUE).and.not.include(all.key.slice(-64));
    });
  });
});

/** Those that are always there: `nextCursor` and `deployment` come where they are asked for. */
const fieldsOf = (row: RestRow): string[] => [...((row.response as TObject).required as string[])].sort();

const unknownId = (row: RestRow): string => (row.path.includes('{number}') ? '2147483647' : UNKNOWN_ID);
