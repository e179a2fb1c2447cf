/** The controller's variables: what each means, what it is without, and what a wrong one says. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import {
  type Config,
  ConfigError,
  plainEnvironment,
  readConfig,
  VARIABLES,
} from '../../../controller/config.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import { startTestController } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { testDatabase } from '../../support/harness/postgres.ts';

const root = join(import.meta.dirname, '../../..');

/** `headgate serve` to its end, with nothing in the environment but what is given. */
function headgate(
  args: string[],
  environment: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...environment }, timeout: patient(15_000) };
    execFile(process.execPath, [join(root, 'controller/cli.ts'), ...args], options, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

/** What is given to pg, where it is another text. */
const GOOD_DATABASE_URLS: readonly (readonly [string, string?])[] = [
  ['postgres://u:p%40%2F%23%25@db/x'],
  ['postgres://u:p@s:s@db/x', 'postgres://u:p%40s%3As@db/x'],
  ['postgres://u:a%zz%2F%@db/x', 'postgres://u:a%25zz%2F%25@db/x'],
  ['postgres://u:p@/x?host=/run/postgresql'],
  ['postgres://%2Frun%2Fpostgresql/x'],
  ['postgres://u:p@db/x?application_name=hg&options=-c%20search_path%3Dhg&lock_timeout=5000'],
  ['postgres://db/x?sslmode=disable'],
  ['postgres://db/x?sslmode=no-verify'],
  ['postgres://db/x?sslmode=verify-full&sslrootcert=/etc/ca.pem'],
  // pg warns of these, in six lines, and means the other.
  ['postgres://db/x?sslmode=require', 'postgres://db/x?sslmode=verify-full'],
  ['postgres://db/x?sslmode=require&connect_timeout=10&keepalives=1', 'postgres://db/x?sslmode=verify-full'],
  ['postgres://db/x?sslmode=prefer', 'postgres://db/x?sslmode=verify-full'],
  ['postgres://db/x?sslmode=verify-ca', 'postgres://db/x?sslmode=verify-full'],
  ['postgres://db/x?sslmode=require&uselibpqcompat=true'],
];

const NO_EFFECT = 'has a parameter that has no effect here';
const UNREADABLE = 'cannot be read; it is like postgres://user:password@host:5432/database';

const BAD_DATABASE_URLS: readonly (readonly [address: string, says: string])[] = [
  ['postgres://u:hunter2/w@db/x', UNREADABLE],
  ['postgres://u:12/hunter2@db/x', UNREADABLE],
  ['postgres://u:12?hunter2@db/x', UNREADABLE],
  ['postgres://u:hunter2#w@db/x', UNREADABLE],
  ['postgres://u:12#hunter2@db/x', UNREADABLE],
  ['postgres://u@corp:12/hunter2@db/x', UNREADABLE],
  ['postgres://u:hunter2%ff@db/x', UNREADABLE],
  ['postgres://u:hunter2@a:1,b:2/x', UNREADABLE],
  ['postgres://u:hunter2@db:port/x', UNREADABLE],
  ['postgres://db/x?sslmde=verify-full', `${NO_EFFECT}, "sslmde"; did you mean sslmode?`],
  ['postgres://db/x?SSLMODE=require', `${NO_EFFECT}, "SSLMODE"; did you mean sslmode?`],
  [
    'postgres://db/x?channel_binding=require',
    `${NO_EFFECT}, "channel_binding"; take it out; it takes sslmode, sslrootcert,`,
  ],
  ['postgres://db/x?__proto__=3', `${NO_EFFECT}, "__proto__"`],
  ['postgres://db/x?pass%0Aword=3', NO_EFFECT],
  ['postgres://u@db/x?password=a&hunter2=', `${NO_EFFECT}; take it out, or write & in the password as %26`],
  ['postgres://db/x?sslmode=disable&sslmode=require', 'has sslmode twice'],
  [
    'postgres://db/x?sslmode=strict',
    'has an unknown value of sslmode, "strict"; it takes disable, no-verify,',
  ],
  ['postgres://db/x?sslmode=', 'has an unknown value of sslmode; it takes'],
  ['postgres://db/x?ssl=false', 'has an unknown value of ssl, "false"; it takes true, 1, 0, no-verify'],
  ['postgres://db/x?lock_timeout=5s', 'has lock_timeout without a whole number after it'],
  [
    'postgres://db/x?sslmode=verify-ca&uselibpqcompat=true',
    'has sslmode=verify-ca with uselibpqcompat=true, which needs sslrootcert=',
  ],
];

const STORE = {
  ...{ writeUrl: 'http://vm:8428/api/v1/write', readUrl: 'http://vm:8428/prometheus' },
  ...{ authorization: null, tenant: null },
};
const STORE_URLS = {
  HEADGATE_METRICS_WRITE_URL: STORE.writeUrl,
  HEADGATE_METRICS_READ_URL: STORE.readUrl,
};

const AUTHORITY = '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n';

describe('the variables of the controller', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-config-'));
  const passwordFile = join(folder, 'password');
  const execConfigs = join(folder, 'configs.json');
  writeFileSync(
    execConfigs,
    '{"/opt/read -a":{"type":"file.json","config":{"file_path":"/etc/secrets.json"}}}',
  );
  const engine = join(folder, 'vector');
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, AUTHORITY);
  writeFileSync(passwordFile, 'from the file\n');
  writeFileSync(engine, '#!/bin/sh\n');
  chmodSync(engine, 0o755);
  after(() => rmSync(folder, { recursive: true, force: true }));

  const DEFAULTS: Config = {
    host: '127.0.0.1',
    port: 8080,
    baseUrl: 'http://localhost:8080',
    dataDir: resolve('.headgate'),
    databaseUrl: null,
    secretKey: null,
    previousSecretKeys: [],
    execSecretCommands: [],
    execSecretRequests: new Map(),
    adminEmail: 'admin@localhost',
    adminPassword: null,
    logLevel: 'info',
    trustedProxies: [],
    outgoingProxies: NO_PROXIES,
    privateTargets: [],
    oidcFile: null,
    engineBin: null,
    enrollPerMinute: 10,
    pushWaitSeconds: 3,
    agentReleases: join(root, 'dist/agent-release'),
    metricsToken: null,
    metricsPort: null,
    metricsStore: null,
    smtp: null,
  };

  it('may all be left out', () => {
    expect(readConfig({})).to.deep.equal(DEFAULTS);
  });

  it('may be empty, which is the same, as compose files have it', () => {
    const names = [...VARIABLES.map((variable) => variable.name), 'HEADGATE_ADMIN_PASSWORD_FILE'];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, ''])))).to.deep.equal(DEFAULTS);
  });

  const GOOD: { env: Record<string, string>; is: Partial<Config> }[] = [
    { env: { HEADGATE_HOST: '0.0.0.0' }, is: { host: '0.0.0.0' } },
    { env: { HEADGATE_PORT: '9000' }, is: { port: 9000, baseUrl: 'http://localhost:9000' } },
    { env: { HEADGATE_BASE_URL: 'https://hg.example.org/' }, is: { baseUrl: 'https://hg.example.org' } },
    {
      env: { HEADGATE_BASE_URL: 'https://hg.example.org:8443' },
      is: { baseUrl: 'https://hg.example.org:8443' },
    },
    { env: { HEADGATE_DATA_DIR: '/var/lib/headgate' }, is: { dataDir: '/var/lib/headgate' } },
    { env: { HEADGATE_DATABASE_URL: 'postgres://db/x' }, is: { databaseUrl: 'postgres://db/x' } },
    { env: { HEADGATE_DATABASE_URL: 'postgresql://db/x' }, is: { databaseUrl: 'postgresql://db/x' } },
    ...GOOD_DATABASE_URLS.map(([given, databaseUrl = given]) => ({
      env: { HEADGATE_DATABASE_URL: given },
      is: { databaseUrl },
    })),
    { env: { HEADGATE_SECRET_KEY: 'k'.repeat(40) }, is: { secretKey: 'k'.repeat(40) } },
    {
      env: { HEADGATE_PREVIOUS_SECRET_KEYS: `${'o'.repeat(40)}, ${'p'.repeat(40)},` },
      is: { previousSecretKeys: ['o'.repeat(40), 'p'.repeat(40)] },
    },
    {
      env: { HEADGATE_EXEC_SECRET_COMMANDS: '/opt/secrets, /usr/local/bin/pass  show  --all' },
      is: { execSecretCommands: ['/opt/secrets', '/usr/local/bin/pass show --all'] },
    },
    {
      env: {
        HEADGATE_EXEC_SECRET_COMMANDS: '/opt/secrets,/opt/read -a',
        HEADGATE_EXEC_SECRET_CONFIGS: execConfigs,
      },
      is: {
        execSecretCommands: ['/opt/secrets', '/opt/read -a'],
        execSecretRequests: new Map([
          ['/opt/read -a', { type: 'file.json', config: { file_path: '/etc/secrets.json' } }],
        ]),
      },
    },
    { env: { HEADGATE_ADMIN_EMAIL: 'ada@example.org' }, is: { adminEmail: 'ada@example.org' } },
    { env: { HEADGATE_ADMIN_PASSWORD: 'long enough' }, is: { adminPassword: 'long enough' } },
    { env: { HEADGATE_ADMIN_PASSWORD_FILE: passwordFile }, is: { adminPassword: 'from the file' } },
    { env: { HEADGATE_LOG_LEVEL: 'debug' }, is: { logLevel: 'debug' } },
    {
      env: { HEADGATE_TRUSTED_PROXIES: '10.0.0.1, 192.168.0.0/16,fd00::/8' },
      is: { trustedProxies: ['10.0.0.1', '192.168.0.0/16', 'fd00::/8'] },
    },
    {
      env: { HEADGATE_PRIVATE_TARGETS: 'id.corp.example, 10.1.0.0/16,fd00::9' },
      is: { privateTargets: ['id.corp.example', '10.1.0.0/16', 'fd00::9'] },
    },
    {
      env: { HEADGATE_OIDC_FILE: engine },
      is: { oidcFile: { path: engine, env: { HEADGATE_OIDC_FILE: engine } } },
    },
    { env: { HEADGATE_ENGINE_BIN: engine }, is: { engineBin: engine } },
    { env: { PATH: `/nowhere::${folder}` }, is: { engineBin: engine } },
    { env: { HEADGATE_ENROLL_PER_MINUTE: '500' }, is: { enrollPerMinute: 500 } },
    { env: { HEADGATE_PUSH_WAIT_SECONDS: '20' }, is: { pushWaitSeconds: 20 } },
    { env: { HEADGATE_AGENT_RELEASES: '/srv/agents' }, is: { agentReleases: '/srv/agents' } },
    {
      env: { HEADGATE_METRICS_TOKEN: 'at-least-16-characters', HEADGATE_METRICS_PORT: '9091' },
      is: { metricsToken: 'at-least-16-characters', metricsPort: 9091 },
    },
    { env: STORE_URLS, is: { metricsStore: STORE } },
    {
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_TENANT: 'team-a' },
      is: { metricsStore: { ...STORE, tenant: { name: 'X-Scope-OrgID', value: 'team-a' } } },
    },
    {
      env: {
        ...STORE_URLS,
        HEADGATE_METRICS_STORE_TENANT: 'a'.repeat(150),
        HEADGATE_METRICS_STORE_TENANT_HEADER: 'THANOS-TENANT',
      },
      is: { metricsStore: { ...STORE, tenant: { name: 'THANOS-TENANT', value: 'a'.repeat(150) } } },
    },
    {
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_TOKEN: 'hunter2' },
      is: { metricsStore: { ...STORE, authorization: 'Bearer hunter2' } },
    },
    {
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_USER: 'me', HEADGATE_METRICS_STORE_PASSWORD: 'hunter2' },
      is: { metricsStore: { ...STORE, authorization: `Basic ${btoa('me:hunter2')}` } },
    },
    {
      env: {
        HEADGATE_SMTP_URL: 'smtps://me%40corp:hunter2@smtp.example.com',
        HEADGATE_SMTP_FROM: 'Headgate <headgate@example.com>',
        HEADGATE_SMTP_CA_FILE: authority,
      },
      is: {
        smtp: {
          ...{ host: 'smtp.example.com', port: 465, isSecure: true, from: 'Headgate <headgate@example.com>' },
          ...{ credentials: { user: 'me@corp', password: 'hunter2' }, caCertificate: AUTHORITY },
        },
      },
    },
    {
      env: { HEADGATE_SMTP_URL: 'smtp://[::1]:2525', HEADGATE_SMTP_FROM: 'headgate@example.com' },
      is: {
        smtp: {
          ...{ host: '::1', port: 2525, isSecure: false, from: 'headgate@example.com' },
          ...{ credentials: null, caCertificate: null },
        },
      },
    },
    {
      env: { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'q:2', NO_PROXY: 'x' },
      is: { outgoingProxies: { https: 'http://p:1', http: 'q:2', except: 'x' } },
    },
    {
      env: { NO_PROXY: '10.0.0.0/8 fd00::/8,[::1]:80, .corp.example,<local>' },
      is: {
        outgoingProxies: { ...NO_PROXIES, except: '10.0.0.0/8 fd00::/8,[::1]:80, .corp.example,<local>' },
      },
    },
    {
      // The lower-case name wins, so that the other is not looked at.
      env: { https_proxy: 'http://p:1', HTTPS_PROXY: 'socks5://q:2' },
      is: { outgoingProxies: { ...NO_PROXIES, https: 'http://p:1' } },
    },
    {
      env: { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://r:3', no_proxy: '*' },
      is: { outgoingProxies: { https: 'http://r:3', http: null, except: '*' } },
    },
  ];
  for (const { env, is } of GOOD) {
    it(`take ${JSON.stringify(env).replaceAll(folder, '…')}`, () => {
      expect(readConfig(env)).to.deep.equal({ ...DEFAULTS, ...is });
    });
  }

  it('has a good value for every one of them in this table', () => {
    const tried = new Set(GOOD.flatMap(({ env }) => Object.keys(env)));
    expect(VARIABLES.map((variable) => variable.name).filter((name) => !tried.has(name))).to.deep.equal([]);
  });

  it('say of the proxies all that is reached by them', () => {
    for (const name of ['HTTPS_PROXY', 'HTTP_PROXY'])
      expect(VARIABLES.find((variable) => variable.name === name)?.help, name).to.include(
        'Vault and AWS Secrets Manager',
      );
  });

  const BAD: { env: Record<string, string>; says: string }[] = [
    ...['0', '65536', '80.5', 'abc', '-1', '1e9'].map((port) => ({
      env: { HEADGATE_PORT: port },
      says: `HEADGATE_PORT must be a whole number from 1 to 65535, not "${port}"`,
    })),
    ...[
      'hg.example.org',
      'ftp://hg.example.org',
      'https://hg.example.org/app',
      'https://h/?a=1',
      'https://h/#x',
    ].map((address) => ({
      env: { HEADGATE_BASE_URL: address },
      says: 'HEADGATE_BASE_URL must be like https://headgate.example.com, without a path',
    })),
    {
      env: { HEADGATE_DATABASE_URL: 'mysql://db/x' },
      says: 'HEADGATE_DATABASE_URL must begin with postgres://',
    },
    ...BAD_DATABASE_URLS.map(([address, says]) => ({
      env: { HEADGATE_DATABASE_URL: address },
      says: `HEADGATE_DATABASE_URL ${says}`,
    })),
    ...['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy'].flatMap((name) =>
      ['socks5://me:hunter2@p:1', 'http://me:hunter2@', 'http://a b', 'p:99999', '://'].map((proxy) => ({
        env: { [name]: proxy },
        says: `${name} must be the address of an HTTP proxy, like http://proxy.example.com:3128`,
      })),
    ),
    ...['http://me:hunter2@git.corp.example', 'a.example,10.0.0.0/33', '10.0.0/8', 'a.example/x'].map(
      (list) => ({ env: { NO_PROXY: list }, says: 'NO_PROXY must be host names, addresses and networks' }),
    ),
    {
      env: { HEADGATE_ADMIN_PASSWORD: 'short' },
      says: 'HEADGATE_ADMIN_PASSWORD must have at least 8 characters',
    },
    {
      env: { HEADGATE_ADMIN_PASSWORD_FILE: '/nowhere/at/all' },
      says: 'HEADGATE_ADMIN_PASSWORD_FILE: /nowhere/at/all cannot be read',
    },
    {
      env: { HEADGATE_LOG_LEVEL: 'loud' },
      says: 'HEADGATE_LOG_LEVEL must be one of debug, info, warn, error, silent',
    },
    ...['nonsense', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', '::1/129', '10.0.0'].map((entry) => ({
      env: { HEADGATE_TRUSTED_PROXIES: `127.0.0.1,${entry}` },
      says: `HEADGATE_TRUSTED_PROXIES: "${entry}" is not an address or network`,
    })),
    ...['https://id.corp.example', '10.0.0.0/33', 'id.corp.example:8080', '*.corp.example'].map((entry) => ({
      env: { HEADGATE_PRIVATE_TARGETS: `10.0.0.1,${entry}` },
      says: `HEADGATE_PRIVATE_TARGETS: "${entry}" is not a host name, an address or a network`,
    })),
    ...['opt/secrets', '/opt/../bin/sh', '/opt//secrets'].map((path) => ({
      env: { HEADGATE_EXEC_SECRET_COMMANDS: path },
      says: `HEADGATE_EXEC_SECRET_COMMANDS: "${path}" is not an absolute path`,
    })),
    {
      env: { HEADGATE_EXEC_SECRET_CONFIGS: execConfigs },
      says: 'HEADGATE_EXEC_SECRET_CONFIGS: "/opt/read -a" is none of the commands in HEADGATE_EXEC_SECRET_COMMANDS',
    },
    {
      env: { HEADGATE_EXEC_SECRET_CONFIGS: '/nowhere/configs.json' },
      says: 'HEADGATE_EXEC_SECRET_CONFIGS: /nowhere/configs.json cannot be read (ENOENT)',
    },
    {
      env: { HEADGATE_EXEC_SECRET_CONFIGS: passwordFile },
      says: `HEADGATE_EXEC_SECRET_CONFIGS: ${passwordFile} is no JSON object`,
    },
    {
      env: { HEADGATE_ENGINE_BIN: '/nowhere/vector' },
      says: 'HEADGATE_ENGINE_BIN: /nowhere/vector does not exist',
    },
    {
      env: { HEADGATE_ENROLL_PER_MINUTE: '0' },
      says: 'HEADGATE_ENROLL_PER_MINUTE must be a whole number from 1 to 1000000, not "0"',
    },
    ...['http://me:hunter2@vm/write', 'vm:8428', 'ftp://vm/write'].map((address) => ({
      env: { ...STORE_URLS, HEADGATE_METRICS_WRITE_URL: address },
      says: 'HEADGATE_METRICS_WRITE_URL must be an http:// or https:// address without a user or password',
    })),
    {
      env: { HEADGATE_METRICS_WRITE_URL: STORE.writeUrl },
      says: 'Set both, HEADGATE_METRICS_WRITE_URL and HEADGATE_METRICS_READ_URL',
    },
    { env: { HEADGATE_METRICS_STORE_TOKEN: 'hunter2' }, says: 'needs HEADGATE_METRICS_WRITE_URL' },
    {
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_PASSWORD: 'hunter2' },
      says: 'Set both, HEADGATE_METRICS_STORE_USER and HEADGATE_METRICS_STORE_PASSWORD',
    },
    {
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_TOKEN: 'hunter2', HEADGATE_METRICS_STORE_USER: 'me' },
      says: 'Set HEADGATE_METRICS_STORE_TOKEN or a user and a password, not both',
    },
    {
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_TOKEN: 'hunter2\nX-A: b' },
      says: 'HEADGATE_METRICS_STORE_… must be one line each',
    },
    { env: { HEADGATE_METRICS_STORE_TENANT: 'hunter2' }, says: 'needs HEADGATE_METRICS_WRITE_URL' },
    ...[
      'hunter2|b',
      'hunter2 b',
      'hunter2/b',
      'hunter2\r\nX-A: b',
      'hunter2é',
      '.',
      '..',
      'a'.repeat(151),
    ].map((tenant) => ({
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_TENANT: tenant },
      says: 'HEADGATE_METRICS_STORE_TENANT must be one tenant: 1 to 150 visible ASCII characters',
    })),
    ...['X Scope', 'X-Scope:', 'Authorization', 'host', 'content-LENGTH', `X${'a'.repeat(64)}`].map(
      (name) => ({
        env: {
          ...STORE_URLS,
          HEADGATE_METRICS_STORE_TENANT: 'hunter2',
          HEADGATE_METRICS_STORE_TENANT_HEADER: name,
        },
        says: 'HEADGATE_METRICS_STORE_TENANT_HEADER must be the name of a header, such as X-Scope-OrgID',
      }),
    ),
    {
      env: { ...STORE_URLS, HEADGATE_METRICS_STORE_TENANT_HEADER: 'X-Scope-OrgID' },
      says: 'HEADGATE_METRICS_STORE_TENANT_HEADER needs HEADGATE_METRICS_STORE_TENANT',
    },
    ...['smtp.example.com', 'http://smtp.example.com', 'smtp://', 'smtp://a/b', 'smtp://a?b=hunter2'].map(
      (address) => ({
        env: { HEADGATE_SMTP_URL: address, HEADGATE_SMTP_FROM: 'a@b.example' },
        says: 'HEADGATE_SMTP_URL must be like smtps://user:password@smtp.example.com',
      }),
    ),
    {
      env: { HEADGATE_SMTP_URL: 'smtp://me@smtp.example.com', HEADGATE_SMTP_FROM: 'a@b.example' },
      says: 'HEADGATE_SMTP_URL must have a user name and a password, or neither',
    },
    {
      env: { HEADGATE_SMTP_URL: 'smtp://me:hunter2%zz@a', HEADGATE_SMTP_FROM: 'a@b.example' },
      says: 'HEADGATE_SMTP_URL: write signs in the user name and password as %40',
    },
    ...['', 'headgate', 'a@b.example, c@d.example', 'a@b.example\r\nBcc: c@d.example'].map((from) => ({
      env: { HEADGATE_SMTP_URL: 'smtp://me:hunter2@a', HEADGATE_SMTP_FROM: from },
      says: 'HEADGATE_SMTP_FROM must be the address of the sender',
    })),
    { env: { HEADGATE_SMTP_FROM: 'a@b.example' }, says: 'HEADGATE_SMTP_… needs HEADGATE_SMTP_URL' },
    {
      env: { HEADGATE_SMTP_URL: 'smtp://a', HEADGATE_SMTP_CA_FILE: passwordFile },
      says: `HEADGATE_SMTP_CA_FILE: ${passwordFile} is not a PEM file of certificates`,
    },
    {
      env: { HEADGATE_PROT: '9000' },
      says: 'HEADGATE_PROT is not a variable that Headgate knows; see headgate serve --help',
    },
  ];
  for (const { env, says } of BAD) {
    it(`refuse ${JSON.stringify(env)}`, () =>
      expect(() => readConfig(env))
        .to.throw(ConfigError)
        .with.property('message')
        .that.includes(says)
        .and.does.not.match(/hunter2|\n/));
  }

  it('quote no password and no key when they are wrong', () => {
    const env = { HEADGATE_ADMIN_PASSWORD: 'shorty', HEADGATE_DATABASE_URL: 'mysql://u:hunter2@db/x' };
    for (const name of ['HEADGATE_ADMIN_PASSWORD', 'HEADGATE_DATABASE_URL'] as const) {
      expect(() => readConfig({ [name]: env[name] }))
        .to.throw(ConfigError)
        .with.property('message')
        .that.does.not.match(/shorty|hunter2/);
    }
  });

  it('do not reach child processes', () => {
    const env = {
      PATH: '/bin',
      HOME: '/root',
      HEADGATE_SECRET_KEY: 'k',
      SVC_TOKEN: 't',
      AWS_SECRET_ACCESS_KEY: 'a',
    };
    expect(plainEnvironment(env)).to.deep.equal({ PATH: '/bin', HOME: '/root' });
  });

  it('are all listed by `headgate serve --help`, with their defaults', async () => {
    const { code, stdout } = await headgate(['serve', '--help']);
    expect(code).to.equal(0);
    for (const variable of VARIABLES) {
      const line = stdout.split('\n').find((one) => one.trim().startsWith(`${variable.name} `));
      expect(line, variable.name).to.include(variable.help).and.include(`[${variable.default}]`);
    }
    expect(stdout).to.include('HEADGATE_ADMIN_PASSWORD_FILE');
  });

  it('stop the start with one line when one is wrong', async () => {
    const { code, stdout, stderr } = await headgate(['serve'], { HEADGATE_PORT: 'abc' });
    expect(code).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr).to.equal('headgate: HEADGATE_PORT must be a whole number from 1 to 65535, not "abc"\n');
  });
});

