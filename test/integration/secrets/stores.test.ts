/** An environment whose secrets are kept outside: through the API, the reconciler and the config that its nodes are served. */
import { join } from 'node:path';
import { expect } from 'chai';
import { environmentOperations } from '../../../controller/fleet/environments/index.ts';
import { sealingContext } from '../../../controller/platform/crypto/sealed-columns.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import type { Environment, SecretSummary } from '../../../schemas/api/fleet/environments.ts';
import { enrollNode, type TestNode } from '../../support/agents/agent-client.ts';
import { Clone } from '../../support/clients/clone.ts';
import { withCredentials } from '../../support/clients/git-client.ts';
import { makeKey } from '../../support/clients/rest.ts';
import { rejection } from '../../support/fixtures/fault-text.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken } from '../../support/scenes/places.ts';
import { ACCESS_KEY, SecretsManagerServer } from '../../support/servers/secrets-manager-server.ts';
import { useVaultServer, VaultServer } from '../../support/servers/vault-server.ts';
import { expectRefused, signUp, type TestUser } from '../../support/users/person.ts';

const TOKEN = 'hvs.root-of-the-test';
const PROGRAM = join(import.meta.dirname, '../../support/fixtures/exec-secrets.sh');

type Shown = Omit<Environment, 'createdAt'>;
type Listed = Omit<SecretSummary, 'fetchedAt'> & { fetchedAt: string | null };

