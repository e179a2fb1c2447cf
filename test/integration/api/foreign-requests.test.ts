/** What other sites, strangers and proxies may make the controller believe: nothing. */
import { expect } from 'chai';
import { sampleOf } from '../../../api/openapi/samples.ts';
import { send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';
import { PASSWORD, signIn, trySignIn } from '../../support/users/person.ts';

const ELSEWHERE = 'https://elsewhere.example';
/** Of each mutation, an input of its form. */
const INPUTS = [...PROCEDURE_KINDS]
  .filter(([, kind]) => kind === 'mutation')
  .map(([name]) => [name, JSON.stringify({ json: sampleOf(OPERATIONS.get(name)?.input ?? {}) })] as const);
/** Whichever procedure it is, it is refused before that is looked at: the other ways are tried with some. */
const SOME = INPUTS.filter((_, index) => index % 40 === 0);

describe('a request that another site made a browser send', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTestEnvironments(test);

  const auditRows = async () =>
    Number((await test.db('audit_log').where({ actor_type: 'user' }).count('* as n').first())?.n);

  const json = { 'content-type': 'application/json' };
  const as = (type: string) => ({ 'content-type': type });
  const WAYS: [how: string, status: number, headers: Record<string, string>, inputs?: typeof INPUTS][] = [
    ['with its origin', 403, { ...json, origin: ELSEWHERE }, INPUTS],
    ['with the origin of a page in a sandbox', 403, { ...json, origin: 'null' }],
    ['with another port of our host', 403, { ...json, origin: 'http://127.0.0.1:1' }],
    [
      'with an origin that begins like ours',
      403,
      { ...json, origin: 'http://127.0.0.1:0.elsewhere.example' },
    ],
    ['with Sec-Fetch-Site: cross-site', 403, { ...json, 'sec-fetch-site': 'cross-site' }],
    ['as a form', 415, as('application/x-www-form-urlencoded'), INPUTS],
    ['as a form with files', 415, as('multipart/form-data; boundary=x')],
    ['as text', 415, as('text/plain')],
    ['as text that mentions JSON', 415, as('text/plain; application/json')],
    ['as nothing that has a type', 415, {}],
  ];
  for (const [how, status, headers, inputs = SOME] of WAYS)
    it(`${how} changes nothing by a mutation, and neither signs in nor out`, async () => {
      const before = await auditRows();
      const post = (path: string, cookie: string, body: string) =>
        send(`${test.url}/api/${path}`, { method: 'POST', headers: { cookie, ...headers }, body });
      for (const [name, body] of inputs) {
        const answer = await post(`trpc/${name}`, teams.root.cookie, body);
        expect(answer.status, name).to.equal(status);
        expect(answer.json<{ error: object }>(), name).to.have.nested.property(
          'error.json.data.httpStatus',
          status,
        );
      }
      const { editor } = teams;
      const body = JSON.stringify({ email: editor.email, password: PASSWORD });
      for (const path of ['auth/sign-in', 'auth/sign-out']) {
        const answer = await post(path, editor.cookie, body);
        expect(answer.status, path).to.equal(status);
        expect(answer.json().error, path).to.be.a('string');
        expect(answer.headers, path).not.to.have.property('set-cookie');
      }
      expect((await editor.call('query', 'user.me')).status).to.equal(200);
      expect(await auditRows()).to.equal(before);
    });

  it('is one of ours where it has our own origin', async () => {
    const own = { ...json, origin: test.url, 'sec-fetch-site': 'same-origin', cookie: teams.root.cookie };
    const body = JSON.stringify({ json: { name: 'Own' } });
    const answer = await send(`${test.url}/api/trpc/team.create`, { method: 'POST', headers: own, body });
    expect(answer.status).to.equal(200);
  });

  it('by a link, an image or a script of a sibling reads nothing that a session sees', async () => {
    const headers = { cookie: teams.root.cookie };
    for (const path of [
      '/api/trpc/user.me',
      '/api/auth/session',
      '/api/events',
      '/api/audit/export?format=csv',
    ])
      for (const site of ['cross-site', 'same-site']) {
        const answer = await send(`${test.url}${path}`, { headers: { ...headers, 'sec-fetch-site': site } });
        expect(answer.status, `${path} ${site}`).to.equal(403);
        expect(answer.text, path).not.to.include(teams.root.email);
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
    for (const [name, body] of INPUTS) {
      const address = `${test.url}/api/trpc/${name}?input=${encodeURIComponent(body)}`;
      const answer = await send(address, { headers: { cookie: teams.root.cookie } });
      expect(answer.status, name).to.be.oneOf([400, 405, 431]);
    }
    expect(await auditRows()).to.equal(before);
  });

  it('finds no use for the session’s cookie where programs and nodes have keys', async () => {
    const { cookie } = teams.root;
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
    const { environmentId } = teams;
    await teams.root.mutate('gitSync.configure', { environmentId, mode: 'sync', path: 'ours' });
    for (const [name, input] of [
      ['gitSync.status', { environmentId }],
      ['pipeline.list', { environmentId }],
      ['user.listTokens', {}],
    ] as const) {
      const query = encodeURIComponent(JSON.stringify({ json: input }));
      const answer = await send(`${test.url}/api/trpc/${name}?input=${query}`, {
        headers: { ...headers, cookie: teams.root.cookie },
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
    await trySignIn(test.url, teams.viewer.email, 'not the password', forged);
    await send(`${test.url}/api/trpc/team.create`, {
      headers: { cookie: teams.root.cookie, ...forged },
      body: { json: { name: 'made from afar' } },
    });
    const rows: { ip_address: string | null }[] = await test.db('audit_log').select('ip_address');
    expect(rows.map((row) => row.ip_address)).not.to.include('203.0.113.7');
    expect(JSON.stringify(await test.db('sign_in_throttles').select('*'))).not.to.include('203.0.113.7');
  });
});

describe('a proxy that is named', function () {
  this.timeout(30_000);
  const test = useController({ trustedProxies: ['127.0.0.1', '10.0.0.0/8'] });

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