describe('the start of the controller', () => {
  const failure = (work: Promise<{ stop(): Promise<void> }>) =>
    work.then(
      async (started) => {
        await started.stop();
        return 'started';
      },
      (error: Error) => `${error.name}: ${error.message}`,
    );

  it('takes the port that the system chooses; of its database no other key, and no password once there is an account', async () => {
    const database = await testDatabase();
    const start = (secretKey: string, adminPassword: string) =>
      startTestController({ databaseUrl: database.url, secretKey, adminPassword });
    const key = '1'.repeat(16) + 'a'.repeat(16);
    const first = await start(key, 'a long enough password');
    try {
      const { url, port, cloneUrl } = first.controller;
      expect(port).to.be.above(0);
      expect(url).to.equal(`http://127.0.0.1:${port}`);
      expect(cloneUrl).to.equal(`${url}/git/config.git`);
      expect((await fetch(`${url}/api/health`)).status).to.equal(200);
    } finally {
      await first.stop();
    }
    expect(await failure(start('2'.repeat(16) + 'b'.repeat(16), 'a long enough password'))).to.match(
      /^ConfigError: HEADGATE_SECRET_KEY is not the key/,
    );
    expect(await failure(start(key, 'password1')), 'there is an account by now').to.equal('started');
    await database.drop();
  });

  it('refuses keys that are too short or an example', async () => {
    for (const secretKey of ['change-me', 'too short'])
      expect(await failure(startTestController({ secretKey })), secretKey).to.match(
        /^KeyringError: .*openssl rand -hex 32/,
      );
  });

  it('refuses a first administrator whose password is guessed first, and does not show it', async () => {
    const said = await failure(startTestController({ adminPassword: 'Password1' }));
    expect(said).to.match(/^ConfigError: HEADGATE_ADMIN_PASSWORD: .*most common.*Choose another/);
    expect(said).not.to.include('Password1');
    const own = await failure(startTestController({ adminPassword: 'administrator!' }));
    expect(own).to.match(/^ConfigError: HEADGATE_ADMIN_PASSWORD: .*name or address/);
  });

  it('names the port that is taken', async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    expect(await failure(startTestController({ port }))).to.equal(
      `ConfigError: port ${port} is taken by another program; end it, or set HEADGATE_PORT to a free one`,
    );
    other.close();
  });

  it('refuses a data directory that cannot be one', async () => {
    expect(await failure(startTestController({ dataDir: '/dev/null/headgate' }))).to.match(
      /^ConfigError: the data directory \/dev\/null\/headgate cannot be written \(ENOTDIR\); make it writable or set HEADGATE_DATA_DIR/,
    );
  });
});
