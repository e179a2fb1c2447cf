/** What other sites, strangers and proxies may make the controller believe: nothing. */
import { expect } from 'chai';
import { type ApiSurfaces, makeApiSurfaces } from '../../support/clients/api-surfaces.ts';
import { send } from '../../support/clients/http.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';
import { EXEC_SECRETS } from '../../support/procedures/rows/environments.ts';
import { ROWS } from '../../support/procedures/rows/index.ts';
import { NOTHING, signIn, trySignIn } from '../../support/users/person.ts';

const MUTATIONS = [...PROCEDURE_KINDS].filter(([, kind]) => kind === 'mutation').map(([name]) => name);
const ELSEWHERE = 'https://elsewhere.example';

describe('a request that another site made a browser send', function () {
  this.timeout(60_000);
  let test: TestController;
  let doors: ApiSurfaces;
  /** Of each mutation, what would work. */
  const inputs = new Map<string, string>();

  before(async () => {
    test = await startTestController({ execSecretCommands: [EXEC_SECRETS] });
    doors = await makeApiSurfaces(test);
    for (const [n, name] of MUTATIONS.entries()) {
      const input = await ROWS[name]?.input(doors.teams.ours, n, doors.teams.root);
      inputs.set(name, JSON.stringify({ json: input === NOTHING ? {} : input }));
    }
  });
  after(async () => {
    await doors?.teams.git.remove();
    await test?.stop();
  });

  const auditRows = async () =>
    Number((await test.db('audit_log').where({ actor_type: 'user' }).count('* as n').first())?.n);

  const WAYS: { how: string; headers: Record<string, string>; status: number }[] = [
    { how: 'with its origin', headers: { origin: ELSEWHERE }, status: 403 },
    { how: 'with the origin of a page in a sandbox', headers: { origin: 'null' }, status: 403 },
    {
      how: 'with an origin that begins like ours',
      headers: { origin: 'http://127.0.0.1:0.elsewhere.example' },
      status: 403,
    },
    { how: 'with Sec-Fetch-Site: cross-site', headers: { 'sec-fetch-site': 'cross-site' }, status: 403 },
    { how: 'as a form', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 415 },
    {
      how: 'as a form with files',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      status: 415,
    },
    { how: 'as text', headers: { 'content-type': 'text/plain' }, status: 415 },
    {
      how: 'as text that mentions JSON',
      headers: { 'content-type': 'text/plain; application/json' },
      status: 415,
    },
  ];
  for (const { how, headers, status } of WAYS) {
    it(`${how} changes nothing by any mutation`, async () => {
      const { cookie } = doors.teams.root;
      const before = await auditRows();
      for (const [name, body] of inputs) {
        const answer = await send(`${test.url}/api/trpc/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie, ...headers },
          body,
        });
        expect(answer.status, name).to.equal(status);
      }
      expect(await auditRows()).to.equal(before);
    });

    it(`${how} neither signs in nor out`, async () => {
      const { editor } = doors.teams;
      const body = JSON.stringify({ email: editor.email, password: 'correct horse battery' });
      for (const path of ['/api/auth/sign-in', '/api/auth/sign-out']) {
        const answer = await send(`${test.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie: editor.cookie, ...headers },
          body,
        });
        expect(answer.status, path).to.equal(status);
        expect(answer.headers, path).not.to.have.property('set-cookie');
      }
      expect((await editor.call('query', 'user.me')).status).to.equal(200);
    });
  }

  it('by a link, an image or a script of a sibling reads nothing that a session sees', async () => {
    const headers = { cookie: doors.teams.root.cookie };
    for (const path of [
      '/api/trpc/user.me',
      '/api/auth/session',
      '/api/events',
      '/api/audit/export?format=csv',
    ])
      for (const site of ['cross-site', 'same-site']) {
        const answer = await send(`${test.url}${path}`, { headers: { ...headers, 'sec-fetch-site': site } });
        expect(answer.status, `${path} ${site}`).to.equal(403);
        expect(answer.text, path).not.to.include(doors.teams.root.email);
      }
    for (const [path, site] of [
      ['/api/v1/openapi.json', 'cross-site'],
      ['/e/x/pipelines', 'cross-site'],
      ['/api/trpc/user.me', 'same-origin'],
      ['/api/trpc/user.me', 'none'],
    ])
      expect(
        (await send(`${test.url}${path}`, { headers: { ...headers, 'sec-fetch-site': site } })).status,
      ).to.equal(200);
  });

  it('changes nothing by GET, whatever the mutation', async () => {
    const before = await auditRows();
    for (const [name, body] of inputs) {
      const address = `${test.url}/api/trpc/${name}?input=${encodeURIComponent(body)}`;
      const answer = await send(address, { headers: { cookie: doors.teams.root.cookie } });
      expect(answer.status, name).to.be.oneOf([400, 405, 431]);
    }
    expect(await auditRows()).to.equal(before);
  });

  it('finds no use for the session’s cookie where programs and nodes have keys', async () => {
    const { cookie } = doors.teams.root;
    for (const [method, path] of [
      ['GET', '/api/v1/pipelines'],
      ['POST', '/api/v1/secrets'],
      ['GET', '/api/agent/config'],
      ['POST', '/api/agent/heartbeat'],
      ['GET', '/git/config.git/info/refs?service=git-receive-pack'],
    ]) {
      const answer = await send(`${test.url}${path}`, {
        method: method ?? 'GET',
        headers: { cookie },
        ...(method === 'POST' ? { body: {} } : {}),
      });
      expect(answer.status, path).to.equal(401);
    }
  });

  it('with the name of another host leads to no address there', async () => {
    const headers = {
      host: 'elsewhere.example',
      'x-forwarded-host': 'elsewhere.example',
      'x-forwarded-proto': 'https',
    };
    for (const path of [
      ...['/', '/sign-in', '/api/v1/openapi.json', '/schemas/v1/pipeline.json', '/agent/install.sh'],
      ...['/agent/releases.json', '/api/auth/providers', '/api/auth/oidc/login', '/nowhere/else.txt'],
    ]) {
      const answer = await send(`${test.url}${path}`, { headers });
      expect(answer.text, path).not.to.include('elsewhere.example');
      expect(JSON.stringify(answer.headers), path).not.to.include('elsewhere.example');
    }
    const { environmentId } = doors.teams.ours;
    for (const [name, input] of [
      ['gitSync.status', { environmentId }],
      ['pipeline.list', { environmentId }],
      ['user.listTokens', {}],
    ] as const) {
      const query = encodeURIComponent(JSON.stringify({ json: input }));
      const answer = await send(`${test.url}/api/trpc/${name}?input=${query}`, {
        headers: { ...headers, cookie: doors.teams.root.cookie },
      });
      expect(answer.text, name).not.to.include('elsewhere.example');
    }
  });

  it('names an address that is in no audit row and no limit', async () => {
    const forged = {
      'x-forwarded-for': '203.0.113.7',
      forwarded: 'for=203.0.113.7',
      'x-real-ip': '203.0.113.7',
    };
    await trySignIn(test.url, doors.teams.viewer.email, 'not the password', forged);
    await send(`${test.url}/api/trpc/team.create`, {
      headers: { cookie: doors.teams.root.cookie, ...forged },
      body: { json: { name: 'made from afar' } },
    });
    const rows: { ip_address: string | null }[] = await test.db('audit_log').select('ip_address');
    expect(rows.map((row) => row.ip_address)).not.to.include('203.0.113.7');
    expect(JSON.stringify(await test.db('sign_in_throttles').select('*'))).not.to.include('203.0.113.7');
  });
});

