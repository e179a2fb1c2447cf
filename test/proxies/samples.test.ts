/** The sample configurations of examples/deploy/proxy, each run by its own program in front of a controller: `make test-proxies`. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { GIT_ENVIRONMENT } from '../support/clients/git-client.ts';
import { AUTHORITY, LEAF, LEAF_KEY } from '../support/fixtures/certificates.ts';
import { ROOT } from '../support/harness/controller.ts';
import { freePort } from '../support/harness/headgate.ts';
import { until } from '../support/harness/until.ts';
import { type Site, startSite } from '../support/scenes/site.ts';

const SAMPLES = join(import.meta.dirname, '../../examples/deploy/proxy');

interface Proxy {
  file: string;
  programs: readonly string[];
  /** What stands around the sample in a whole configuration of the program. */
  whole(sample: string, folder: string): string;
  args(file: string, folder: string): string[];
}

const PROXIES: readonly Proxy[] = [
  {
    file: 'nginx.conf',
    programs: ['/usr/sbin/nginx', '/usr/bin/nginx'],
    whole: (sample, folder) => `daemon off; pid ${folder}/pid; error_log stderr;
events {}
http {
access_log off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`).join('\n')}
${sample}
}`,
    args: (file, folder) => ['-c', file, '-p', folder],
  },
  {
    file: 'haproxy.cfg',
    programs: ['/usr/sbin/haproxy'],
    whole: (sample) => sample,
    args: (file) => ['-db', '-f', file],
  },
  {
    file: 'apache.conf',
    programs: ['/usr/sbin/apache2', '/usr/sbin/httpd'],
    whole: (sample, folder) => `ServerRoot ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
DefaultRuntimeDir ${folder}
${['mpm_event', 'authz_core', 'ssl', 'socache_shmcb', 'headers', 'proxy', 'proxy_http']
  .map((one) => `LoadModule ${one}_module /usr/lib/apache2/modules/mod_${one}.so`)
  .join('\n')}
ServerName localhost
User nobody
Group nogroup
Listen 127.0.0.1:<port>
${sample}`,
    args: (file) => ['-X', '-f', file],
  },
  {
    file: 'Caddyfile',
    programs: ['/usr/bin/caddy'],
    // It would ask an authority of the internet for a certificate.
    whole: (sample, folder) =>
      `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}/caddy\n}\n${sample.replace(/(headgate\.example\.com) \{/, `https://$1 {\n\ttls ${folder}/leaf.pem ${folder}/leaf.key`)}`,
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
];

function ask(
  url: string,
  options: { headers?: IncomingHttpHeaders; body?: string } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { ca: AUTHORITY, agent: false, method: options.body ? 'POST' : 'GET', headers: options.headers ?? {} },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      },
    );
    call.on('error', reject);
    call.end(options.body);
  });
}

/** The first bytes of a stream that goes on. */
function firstBytes(url: string, headers: IncomingHttpHeaders): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ca: AUTHORITY, agent: false, headers }, (response) => {
      response.once('data', (chunk: Buffer) => {
        resolve(chunk.toString('utf8'));
        call.destroy();
      });
    });
    call.on('error', reject);
    call.end();
  });
}

function git(folder: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  const env = { ...GIT_ENVIRONMENT, GIT_SSL_NO_VERIFY: '1' };
  return new Promise((resolve) => {
    const child = spawn('git', args, { cwd: folder, env });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    child.on('close', (code) => resolve({ code, text }));
  });
}

for (const { file, programs, whole, args } of PROXIES) {
  const program = programs.find(existsSync);
  describe(`behind ${file}`, function () {
    this.timeout(120_000);
    if (!program) {
      it(`is not tried, since none of ${programs.join(', ')} is installed`, function () {
        this.skip();
      });
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), 'headgate-proxy-'));
    let site: Site;
    let url = '';
    let said = '';
    let child: ReturnType<typeof spawn>;
    before(async () => {
      const [outer, inner] = [await freePort(), await freePort()];
      url = `https://localhost:${outer}`;
      site = await startSite({
        controller: {
          port: inner,
          variables: { HEADGATE_BASE_URL: url, HEADGATE_TRUSTED_PROXIES: '127.0.0.1' },
        },
      });
      writeFileSync(join(folder, 'leaf.pem'), file === 'haproxy.cfg' ? `${LEAF}${LEAF_KEY}` : LEAF);
      writeFileSync(join(folder, 'leaf.key'), LEAF_KEY);
      const sample = readFileSync(join(SAMPLES, file), 'utf8')
        .replaceAll('/etc/ssl/headgate.example.com', join(folder, 'leaf'))
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${inner}`)
        .replace('listen 443', `listen ${outer}`)
        .replace('bind :443', `bind :${outer}`)
        .replace('*:443', `*:${outer}`);
      const config = join(folder, file);
      writeFileSync(
        config,
        whole(sample, folder)
          .replaceAll('<port>', String(outer))
          .replaceAll('headgate.example.com', file === 'Caddyfile' ? `localhost:${outer}` : 'localhost'),
      );
      child = spawn(program, args(config, folder), { stdio: ['ignore', 'pipe', 'pipe'] });
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
      const answers = () =>
        ask(`${url}/api/health`).then(
          ({ status }) => status === 200,
          () => false,
        );
      await until(answers, { what: () => `${program} to answer:\n${said}` });
    });
    after(async () => {
      // Not SIGKILL: nginx' workers would go on.
      child.kill('SIGTERM');
      await once(child, 'exit');
      await site.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    it('shows the pages and lets somebody in, by the address that the proxy saw', async () => {
      const page = await ask(`${url}/`, { headers: { accept: 'text/html' } });
      expect([page.status, page.text.includes('<!doctype html>')]).to.deep.equal([200, true]);
      const answer = await ask(`${url}/api/auth/sign-in`, {
        headers: {
          'content-type': 'application/json',
          origin: url,
          'x-forwarded-for': '203.0.113.9',
        },
        body: JSON.stringify(ROOT),
      });
      expect(answer.status, answer.text).to.equal(200);
      expect(String(answer.headers['set-cookie'])).to.match(/^__Host-.*secure/i);
      const rows = await site.db('audit_log').whereNotNull('user_id').select('ip_address');
      const addresses = new Set(rows.map((row: { ip_address: string }) => row.ip_address));
      expect([...addresses]).to.include.oneOf(['127.0.0.1', '::1']);
      expect([...addresses]).not.to.include('203.0.113.9');
    });

    it('passes on what an open stream says at once', async () => {
      const answer = await ask(`${url}/api/auth/sign-in`, {
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify(ROOT),
      });
      const cookie = String(answer.headers['set-cookie']?.[0]).split(';')[0] ?? '';
      expect(await firstBytes(`${url}/api/events`, { cookie })).to.have.length.above(0);
    });

    it('takes a clone and a push of 20 MB', async () => {
      const token = new URL(site.cloneUrl());
      const remote = Object.assign(new URL(url), {
        username: token.username,
        password: token.password,
        pathname: token.pathname,
      }).href;
      const clone = await git(folder, 'clone', '--quiet', '--', remote, 'clone');
      expect(clone.code, clone.text).to.equal(0);
      const work = join(folder, 'clone');
      writeFileSync(join(work, 'large.bin'), randomBytes(20_000_000));
      await git(work, 'add', '.');
      await git(work, 'commit', '--quiet', '-m', 'large');
      const pushed = await git(work, 'push', '--quiet', 'origin', 'HEAD:refs/heads/large');
      expect(pushed.code, pushed.text).to.equal(0);
    });
  });
}
