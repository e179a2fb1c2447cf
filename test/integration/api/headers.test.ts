/** What every answer of every door tells a browser (OWASP ASVS 5.0, V3.4 and V4.1). */
import { expect } from 'chai';
import { type ApiCall, makeApiSurfaces } from '../../support/clients/api-surfaces.ts';
import { type HttpResponse, openStream, send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { trySignIn } from '../../support/users/person.ts';

const DATA_POLICY = "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'";
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'nonce-<nonce>'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types default',
].join('; ');
const FOREIGN = { origin: 'https://elsewhere.example' };

const nonceOf = (answer: HttpResponse): string =>
  /'nonce-([^']+)'/.exec(String(answer.headers['content-security-policy']))?.[1] ?? '';

function complaints(row: ApiCall, { headers, status }: HttpResponse): string[] {
  const wrong: string[] = [];
  const want = (name: string, wanted: string | undefined) => {
    if (headers[name] !== wanted) wrong.push(`${name}: ${headers[name]}, not ${wanted}`);
  };
  if (status !== row.status) wrong.push(`status ${status}, not ${row.status}`);
  want('x-content-type-options', 'nosniff');
  want('server', undefined);
  want('x-powered-by', undefined);
  want('access-control-allow-origin', row.open ? '*' : undefined);
  want('access-control-allow-credentials', undefined);
  if (row.kept === undefined && !String(headers['cache-control']).includes('no-'))
    wrong.push(`cache-control: ${headers['cache-control']}`);
  if (row.kept === undefined && !row.path.startsWith('/git/')) want('cache-control', 'no-store');
  if (row.kept === 'until asked') want('cache-control', 'no-cache');
  if (status !== 204 && status !== 304 && headers['content-type'] === undefined)
    wrong.push('no content-type');
  if (row.ofNodes) return wrong;
  want('strict-transport-security', 'max-age=63072000; includeSubDomains');
  if (!/^[0-9a-f-]{36}$/.test(String(headers['x-request-id']))) wrong.push('no id of the request');
  want('cross-origin-resource-policy', row.open ? 'cross-origin' : 'same-origin');
  want('cross-origin-opener-policy', 'same-origin');
  want('cross-origin-embedder-policy', 'require-corp');
  want('referrer-policy', 'same-origin');
  want('x-frame-options', 'DENY');
  const policy = String(headers['content-security-policy']);
  const page = status === 200 && String(headers['content-type']).startsWith('text/html');
  if (page ? !policy.includes("'nonce-") : policy !== DATA_POLICY) wrong.push(`policy: ${policy}`);
  if (!String(headers['permissions-policy']).includes('camera=()')) wrong.push('no permissions-policy');
  return wrong;
}

describe('the headers of every answer of a controller that is reached by https', function () {
  this.timeout(60_000);
  const test = useController({ baseUrl: 'https://headgate.example.org' });
  const doors = use(
    () => makeApiSurfaces(test),
    ({ teams }) => teams.git.remove(),
  );

  it('are there at every door, whoever asks and whatever becomes of it', async () => {
    const wrong: string[] = [];
    for (const row of doors.rows)
      for (const more of [{}, { headers: FOREIGN }]) {
        if (row.body !== undefined && 'headers' in more) continue;
        const answer = await doors.send(row, more);
        wrong.push(...complaints(row, answer).map((what) => `${row.what}: ${what}`));
      }
    expect(wrong).to.deep.equal([]);
  });

  it('are there for HEAD as well, and TRACE and OPTIONS change nothing and tell nothing', async () => {
    for (const row of doors.rows.filter(({ method, body }) => method === undefined && body === undefined)) {
      const [got, head] = [await doors.send(row), await doors.send(row, { method: 'HEAD' })];
      expect(head.text, row.what).to.equal('');
      expect(head.headers['x-content-type-options'], row.what).to.equal('nosniff');
      if (!row.path.startsWith('/git/') && !row.ofNodes)
        expect(head.status, row.what).to.be.oneOf([got.status, 404, 405]);
    }
    for (const method of ['TRACE', 'OPTIONS', 'PROPFIND', 'BREW'])
      for (const row of doors.rows) {
        const answer = await send(`${test.url}${row.path}`, {
          method,
          headers: { ...row.headers, ...FOREIGN, 'x-told': 'a word that only the request holds' },
        }).catch((error: Error) => error);
        // What is no method at all is refused by Node before anything is looked at.
        if (answer instanceof Error) continue;
        expect(answer.status, `${method} ${row.what}`).to.be.oneOf([204, 400, 401, 403, 404, 405]);
        expect(answer.text, `${method} ${row.what}`).not.to.include('a word that only');
        if (!row.open) expect(answer.headers).not.to.have.property('access-control-allow-origin');
      }
  });

  it('name a nonce that no two pages share, in the policy and in the page', async () => {
    const pages = await Promise.all(
      Array.from({ length: 20 }, () => send(`${test.url}/sign-in`, { headers: { 'accept-encoding': '' } })),
    );
    const nonces = pages.map(nonceOf);
    expect(new Set(nonces).size).to.equal(20);
    for (const [index, page] of pages.entries()) {
      const nonce = nonces[index] ?? '';
      expect(nonce).to.have.length.of.at.least(22);
      expect(page.text).to.include(`nonce="${nonce}"`);
      expect(page.headers['content-security-policy']).to.equal(PAGE_POLICY.replace('<nonce>', nonce));
      expect(page.headers['set-cookie']).to.equal(undefined);
    }
  });

  it('let hashed files of the page be kept for ever', async () => {
    const page = await send(`${test.url}/`);
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? '';
    const answer = await send(`${test.url}${script}`);
    expect(answer.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
    expect(answer.headers['content-type']).to.equal('text/javascript');
    expect(answer.headers['content-security-policy']).to.equal(DATA_POLICY);
  });

  it('are there on a stream of events', async () => {
    const stream = await openStream(`${test.url}/api/events`, { cookie: doors.teams.root.cookie });
    stream.close();
    expect(stream.headers['cache-control']).to.equal('no-store, no-transform');
    expect(stream.headers['content-security-policy']).to.equal(DATA_POLICY);
    expect(stream.headers['x-content-type-options']).to.equal('nosniff');
    expect(stream.headers).not.to.have.property('access-control-allow-origin');
  });

  it('give the cookie of a session to this host and to https alone, out of reach of scripts', async () => {
    const answer = await send(`${test.url}/api/auth/sign-in`, {
      body: { email: doors.teams.root.email, password: test.config.adminPassword },
    });
    expect(answer.status).to.equal(200);
    const cookies = answer.headers['set-cookie'] ?? [];
    expect(cookies.map((cookie) => cookie.split('=')[0])).to.deep.equal([
      '__Host-headgate.session-token',
      '__Host-headgate.known-device',
    ]);
    for (const cookie of cookies)
      expect(cookie).to.match(/^[\w.-]+=[\w.-]+; path=\/; expires=[^;]+; samesite=lax; secure; httponly$/i);
  });

  it('mean https: no change is taken from a page that came without it, whatever its host is called', async () => {
    const host = 'headgate.example.org';
    for (const [origin, status] of [
      [`http://${host}`, 403],
      [`https://${host}`, 401],
    ] as const) {
      const answer = await trySignIn(test.url, 'nobody@example.org', 'x', { origin, host });
      expect(answer.status, origin).to.equal(status);
    }
  });
});
