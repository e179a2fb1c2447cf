/** Sign-in as a file says it: HEADGATE_OIDC_FILE. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { followOidcFile } from '../../../controller/identity/administration/index.ts';
import { startController } from '../../../controller/main.ts';
import { writeAudit } from '../../../controller/platform/operation/audit-writer.ts';
import { createExecute } from '../../../controller/platform/operation/execute.ts';
import { ROOT, startTestController, type TestController } from '../../support/harness/controller.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../../support/servers/identity-provider.ts';
import type { TestUser } from '../../support/users/person.ts';

interface Settings {
  oidcProviders: { id: string; displayName: string | null; isFromFile: boolean }[];
  oidcFile: { sets: string[]; error: string | null } | null;
  groups: { mappings: object[]; groupSyncEnabled: boolean };
  access: { confirmationDays: number };
}

describe('sign-in from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-oidc-'));
  const file = join(folder, 'sign-in.yaml');
  let test: TestController;
  let root: TestUser;
  let provider: TestIdentityProvider;
  before(async () => {
    provider = await startIdentityProvider({ headgate: 'http://127.0.0.1:9' });
    writeFileSync(join(folder, 'secret'), `${CLIENT_SECRET}\n`);
    write();
    test = await startTestController({ oidcFile: { path: file, env: {} }, privateTargets: ['127.0.0.0/8'] });
    root = await test.root();
  });
  after(async () => {
    await provider?.stop();
    await test?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function write(more = '', name = 'Example ID'): void {
    writeFileSync(
      file,
      `providers:
  - id: main
    issuer: ${provider.issuer}
    clientId: ${CLIENT_ID}
    clientSecretFile: secret
    displayName: ${name}
    options: { sendsLoginHint: true }
${more}`,
    );
  }
  const follow = (path: string | null = file, env: Record<string, string> = {}) =>
    followOidcFile(
      test.controller.systemContext('oidc file'),
      createExecute(writeAudit),
      path === null ? null : { path, env },
    );
  const settings = () => root.query<Settings>('settings.get');
  const rows = () => test.db('audit_log').where({ action: 'settings.oidcUpdated' });

  it('is there after the start, sealed and marked as the file’s', async () => {
    const { oidcProviders, oidcFile } = await settings();
    expect(oidcProviders).to.have.length(1);
    expect(oidcProviders[0]).to.include({ id: 'main', displayName: 'Example ID', isFromFile: true });
    expect(oidcFile).to.deep.equal({ sets: ['providers'], error: null });
    expect((await test.db('oidc_settings').first()).sealed_client_secret).to.match(/^v1\./);
    expect(JSON.stringify(await test.db('audit_log').select()).includes(CLIENT_SECRET)).to.equal(false);
  });

  it('is taken over when it changes, and leaves no trace while it does not', async () => {
    const before = (await rows()).length;
    expect(await follow()).to.equal(false);
    expect((await rows()).length).to.equal(before);
    write('', 'Renamed');
    expect(await follow()).to.equal(true);
    expect((await settings()).oidcProviders[0]?.displayName).to.equal('Renamed');
    const [row] = await rows().orderBy('id', 'desc');
    expect(row.diff).to.deep.equal({ displayName: ['Example ID', 'Renamed'] });
    expect(row.metadata).to.deep.equal({ clientSecretChanged: false });
  });

  it('is changed by nothing else', async () => {
    for (const [name, input] of [
      [
        'settings.updateOidc',
        { providerId: 'main', issuer: provider.issuer, clientId: 'x', clientSecret: 'y' },
      ],
      ['settings.disableOidc', { providerId: 'main' }],
    ] as const) {
      const { status, fault } = await root.call('mutation', name, input);
      expect(status, name).to.equal(412);
      expect(fault?.message, name).to.match(/HEADGATE_OIDC_FILE names: change it there$/);
    }
  });

  it('says what groups and access are, which the settings do not change then', async () => {
    await root.mutate('team.create', { name: 'Data' });
    write(`groups:
  sync: true
  claim: groups
  mappings: [{ group: /data/editors, team: data, role: EDITOR }]
  patterns: [{ pattern: '/(?<team>.+)/viewers', role: VIEWER }]
access: { confirmationDays: 14, breakGlass: [${ROOT.email}], onlyByProvider: true }
`);
    expect(await follow()).to.equal(true);
    const told = await settings();
    expect(told.oidcFile).to.deep.equal({ sets: ['providers', 'groups', 'access'], error: null });
    expect(told.groups).to.deep.include({ groupSyncEnabled: true });
    expect(told.groups.mappings).to.have.length(1);
    expect(told.access).to.include({ confirmationDays: 14, onlyByProvider: true });
    for (const [name, input] of [
      ['settings.updateAccess', { confirmationDays: 20 }],
      ['settings.updateOidcTeamMappings', { mappings: [], defaultRole: 'VIEWER', groupSyncEnabled: false }],
    ] as const)
      expect((await root.call('mutation', name, input)).status, name).to.equal(412);
  });

  for (const [what, text, says] of [
    ['no YAML', 'providers: [', /^line 1, column/],
    ['a key that is none', 'providers: []\nproviderz: []', /providerz/],
    [
      'a team that is not there',
      'providers: []\ngroups: { sync: true, mappings: [{ group: g, team: nobody, role: EDITOR }] }',
      /no team "nobody"/,
    ],
    [
      'no secret',
      'providers: [{ id: a, issuer: "https://id.example", clientId: b }]',
      /which says where the client secret is/,
    ],
    [
      'a variable that is not set',
      'providers: [{ id: a, issuer: "https://id.example", clientId: b, clientSecretEnv: NOT_SET }]',
      /has no NOT_SET/,
    ],
  ] as const)
    it(`is told in Settings to have ${what}, and what was set before counts on`, async () => {
      writeFileSync(file, text);
      expect(await follow()).to.equal(false);
      const { oidcFile, oidcProviders } = await settings();
      expect(oidcFile?.error).to.match(says);
      expect(oidcProviders.map(({ id }) => id)).to.deep.equal(['main']);
      write();
      expect(await follow()).to.equal(true);
      expect((await settings()).oidcFile?.error).to.equal(null);
    });

  it('is taken over whole or not at all, and leaves no audit rows while it is not', async () => {
    const trace = () => test.db('audit_log').count('* as n').first();
    await root.mutate('admin.createUser', { email: 'plain@example.org', name: 'Plain' });
    const before = { ...(await settings()), rows: await trace() };
    write(
      `groups: { sync: true, mappings: [{ group: /other, team: data, role: VIEWER }] }
access: { breakGlass: [plain@example.org] }
`,
      'Another name',
    );
    expect(await follow()).to.equal(false);
    expect(await follow()).to.equal(false);
    const { oidcFile, ...after } = { ...(await settings()), rows: await trace() };
    expect(oidcFile?.error).to.match(/plain@example.org is not a super admin/);
    expect({ ...after, oidcFile: before.oidcFile }).to.deep.equal(before);
    write();
    expect(await follow()).to.equal(true);
  });

  it('keeps a controller from starting where it is wrong, in one line', async () => {
    writeFileSync(file, 'providers: 7');
    const refused = await startController({ ...test.config, port: 0 }).catch((error: Error) => error);
    expect(refused).to.be.instanceOf(Error);
    expect((refused as Error).message).to.match(/^HEADGATE_OIDC_FILE: providers must be/);
    write();
  });

  it('takes a secret of the environment, and a private authority beside it', async () => {
    writeFileSync(
      file,
      `providers: [{ id: main, issuer: "${provider.issuer}", clientId: headgate, clientSecretEnv: OIDC_SECRET }]`,
    );
    expect(await follow(file, { OIDC_SECRET: CLIENT_SECRET })).to.equal(true);
    writeFileSync(
      file,
      `providers: [{ id: main, issuer: "${provider.issuer}", clientId: headgate, clientSecretFile: secret, caCertificateFile: nowhere.pem }]`,
    );
    await follow();
    expect((await settings()).oidcFile?.error).to.match(/nowhere\.pem cannot be read \(ENOENT\)/);
    write();
    await follow();
  });

  it('takes providers away that it does not name any more, and lets go of all when there is no file', async () => {
    await follow();
    expect(await follow(null)).to.equal(true);
    const { oidcProviders, oidcFile } = await settings();
    expect([oidcProviders[0]?.isFromFile, oidcFile]).to.deep.equal([false, null]);
    write();
    await follow();
    writeFileSync(file, 'providers: []');
    await follow();
    expect((await settings()).oidcProviders).to.deep.equal([]);
  });
});
