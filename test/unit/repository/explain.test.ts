import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { OpenedCredentials } from '../../../controller/delivery/repository/index.ts';
import { readAddress } from '../../../controller/delivery/repository/remote/address.ts';
import { redactor } from '../../../controller/delivery/repository/remote/credentials.ts';
import { explainRun, statusError } from '../../../controller/delivery/repository/remote/explain-run.ts';
import type { Remote } from '../../../controller/delivery/repository/remote/remote.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';

const PASSWORD = 'p/w %"\'ord+1';

const SECRET_FORMS = [
  PASSWORD,
  encodeURIComponent(PASSWORD),
  Buffer.from(`bot:${PASSWORD}`).toString('base64'),
  Buffer.from(PASSWORD).toString('base64'),
  'ord+1',
  'ord%2B1',
];

function remote(url: string, credentials: OpenedCredentials): Remote {
  return {
    address: readAddress(url),
    authorization: async () => null,
    endpoint: url,
    credentials,
    knownHosts: null,
    caCertificate: null,
    proxy: null,
    key: 'key',
    redact: redactor(credentials),
    guard: localGuard(),
  };
}
const web = remote('https://git.example.org/x.git', { type: 'basic', username: 'bot', password: PASSWORD });
const ssh = remote('ssh://git@git.example.org:2222/x.git', { type: 'ssh', privateKey: 'k' });
const proxied: Remote = { ...web, proxy: new URL('http://me:word@proxy.example.org:3128') };
const end = (stderr: string) => ({ code: 128, by: null, stdout: '', stderr, late: false });