describe('an environment whose secrets are kept outside', function () {
  this.timeout(30_000);
  const test = useController({ execSecretCommands: [PROGRAM, `/usr/bin/env sh ${PROGRAM}`] });
  const root = useRoot(test);
  let editor: TestUser;
  let teamId: string;
  const vault = useVaultServer();
  let made = 0;

  before(async () => {
    ({ id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'Shop' }));
    editor = await signUp(test, { email: 'editor@example.org', teams: { [teamId]: 'EDITOR' } });
  });

  const newEnvironment = async () => {
    const input = { name: `env ${++made}`, teamId };
    return (await root.mutate<{ id: string }>('environment.create', input)).id;
  };
  const vaultConfig = (more: object = {}) => ({
    address: vault.url,
    auth: { method: 'token', token: TOKEN },
    ...more,
  });
  const inVault = async (more: object = {}) => {
    const id = await newEnvironment();
    const input = { id, secretBackend: 'VAULT', secretBackendConfig: vaultConfig(more) };
    await editor.mutate('environment.update', input);
    return id;
  };
  const update = (id: string, input: object, who = editor) =>
    who.call<Shown>('mutation', 'environment.update', { id, ...input });
  const get = (id: string) => editor.query<Shown>('environment.get', { id });
  const secrets = (environmentId: string) => editor.query<Listed[]>('secret.list', { environmentId });
  const named = async (environmentId: string, name: string) =>
    (await secrets(environmentId)).find((one) => one.name === name);
  const wake = (key: string) => {
    const { bus } = test.controller.systemContext('test').services;
    return bus.publish(test.db, { type: 'wake', loop: 'secrets', key, trigger: 'test' });
  };
  /** Until a pass that began after this call has fetched everything. */
  const fetched = async (environmentId: string) => {
    const since = Date.now();
    await wake(environmentId);
    await until(
      async () =>
        (await secrets(environmentId)).every(
          ({ fetchedAt, fetchError }) => fetchError === null && Date.parse(fetchedAt ?? '') >= since,
        ),
      { what: 'the secrets to be fetched', everyMs: 20 },
    );
  };

  describe('and its setting', () => {
    it('is shown without its credentials, which are encrypted', async () => {
      const id = await inVault({ prefix: 'shop' });
      const { secretBackend, secretStore } = await get(id);
      expect(secretBackend).to.equal('VAULT');
      expect(secretStore).to.deep.equal({
        config: { address: vault.url, prefix: 'shop', auth: { method: 'token', hasToken: true } },
        fetchedAt: null,
        failing: 0,
        error: null,
      });
      const row = await test.db('environments').where({ id }).first();
      expect(row.sealed_secret_backend_config).to.match(/^v1\./).and.not.include(TOKEN);
      const audit = await test.db('audit_log').where({ environment_id: id, action: 'environment.updated' });
      expect(audit[0].diff).to.deep.equal({ secretBackend: ['BUILTIN', 'VAULT'] });
      expect(audit[0].metadata.secretBackendFields).to.deep.equal(['address', 'auth', 'prefix']);
    });

    it('answers how many of the registered secrets it does not give, and is refused where it gives none', async () => {
      const id = await inVault();
      for (const name of ['a', 'b']) {
        vault.put(`secret/${name}`, { value: name });
        await editor.mutate('secret.register', { environmentId: id, name });
      }
      vault.put('secret/other/a', { value: 'a' });
      const some = await update(id, { secretBackendConfig: vaultConfig({ prefix: 'other' }) });
      expect(some.status, some.fault?.message).to.equal(200);
      expect((await get(id)).secretStore).to.include({ failing: 1 });
      const none = await update(id, { secretBackendConfig: vaultConfig({ prefix: 'nowhere' }) });
      expect(none.fault?.message).to.match(/VAULT has none of the 2 registered secrets/);
      const role = { region: 'eu-central-1', accessKeyId: 'AKIAEXAMPLEOFTEST00', secretAccessKey: 'x' };
      const lone = await update(id, {
        secretBackend: 'CLOUD_SM',
        secretBackendConfig: { ...role, externalId: 'id' },
      });
      expect(lone.fault?.message).to.match(/roleArn is required beside externalId/);
    });

    it('is asked and read by one login, so that a secret id for a single use is enough', async () => {
      vault.put('secret/db', { value: 'first' });
      const id = await inVault({
        auth: { method: 'approle', roleId: 'shop-role', secretId: 'shop-secret-id' },
      });
      await editor.mutate('secret.register', { environmentId: id, name: 'db' });
      await fetched(id);
      expect(vault.logins).to.equal(1);
    });

    it('is closed again where the change is refused after the test', async () => {
      vault.life = { ttl: 2, renewable: true, uses: 0 };
      const auth = { method: 'approle', roleId: 'shop-role', secretId: 'shop-secret-id' };
      const other = await get(await newEnvironment());
      const id = await newEnvironment();
      const clock = manualClock();
      const refused = test.controller.execute(
        environmentOperations.update,
        { ...test.controller.systemContext('test'), clock },
        { id, name: other.name, secretBackend: 'VAULT', secretBackendConfig: vaultConfig({ auth }) },
      );
      expect(await rejection(refused)).to.include({ code: 'CONFLICT' });
      clock.advance(60_000);
      await inVault({ auth });
      const renewed = (login: number) =>
        vault.requests.filter(
          ({ path, token }) => path.endsWith('/renew-self') && token === `hvs.login-${login}`,
        ).length;
      await until(() => renewed(2) >= 1, { what: 'a renewal of the store that is in use' });
      const before = renewed(1);
      await until(() => renewed(2) >= 3, { what: 'two more renewals of it' });
      expect(renewed(1)).to.equal(before);
      expect(vault.logins).to.equal(2);
    });

    it('keeps a credential that is left out, as long as it goes to the same place', async () => {
      const id = await inVault();
      const auth = { method: 'token' };
      const kept = await update(id, { secretBackendConfig: vaultConfig({ auth, prefix: 'other' }) });
      expect(kept.status, kept.fault?.message).to.equal(200);
      vault.put('secret/other/db', { value: 'first' });
      await editor.mutate('secret.register', { environmentId: id, name: 'db' });
      const elsewhere = await VaultServer.start();
      try {
        const stolen = await update(id, { secretBackendConfig: { address: elsewhere.url, auth } });
        expect(stolen.status).to.equal(400);
        expect(stolen.fault?.message).to.equal(
          'secretBackendConfig.auth.token is required: the stored one belongs to another target and is not sent to this one',
        );
        expect(elsewhere.requests).to.deep.equal([]);
      } finally {
        await elsewhere.close();
      }
    });

    const vaultOf = (more: object) => ({ secretBackend: 'VAULT', secretBackendConfig: vaultConfig(more) });
    const execOf = (command: string) => ({ secretBackend: 'EXEC', secretBackendConfig: { command } });
    /** What is said follows the name of the field. */
    const WRONG: [of: string, input: () => object, says: RegExp][] = [
      ['without a configuration', () => ({ secretBackend: 'VAULT' }), / is required for VAULT/],
      ['with a field too many', () => vaultOf({ adress: 'x' }), /\.adress is not a known field/],
      [
        'with another method’s field',
        () => vaultOf({ auth: { method: 'approle', token: TOKEN } }),
        /\.auth\.roleId is required; secretBackendConfig\.auth\.token is not a known field/,
      ],
      ['with an address of another kind', () => vaultOf({ address: 'file:///etc' }), /\.address must be/],
      [
        'at the address where a cloud answers the machine',
        () => vaultOf({ address: 'http://[::ffff:169.254.169.254]/latest' }),
        /: http:\/\/\[::ffff:a9fe:a9fe\]\/latest cannot be reached: nothing answers there, or .*HEADGATE_PRIVATE_TARGETS/,
      ],
      [
        'with a password in the address',
        () => vaultOf({ address: 'https://me:canary@vault' }),
        /\.address must be like https:\/\/vault\.example\.com:8200, without user/,
      ],
      ['with a way out of the mount', () => vaultOf({ prefix: 'a/../../sys' }), /\.prefix must be/],
      [
        'with an authority that is none',
        () => vaultOf({ ca: 'nonsense' }),
        /\.ca is not a certificate in PEM form/,
      ],
      [
        'for BUILTIN',
        () => ({ secretBackend: 'BUILTIN', secretBackendConfig: {} }),
        / is not allowed for BUILTIN/,
      ],
      [
        'with half a key',
        () => ({
          secretBackend: 'CLOUD_SM',
          secretBackendConfig: { region: 'eu-central-1', secretAccessKey: 'canary' },
        }),
        /\.accessKeyId is required/,
      ],
      ['of a program by its name', () => execOf('pass'), /\.command must be/],
      ['of a program by a detour', () => execOf('/opt/../bin/sh'), /\.command must be/],
      [
        'with a token that is refused',
        () => vaultOf({ auth: { method: 'token', token: 'hvs.canary' } }),
        /: Vault answers 403/,
      ],
    ];
    it('is refused where it is wrong, and stays what it was', async () => {
      const id = await newEnvironment();
      for (const [of, input, says] of WRONG) {
        const { status, fault } = await update(id, input(), root);
        expect(status, of).to.equal(400);
        expect(fault?.message, of)
          .to.match(new RegExp(`secretBackendConfig${says.source}`))
          .and.not.include('canary');
      }
      expect(await get(id)).to.include({ secretBackend: 'BUILTIN', secretStore: null });
    });

    it('may name a command of the list as it stands there, and no super admin another one', async () => {
      const id = await newEnvironment();
      const input = (command: string, ...args: string[]) => ({
        secretBackend: 'EXEC',
        secretBackendConfig: { command, ...(args.length > 0 ? { args } : {}) },
      });
      for (const who of [editor, root])
        for (const wrong of [
          input('/bin/cat'),
          input(PROGRAM, '--all'),
          input('/usr/bin/env'),
          input('/usr/bin/env', 'cat', '/etc/passwd'),
          input('/usr/bin/env', `cat ${PROGRAM}`),
        ]) {
          const refused = await update(id, wrong, who);
          expect(refused.status, JSON.stringify(wrong)).to.equal(403);
          expect(refused.fault?.message).to.include('HEADGATE_EXEC_SECRET_COMMANDS');
        }
      expect((await update(id, input(PROGRAM))).status).to.equal(200);
      expect((await update(id, input('/usr/bin/env', 'sh', PROGRAM))).status).to.equal(200);
      expect((await get(id)).secretCommands).to.deep.equal([PROGRAM, `/usr/bin/env sh ${PROGRAM}`]);
    });

    it('is not asked any longer once its command is not on the list as it was set', async () => {
      const id = await newEnvironment();
      const before = { secretBackend: 'EXEC', secretBackendConfig: { command: PROGRAM } };
      expect((await update(id, before)).status).to.equal(200);
      const { keyring } = test.controller.systemContext('test').services;
      const setting = { kind: 'EXEC', config: { command: PROGRAM, args: ['--everything'] } };
      await test
        .db('environments')
        .where({ id })
        .update({
          sealed_secret_backend_config: keyring.seal(
            JSON.stringify(setting),
            sealingContext('environments', id),
          ),
        });
      const { status, fault } = await editor.call('mutation', 'secret.register', {
        environmentId: id,
        name: 'db',
      });
      expect(status).to.equal(412);
      expect(fault?.message).to.equal(
        `${PROGRAM} --everything is not one of the commands that the operator of this controller lists in HEADGATE_EXEC_SECRET_COMMANDS, which fixes the arguments too; choose one of them, or ask the operator to list this one`,
      );
    });

    it('may use the controller’s own identity only where a super admin says so', async () => {
      const id = await newEnvironment();
      const cloud = { secretBackend: 'CLOUD_SM', secretBackendConfig: { region: 'eu-central-1' } };
      const kubernetes = vaultOf({ auth: { method: 'kubernetes', role: 'headgate' } });
      for (const input of [cloud, kubernetes])
        expectRefused(await update(id, input), 403, "the controller's own identity");
      expectRefused(await update(id, kubernetes, root), 400, 'no Kubernetes service account');
    });

    /** With a server whose key the controller finds in its environment. */
    async function onMachineOfAws(work: (aws: SecretsManagerServer) => Promise<void>): Promise<void> {
      const aws = await SecretsManagerServer.start();
      const before = { ...process.env };
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: 'of/the/machine' });
      try {
        await work(aws);
      } finally {
        for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
          if (before[name] === undefined) delete process.env[name];
          else process.env[name] = before[name];
        await aws.close();
      }
    }

    it('read with the controller’s own identity opens to editors what is below its prefix, and no path elsewhere', async () => {
      await onMachineOfAws(async (aws) => {
        const environmentId = await newEnvironment();
        const secretBackendConfig = { region: 'eu-central-1', endpoint: aws.url, prefix: 'shop/' };
        const input = { secretBackend: 'CLOUD_SM', secretBackendConfig };
        expect((await update(environmentId, input, root)).status).to.equal(200);
        for (const name of ['shop/api/key', 'bank/key']) aws.secrets.set(name, 'x');
        const register = (who: typeof editor, name: string, path: string) =>
          who.call('mutation', 'secret.register', { environmentId, name, path });
        const refused = await register(editor, 'bank', 'bank/key');
        expect([refused.status, refused.fault?.message]).to.deep.equal([
          403,
          "This store is read with the controller's own identity: only super admins may register or write a path that does not begin with shop/",
        ]);
        expect((await register(editor, 'own', 'shop/api/key')).status).to.equal(200);
        expect((await register(root, 'bank', 'bank/key')).status).to.equal(200);
        const { id } = await test
          .db('secrets')
          .where({ environment_id: environmentId, name: 'bank' })
          .first('id');
        const written = { environmentId, id, value: 'taken over' };
        expect((await editor.call('mutation', 'secret.update', written)).status).to.equal(403);
        expect(aws.secrets.get('bank/key')).to.equal('x');
        expect((await root.call('mutation', 'secret.update', written)).status).to.equal(200);
        // What a super admin let in stays where the store is set up again.
        expect((await update(environmentId, input, root)).status).to.equal(200);
      });
    });

    it('is not switched to the controller’s own identity while editors have paths in it that lead elsewhere', async () => {
      await onMachineOfAws(async (aws) => {
        const environmentId = await newEnvironment();
        const config = { region: 'eu-central-1', endpoint: aws.url, prefix: 'shop/' };
        const own = { ...config, accessKeyId: ACCESS_KEY, secretAccessKey: 'of/the/team' };
        for (const name of ['shop/api/key', 'bank/key']) aws.secrets.set(name, 'x');
        const saved = (secretBackendConfig: object) =>
          update(environmentId, { secretBackend: 'CLOUD_SM', secretBackendConfig }, root);
        expect((await saved(own)).status).to.equal(200);
        for (const [name, path] of [
          ['bank', 'bank/key'],
          ['shop', 'shop/api/key'],
        ])
          await editor.mutate('secret.register', { environmentId, name, path });
        const refused = await saved(config);
        expect([refused.status, refused.fault?.message]).to.deep.equal([
          400,
          "secretBackendConfig: with the controller's own identity these secrets would be read outside shop/: bank (bank/key). Delete them here first, then register them again as a super admin",
        ]);
        const { id } = await test
          .db('secrets')
          .where({ environment_id: environmentId, name: 'bank' })
          .first('id');
        await root.mutate('secret.delete', { environmentId, id });
        expect((await saved(config)).status).to.equal(200);
      });
    });

    it('keeps the credentials of a login where they are left out, shows none, and sends them nowhere else', async () => {
      const id = await newEnvironment();
      const jwt = vault.jwt;
      const set = (config: object) => update(id, { secretBackend: 'VAULT', secretBackendConfig: config });
      expect((await set(vaultConfig({ auth: { method: 'jwt', role: 'r', jwt } }))).status).to.equal(200);
      const kept = await set(vaultConfig({ auth: { method: 'jwt', role: 'other' } }));
      expect(kept.status).to.equal(200);
      const shown = await editor.query<{ secretStore: { config: { auth: object } } }>('environment.get', {
        id,
      });
      expect(shown.secretStore.config.auth).to.deep.equal({ method: 'jwt', role: 'other', hasJwt: true });
      const moved = {
        ...vaultConfig({ auth: { method: 'jwt', role: 'other' } }),
        address: 'http://localhost:1',
      };
      const refused = await set(moved);
      expect([refused.status, refused.fault?.message]).to.deep.equal([
        400,
        'secretBackendConfig.auth.jwt is required: the stored one belongs to another target and is not sent to this one',
      ]);
      const plain = await set(vaultConfig({ auth: { method: 'cert', certificate: 'x', key: 'y' } }));
      expect(plain.fault?.message).to.include('must begin with https://');
    });

    it('turns programs off where the operator names none', async () => {
      const own = await startTestController();
      try {
        const admin = await own.root();
        const { id: team } = await admin.mutate<{ id: string }>('team.create', { name: 'T' });
        const { id } = await admin.mutate<{ id: string }>('environment.create', { name: 'e', teamId: team });
        const secretBackendConfig = { command: PROGRAM };
        const input = { id, secretBackend: 'EXEC', secretBackendConfig };
        expectRefused(
          await admin.call('mutation', 'environment.update', input),
          412,
          /EXEC is off .* HEADGATE_EXEC_SECRET_COMMANDS/,
        );
      } finally {
        await own.stop();
      }
    });
  });

  describe('and its secrets', () => {
    it('are written to the store, and registered where they are there already', async () => {
      const environmentId = await inVault({ prefix: 'shop' });
      const create = (name: string, value: string) =>
        editor.call<Listed>('mutation', 'secret.create', { environmentId, name, value });
      const created = await create('db', 'first');
      expect(created.output?.fetchedAt).to.be.a('string');
      expect(vault.get('secret/shop/db')).to.deep.equal({ value: 'first' });
      vault.put('secret/shop/api-key', { value: 'from the operator' });
      expectRefused(await create('api-key', 'mine'), 409, 'secret.register');
      expect(vault.get('secret/shop/api-key')).to.deep.equal({ value: 'from the operator' });
      const registered = await editor.mutate<Listed>('secret.register', { environmentId, name: 'api-key' });
      expect(registered.variable).to.equal('SVC_SECRET_API_KEY');
      const again = await editor.call('mutation', 'secret.register', { environmentId, name: 'api-key' });
      expect(again.status).to.equal(409);
      expectRefused(
        await editor.call('mutation', 'secret.register', { environmentId, name: 'nobody' }),
        400,
        'Vault has no secret/data/shop/nobody',
      );
      const value = 'x'.repeat(60_000) + 'ü'.repeat(5_000);
      const large = await create('large', value);
      expect([large.status, large.fault?.message]).to.deep.equal([
        400,
        'value: the value is larger than 64 KiB',
      ]);
    });

    it('are registered at a path of their own, listed with it, followed and written there', async () => {
      const environmentId = await inVault({ prefix: 'shop' });
      vault.put('secret/other/db', { user: 'me', password: 'first' });
      const at = { path: 'other/db', property: 'password' };
      const input = { environmentId, name: 'password', ...at };
      const { id } = await editor.mutate<Listed>('secret.register', input);
      const [listed] = await editor.query<Listed[]>('secret.list', { environmentId });
      expect(listed).to.include({ name: 'password', ...at, version: null });
      await editor.mutate('secret.update', { environmentId, id, value: 'second' });
      expect(vault.get('secret/other/db')).to.deep.equal({ user: 'me', password: 'second' });
      const wrong = await editor.call('mutation', 'secret.register', {
        ...{ environmentId, name: 'token', path: 'other/db', property: 'token' },
      });
      expect([wrong.status, wrong.fault?.message]).to.deep.equal([
        400,
        'path: secret/data/other/db has no text in the field "token"; its fields are: user, password',
      ]);
      for (const path of ['../db', 'a/../db', '-x', 'a b', 'x'.repeat(2_049)]) {
        const refused = await editor.call('mutation', 'secret.register', { environmentId, name: 'x', path });
        expect(refused.status, path.slice(0, 20)).to.equal(400);
      }
    });

    it('are moved in the store without a commit: they keep their id, and what is not there is refused first', async () => {
      const environmentId = await inVault();
      vault.put('secret/old', { value: 'first' });
      vault.put('secret/new/place', { password: 'second' });
      const { id } = await editor.mutate<Listed>('secret.register', { environmentId, name: 'old' });
      const move = (more: object, who = editor) =>
        who.call('mutation', 'secret.relocate', { environmentId, id, ...more });
      const missing = await move({ path: 'new/place', property: 'pass' });
      expect([missing.status, missing.fault?.message]).to.deep.equal([
        400,
        'path: secret/data/new/place has no text in the field "pass"; its fields are: password',
      ]);
      expect(await editor.query<Listed[]>('secret.list', { environmentId })).to.have.nested.property(
        '[0].path',
        null,
      );
      expect((await move({ path: '/new/place' })).fault?.message).to.include('must not begin or end with /');
      expect((await move({ path: 'new/place', property: 'password' })).status).to.equal(200);
      const [moved] = await editor.query<Listed[]>('secret.list', { environmentId });
      expect(moved).to.include({ id, name: 'old', path: 'new/place', property: 'password' });
      const row = await test.db('audit_log').where({ action: 'secret.relocated', entity_id: id }).first();
      expect(row.diff).to.deep.equal({ path: [null, 'new/place'], property: [null, 'password'] });
      expect(JSON.stringify(row)).not.to.include('second');
      expect((await move({})).status, 'back to where its name says').to.equal(200);
    });

    it('are replaced in the store, and stay there when they are deleted here', async () => {
      const environmentId = await inVault();
      const { id } = await editor.mutate<Listed>('secret.create', {
        environmentId,
        name: 'db',
        value: 'first',
      });
      await editor.mutate('secret.update', { environmentId, id, value: 'second' });
      expect(vault.get('secret/db')).to.deep.equal({ value: 'second' });
      expect(await editor.mutate('secret.delete', { environmentId, id })).to.deep.equal({
        deleted: true,
        stillInStore: true,
      });
      expect(vault.get('secret/db')).to.deep.equal({ value: 'second' });
      const builtin = await newEnvironment();
      const input = { environmentId: builtin, name: 'db', value: 'first' };
      const { id: own } = await editor.mutate<Listed>('secret.create', input);
      expect(await editor.mutate('secret.delete', { environmentId: builtin, id: own })).to.deep.equal({
        deleted: true,
        stillInStore: false,
      });
    });

    it('are not registered where Headgate keeps them, and not written where a program gives them', async () => {
      const builtin = await newEnvironment();
      const input = { environmentId: builtin, name: 'db' };
      const { status, fault } = await editor.call('mutation', 'secret.register', input);
      expect([status, fault?.message]).to.deep.equal([
        412,
        'This environment stores its secrets in Headgate itself: set the value with secret.create, or set an external store with environment.update first',
      ]);
      await update(builtin, { secretBackend: 'EXEC', secretBackendConfig: { command: PROGRAM } });
      const registered = await editor.mutate<Listed>('secret.register', input);
      for (const [name, more] of [
        ['secret.create', { name: 'other', value: 'x' }],
        ['secret.update', { id: registered.id, value: 'x' }],
      ] as const) {
        const answer = await editor.call('mutation', name, { environmentId: builtin, ...more });
        expect(answer.status, name).to.equal(412);
        expect(answer.fault?.message).to.include('secret.register');
      }
    });

    it('live in AWS Secrets Manager just as well', async () => {
      const aws = await SecretsManagerServer.start();
      try {
        const environmentId = await newEnvironment();
        const config = {
          region: 'eu-central-1',
          prefix: 'shop/',
          endpoint: aws.url,
          accessKeyId: ACCESS_KEY,
        };
        const secretAccessKey = 'canary/of/aws';
        const { status, fault } = await update(environmentId, {
          secretBackend: 'CLOUD_SM',
          secretBackendConfig: { ...config, secretAccessKey },
        });
        expect(status, fault?.message).to.equal(200);
        await editor.mutate('secret.create', { environmentId, name: 'db', value: 'first' });
        expect(aws.secrets.get('shop/db')).to.equal('first');
        aws.secrets.set('shop/db', 'second');
        await fetched(environmentId);
        expect((await get(environmentId)).secretStore?.config).to.deep.equal({
          ...config,
          hasSecretAccessKey: true,
          hasSessionToken: false,
        });
        expect((await update(environmentId, { secretBackendConfig: config })).status).to.equal(200);
      } finally {
        await aws.close();
      }
    });

    it('of which ten are made at once under one name are one, and nobody is answered 500', async () => {
      const environmentId = await inVault();
      vault.put('secret/there', { value: 'x' });
      for (const [name, input] of [
        ['secret.create', { name: 'db', value: 'first' }],
        ['secret.register', { name: 'there' }],
      ] as const) {
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => editor.call('mutation', name, { environmentId, ...input })),
        );
        const statuses = answers.map(({ status }) => status).sort();
        expect(statuses, name).to.deep.equal([200, ...Array.from({ length: 9 }, () => 409)]);
      }
      expect(vault.entries.get('secret/db')?.versions).to.have.length(1);
      expect(await secrets(environmentId)).to.have.length(2);
    });

    describe('that programs write', () => {
      interface Sent {
        method: 'POST' | 'PUT';
        body: object;
        headers?: Record<string, string>;
        signal?: AbortSignal;
      }
      const program = async () => {
        const environmentId = await inVault();
        const { key } = await makeKey(root, environmentId);
        const url = `${test.url}/api/v1/secrets`;
        const authorization = `Bearer ${key}`;
        const send = ({ method, body, headers = {}, signal }: Sent) =>
          fetch(url, {
            method,
            body: JSON.stringify(body),
            headers: { authorization, 'content-type': 'application/json', ...headers },
            ...(signal ? { signal } : {}),
          });
        const list = () => fetch(url, { headers: { authorization } });
        return { environmentId, send, list };
      };

      it('stay in the store as they were where If-Match names an earlier state', async () => {
        const { send, list } = await program();
        await send({ method: 'POST', body: { name: 'db', value: 'first' } });
        const headers = { 'if-match': (await list()).headers.get('etag') ?? '' };
        const replace = (value: string) => send({ method: 'PUT', body: { name: 'db', value }, headers });
        expect((await replace('second')).status).to.equal(200);
        expect((await replace('third')).status).to.equal(412);
        expect(vault.entries.get('secret/db')?.versions).to.have.length(2);
        expect(vault.get('secret/db')).to.deep.equal({ value: 'second' });
      });

      it('are created once where a program leaves before the store has answered, and comes again', async () => {
        const { environmentId, send } = await program();
        const body = { name: 'db', value: 'first' };
        const key = 'left-early';
        const headers = { 'idempotency-key': key };
        const leaving = new AbortController();
        const isFree = async () =>
          (await test.db('idempotent_requests').where({ key }).first('key')) === undefined;
        vault.before = async (method) => {
          if (method !== 'POST') return;
          vault.before = null;
          leaving.abort();
          await until(isFree, { what: 'the first request to be given up' });
        };
        const first = await send({ method: 'POST', body, headers, signal: leaving.signal }).catch(
          (error: Error) => error.name,
        );
        expect(first).to.equal('AbortError');
        await until(() => vault.entries.has('secret/db'), { what: 'the store to write it' });
        expect(await secrets(environmentId)).to.deep.equal([]);
        const again = await send({ method: 'POST', body, headers });
        expect(again.status, await again.text()).to.equal(201);
        expect(vault.entries.get('secret/db')?.versions).to.have.length(1);
        expect(await secrets(environmentId)).to.have.length(1);
      });

      it('are not created where the store has another value', async () => {
        const { environmentId, send } = await program();
        vault.put('secret/db', { value: 'of somebody else' });
        expect((await send({ method: 'POST', body: { name: 'db', value: 'first' } })).status).to.equal(409);
        expect(vault.get('secret/db')).to.deep.equal({ value: 'of somebody else' });
        expect(await secrets(environmentId)).to.deep.equal([]);
      });
    });

    it('are not written as of a store that is another meanwhile', async () => {
      const environmentId = await inVault();
      vault.before = async (method) => {
        if (method !== 'POST') return;
        vault.before = null;
        await root.mutate('environment.update', { id: environmentId, secretBackend: 'BUILTIN' });
      };
      const input = { environmentId, name: 'db', value: 'first' };
      expectRefused(await editor.call('mutation', 'secret.create', input), 409, 'has just been changed');
      expect(await secrets(environmentId)).to.deep.equal([]);
    });

    it('stay with their last good values when the environment goes back to Headgate', async () => {
      const environmentId = await inVault();
      await editor.mutate('secret.create', { environmentId, name: 'db', value: 'first' });
      vault.fault = 'sealed';
      const { output } = await update(environmentId, { secretBackend: 'BUILTIN' });
      expect(output).to.include({ secretBackend: 'BUILTIN', secretStore: null });
      const secret = await named(environmentId, 'db');
      expect(secret).to.include({ fetchedAt: null, fetchError: null });
      const row = await test.db('environments').where({ id: environmentId }).first();
      expect(row.sealed_secret_backend_config).to.equal(null);
      await editor.mutate('secret.update', { environmentId, id: secret?.id, value: 'second' });
      expect(vault.get('secret/db')).to.deep.equal({ value: 'first' });
    });
  });

  describe('and what its nodes are served', () => {
    let environmentId: string;
    let node: TestNode;
    let clone: Clone;

    beforeEach(async () => {
      environmentId = await inVault();
      for (const name of ['db', 'queue']) {
        vault.put(`secret/${name}`, { value: `${name} 1` });
        await editor.mutate('secret.register', { environmentId, name });
      }
      const path = `environments/${environmentId}`;
      await root.mutate('gitSync.configure', { environmentId, mode: 'sync', path });
      const { token } = await root.mutate<{ token: string }>('user.createToken', { name: `git ${made}` });
      clone = await Clone.of(withCredentials(`${test.url}/git/config.git`, 'git', token));
      await clone.push('Three pipelines', {
        [`${path}/orders.yaml`]: using('orders', 'DB'),
        [`${path}/stock.yaml`]: using('stock', 'QUEUE'),
        [`${path}/plain.yaml`]: idleManifest('plain'),
      });
      node = await enrollNode(test.url, await enrollmentToken(root, environmentId));
      await until(async () => (await served()).length === 3, { what: 'three pipelines', everyMs: 20 });
    });
    afterEach(() => clone?.remove());

    const using = (name: string, secret: string) =>
      idleManifest(name).replace('type: blackhole', `type: blackhole, note: "\${SVC_SECRET_${secret}}"`);
    const config = async () =>
      (await node.config()).json<{ pipelines: PipelineEntry[]; configRevision: number }>();
    const served = async () => (await config()).pipelines;
    const checksums = async () =>
      Object.fromEntries((await served()).map(({ pipelineName, checksum }) => [pipelineName, checksum]));

    it('restarts exactly the pipelines that use a secret which was changed in the store', async () => {
      const before = await checksums();
      vault.put('secret/db', { value: 'db 2' });
      await fetched(environmentId);
      await until(async () => (await checksums()).orders !== before.orders, {
        what: 'the new value',
        everyMs: 20,
      });
      const orders = (await served()).find(({ pipelineName }) => pipelineName === 'orders');
      expect(orders?.secrets).to.deep.equal({ SVC_SECRET_DB: 'db 2' });
      expect(await checksums()).to.include({ stock: before.stock, plain: before.plain });
      const audit = await test
        .db('audit_log')
        .where({ environment_id: environmentId, action: 'secret.fetched' });
      expect(audit.map(({ metadata, actor_type }) => [actor_type, metadata])).to.deep.equal([
        ['system', { backend: 'VAULT', names: ['db'], count: 1 }],
      ]);
    });

    it('does not change, not even by its revision, when nothing did', async () => {
      const before = await config();
      await fetched(environmentId);
      await fetched(environmentId);
      expect(await config()).to.deep.equal(before);
      expect(await test.db('object_changes').where({ environment_id: environmentId })).to.deep.equal([]);
    });

    it('is the last good value while the store fails, which is told, and the new one when it is back', async () => {
      const before = await config();
      vault.fault = 'sealed';
      vault.put('secret/db', { value: 'db 2' });
      await wake(environmentId);
      await until(async () => (await named(environmentId, 'db'))?.fetchError !== null, {
        what: 'the fault to be told',
        everyMs: 20,
      });
      expect((await named(environmentId, 'db'))?.fetchError).to.match(
        /Vault answers 503 \(Vault is sealed\)/,
      );
      const { secretStore } = await get(environmentId);
      expect(secretStore).to.include({ failing: 2 });
      expect(secretStore?.error).to.include('sealed');
      expect(await config()).to.deep.equal(before);
      vault.fault = 'none';
      await fetched(environmentId);
      await until(async () => (await served()).some(({ secrets: all }) => all.SVC_SECRET_DB === 'db 2'), {
        what: 'the new value',
        everyMs: 20,
      });
      expect((await get(environmentId)).secretStore).to.include({ failing: 0, error: null });
    });

    it('keeps the last good value of the one secret that is gone from the store', async () => {
      const before = await checksums();
      vault.entries.delete('secret/db');
      await wake(environmentId);
      await until(async () => (await named(environmentId, 'db'))?.fetchError !== null, { what: 'the fault' });
      expect((await named(environmentId, 'queue'))?.fetchError).to.equal(null);
      expect(await checksums()).to.deep.equal(before);
    });

    it('is what was written last, when the store was being read meanwhile', async () => {
      const id = (await named(environmentId, 'db'))?.id;
      let wrote = false;
      vault.before = async (method, path) => {
        if (wrote || method !== 'GET' || !path.endsWith('/db')) return;
        wrote = true;
        vault.before = null;
        // The pass reads "old", and before it has done so somebody replaces it.
        vault.put('secret/db', { value: 'old' });
        const answer = vault.get('secret/db');
        await editor.mutate('secret.update', { environmentId, id, value: 'new' });
        vault.put('secret/db', answer ?? {});
        setImmediate(() => vault.put('secret/db', { value: 'new' }));
      };
      await wake(environmentId);
      await until(() => wrote && vault.get('secret/db')?.value === 'new', { what: 'both' });
      await fetched(environmentId);
      await until(async () => (await served()).some(({ secrets: all }) => all.SVC_SECRET_DB === 'new'), {
        what: 'the value that was written last',
        everyMs: 20,
      });
      const audit = await test
        .db('audit_log')
        .where({ environment_id: environmentId, action: 'secret.fetched' });
      expect(audit, 'the older one never came in').to.deep.equal([]);
    });
  });
});