describe('a proxy that is named', function () {
  this.timeout(30_000);
  let test: TestController;

  before(async () => {
    test = await startTestController({ trustedProxies: ['127.0.0.1', '10.0.0.0/8'] });
  });
  after(() => test?.stop());

  const addressOf = async (headers: Record<string, string>): Promise<string | null> => {
    const root = await signIn(test.url, test.config.adminEmail, test.config.adminPassword ?? '');
    const name = `by ${JSON.stringify(headers)}`.slice(0, 60);
    const answer = await send(`${test.url}/api/trpc/team.create`, {
      headers: { cookie: root.cookie, ...headers },
      body: { json: { name } },
    });
    expect(answer.status, answer.text).to.equal(200);
    const row = await test
      .db('audit_log')
      .where({ action: 'team.created' })
      .orderBy('created_at', 'desc')
      .first();
    return row?.ip_address ?? null;
  };

  it('is believed for the nearest address that is none of the proxies', async () => {
    expect(await addressOf({ 'x-forwarded-for': '198.51.100.4' })).to.equal('198.51.100.4');
    expect(await addressOf({ 'x-forwarded-for': '203.0.113.7, 198.51.100.5' })).to.equal('198.51.100.5');
    expect(await addressOf({ 'x-forwarded-for': '203.0.113.7, 198.51.100.6, 10.1.2.3' })).to.equal(
      '198.51.100.6',
    );
  });

  it('is not believed for what is no address', async () => {
    for (const value of ['unknown', '<script>', '1.2.3', ', ,', `${'1.2.3.4,'.repeat(500)}x`])
      expect(await addressOf({ 'x-forwarded-for': value }), value).to.equal('127.0.0.1');
  });
});