const QUOTES = [
  ...readFileSync(join(import.meta.dirname, '../../../docs/when-something-goes-wrong.md'), 'utf8').matchAll(
    /^\| \*\*Git\*\*: (.*?) \|/gm,
  ),
].flatMap(([, row = '']) => [...row.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
/** Whether the page of faults quotes it: `…` stands for anything. */
const isDocumented = (message: string): boolean =>
  QUOTES.some((quote) =>
    new RegExp(
      quote
        .split('…')
        .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('.*'),
    ).test(message),
  );

describe('what git and ssh say', () => {
  for (const [said, of, fault, message] of [
    [
      "fatal: could not read Username for 'https://git.example.org': terminal prompts disabled",
      web,
      'credentials',
      /does not accept the user name and token/,
    ],
    [
      "fatal: unable to access 'https://git.example.org/x.git/': The requested URL returned error: 403",
      web,
      'forbidden',
      /denies them this repository/,
    ],
    [
      "remote: Not Found\nfatal: repository 'https://git.example.org/x.git/' not found",
      web,
      'not-found',
      /compare the address/,
    ],
    [
      "fatal: unable to access 'https://x/': Could not resolve host: git.example.org",
      web,
      'unreachable',
      /^git\.example\.org cannot be reached: nothing answers there/,
    ],
    [
      "fatal: unable to access 'https://x/': Failed to connect to git.example.org port 443 after 3 ms: Couldn't connect to server",
      web,
      'unreachable',
      /^git\.example\.org cannot be reached: nothing answers there/,
    ],
    [
      "fatal: unable to access 'https://x/': SSL certificate problem: unable to get local issuer certificate",
      web,
      'certificate',
      /\(unable to get local issuer certificate\); give the authority/,
    ],
    [
      "fatal: unable to access 'https://x/': server certificate verification failed. CAfile: none CRLfile: none",
      web,
      'certificate',
      /is not trusted/,
    ],
    [
      "fatal: unable to access 'https://x/': Operation too slow. Less than 1000 bytes/sec transferred the last 30 seconds",
      web,
      'timeout',
      /too slow: Operation too slow/,
    ],
    ['fatal: write error: No space left on device\nfatal: index-pack failed', web, 'disk', /free some space/],
    [
      'git@git.example.org: Permission denied (publickey).\nfatal: Could not read from remote repository.',
      ssh,
      'credentials',
      /does not accept the key .* public half/,
    ],
    [
      'No ED25519 host key is known for [git.example.org]:2222 and you have requested strict checking.\nHost key verification failed.',
      ssh,
      'host-key',
      /`ssh-keyscan -p 2222 git\.example\.org`/,
    ],
    [
      '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.',
      ssh,
      'host-key',
      /another host key/,
    ],
    [
      'ssh: connect to host git.example.org port 2222: Connection refused',
      ssh,
      'unreachable',
      /^git\.example\.org cannot be reached: nothing answers there/,
    ],
    [
      'ssh: Could not resolve hostname git.example.org: Name or service not known',
      ssh,
      'unreachable',
      /^git\.example\.org cannot be reached: nothing answers there/,
    ],
    [
      "fatal: unable to access 'https://x/': CONNECT tunnel failed, response 407",
      proxied,
      'unreachable',
      /the proxy proxy\.example\.org:3128 does not accept its user name and password; check HTTPS_PROXY/,
    ],
    [
      "fatal: unable to access 'https://x/': Received HTTP code 403 from proxy after CONNECT",
      proxied,
      'unreachable',
      /the proxy proxy\.example\.org:3128 denies the connection, or cannot reach it/,
    ],
    [
      "fatal: unable to access 'https://x/': Could not resolve proxy: proxy.example.org",
      proxied,
      'unreachable',
      /the proxy proxy\.example\.org:3128 has a name that is not known/,
    ],
    [
      "fatal: unable to access 'https://x/': Failed to connect to proxy.example.org port 3128",
      proxied,
      'unreachable',
      /the proxy proxy\.example\.org:3128 refuses connections/,
    ],
    ['Timeout, server git.example.org not responding.', ssh, 'timeout', /too slow/],
    [
      'ssh -F /dev/null: 1: ssh: not found\nfatal: Could not read from remote repository.',
      ssh,
      'program',
      /openssh-client/,
    ],
    ["fatal: '/x.git' does not appear to be a git repository", ssh, 'not-found', /compare the address/],
    [
      'Load key "/run/key": error in libcrypto\nPermission denied (publickey).',
      ssh,
      'credentials',
      /cannot read the binding's key/,
    ],
    [
      'fatal: the remote end hung up unexpectedly',
      ssh,
      'server',
      /git failed to reach git\.example\.org: the remote end hung up/,
    ],
  ] as const) {
    it(`${said.slice(0, 70).replaceAll('\n', ' ')} … is ${fault}`, () => {
      const error = explainRun(of, end(said), 1_000);
      expect(error.fault).to.equal(fault);
      expect(error.message).to.match(message);
      expect(isDocumented(error.message), error.message).to.equal(true);
    });
  }

  it('and what servers answer is in the documentation, too', () => {
    for (const status of [301, 401, 403, 404, 407, 410, 429, 500, 503]) {
      const { message } = statusError(web, status);
      expect(isDocumented(message), message).to.equal(true);
    }
    const late = explainRun(web, { ...end(''), late: true }, 240_000);
    const large = explainRun(web, { ...end(''), by: 'SIGXFSZ' }, 240_000);
    for (const { message } of [late, large]) expect(isDocumented(message), message).to.equal(true);
  });

  it('is bounded, printable, and without a credential in any form', () => {
    const forms = [
      PASSWORD,
      encodeURIComponent(PASSWORD),
      `https://bot:${encodeURIComponent(PASSWORD)}@git.example.org/x`,
      Buffer.from(`bot:${PASSWORD}`).toString('base64'),
      Buffer.from(PASSWORD).toString('base64'),
      PASSWORD.replaceAll("'", "'\\''"),
      JSON.stringify(PASSWORD),
      `Authorization: Basic ${Buffer.from(`bot:${PASSWORD}`).toString('base64')}`,
    ];
    for (const form of forms) {
      const { message } = explainRun(
        web,
        end(`fatal: the server says ${form} \u001b[31m${'x'.repeat(2_000)}`),
        1_000,
      );
      for (const secret of SECRET_FORMS) expect(message, form).not.to.include(secret);
      expect(message.length).to.be.lessThan(700);
      expect(message).to.match(/^[\x20-\x7e]*$/);
    }
  });

  it('names the user of ssh, which is no secret', () => {
    expect(ssh.redact('ssh://git@git.example.org/x')).to.equal('ssh://git@git.example.org/x');
    expect(ssh.redact('https://git:secret@host/x')).to.equal('https://***@host/x');
  });
});
