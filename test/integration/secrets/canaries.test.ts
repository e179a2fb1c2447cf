/** Values, credentials and keys go in by every way there is, and come out by none but to the nodes that need them. */
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { enrollNode } from '../../support/agents/agent-client.ts';
import { Clone } from '../../support/clients/clone.ts';
import { withCredentials } from '../../support/clients/git-client.ts';
import { base64, LEAF } from '../../support/fixtures/certificates.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { ACCESS_KEY, SecretsManagerServer } from '../../support/servers/secrets-manager-server.ts';
import { VaultServer } from '../../support/servers/vault-server.ts';
import type { TestUser } from '../../support/users/person.ts';

describe('what is secret', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'headgate-canary-'));
  const program = join(folder, 'program');
  let test: TestController;
  let root: TestUser;
  let vault: VaultServer;
  let aws: SecretsManagerServer;
  const answers: string[] = [];
  const canaries = new Set<string>();

  function canary(): string {
    const made = `canary${canaries.size}xyzzy`;
    canaries.add(made);
    return made;
  }
  /** Whatever the answer is, it is kept. */
  async function call<T>(kind: 'query' | 'mutation', name: string, input: object): Promise<T> {
    const { answer, output } = await root.call<T>(kind, name, input);
    answers.push(`${name} ${answer.status} ${answer.text}`);
    return output as T;
  }
  const mutate = <T = { id: string }>(name: string, input: object) => call<T>('mutation', name, input);

  before(async () => {
    vault = await VaultServer.start();
    aws = await SecretsManagerServer.start();
    test = await startTestController({ execSecretCommands: [program] });
    root = await test.root();
  });
  after(async () => {
    await test?.stop();
    await vault?.close();
    await aws?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes in by every way, right and wrong, and is used', async () => {
    const { id: teamId } = await mutate('team.create', { name: 'T' });
    const environment = async (name: string) => (await mutate('environment.create', { name, teamId })).id;
    const setting = (id: string, secretBackend: string, secretBackendConfig: object) =>
      mutate('environment.update', { id, secretBackend, secretBackendConfig });
    const wake = async (environmentId: string) => {
      const since = Date.now();
      const { bus } = test.controller.systemContext('test').services;
      await bus.publish(test.db, { type: 'wake', loop: 'secrets', key: environmentId, trigger: 'test' });
      await until(
        async () => {
          const rows = await test.db('secrets').where({ environment_id: environmentId });
          return rows.every((row) => row.fetch_error !== null || row.fetched_at >= since);
        },
        { what: 'a pass', everyMs: 20 },
      );
    };

    const builtin = await environment('builtin');
    const { id } = await mutate('secret.create', { environmentId: builtin, name: 'db', value: canary() });
    await mutate('secret.update', { environmentId: builtin, id, value: canary() });
    await mutate('secret.create', { environmentId: builtin, name: 'db', value: canary() });
    await mutate('secret.create', { environmentId: builtin, name: 'lines', value: `${canary()}\n` });
    await mutate('secret.create', { environmentId: builtin, name: 'no name', value: canary() });
    await mutate('secret.update', { environmentId: builtin, id: 'nobody', value: canary() });
    await mutate('secret.create', { environmentId: builtin, name: 'x', value: canary(), more: canary() });

    const token = canary();
    vault.tokens.add(token);
    const vaulted = await environment('vaulted');
    const auth = { method: 'token', token };
    const address = vault.url;
    await setting(vaulted, 'VAULT', { address, auth: { ...auth, token: canary() } });
    await setting(vaulted, 'VAULT', { address, auth: { ...auth, surprise: canary() } });
    await setting(vaulted, 'VAULT', { address: `http://me:${canary()}@vault`, auth });
    await setting(vaulted, 'VAULT', {
      address,
      auth: { method: 'approle', roleId: 'r', secretId: canary() },
    });
    await setting(vaulted, 'VAULT', { address, auth });
    const made = await mutate('secret.create', { environmentId: vaulted, name: 'db', value: canary() });
    await mutate('secret.update', { environmentId: vaulted, id: made.id, value: canary() });
    vault.put('secret/found', { value: canary(), [`field_${canary()}`.slice(0, 5)]: canary() });
    await mutate('secret.register', { environmentId: vaulted, name: 'found' });
    vault.put('secret/lines', { value: `${canary()}\n` });
    await mutate('secret.register', { environmentId: vaulted, name: 'lines' });
    vault.put('secret/found', { value: canary() });
    await wake(vaulted);
    vault.fault = 'echo';
    await mutate('secret.create', { environmentId: vaulted, name: 'echoed', value: canary() });
    await mutate('secret.update', { environmentId: vaulted, id: made.id, value: canary() });
    await wake(vaulted);
    vault.fault = 'none';

    const clouded = await environment('clouded');
    const cloud = { region: 'eu-central-1', endpoint: aws.url, accessKeyId: ACCESS_KEY };
    await setting(clouded, 'CLOUD_SM', {
      ...cloud,
      accessKeyId: 'AKIAOFSOMEBODYELSE0',
      secretAccessKey: canary(),
    });
    await setting(clouded, 'CLOUD_SM', { ...cloud, secretAccessKey: canary(), sessionToken: canary() });
    await mutate('secret.create', { environmentId: clouded, name: 'db', value: canary() });
    aws.fault = 'broken';
    await mutate('secret.create', { environmentId: clouded, name: 'other', value: canary() });
    await wake(clouded);

    writeFileSync(
      program,
      `#!/bin/sh\necho '{"a":{"value":"${canary()}"},"b":{"error":"no ${canary()}"}}'\n`,
    );
    chmodSync(program, 0o755);
    const executed = await environment('executed');
    await setting(executed, 'EXEC', { command: program });
    await mutate('secret.register', { environmentId: executed, name: 'a' });
    writeFileSync(program, `#!/bin/sh\necho ${canary()}; echo ${canary()} >&2; exit 1\n`);
    await wake(executed);

    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const line of pem.split('\n').filter((one) => one.length > 20 && !one.includes('-----')))
      canaries.add(line);
    canaries.add(base64(pem).slice(40, 90));
    for (const [fileType, filename] of [
      ['key', 'shop.key'],
      ['cert', 'wrong.pem'],
      ['ca', 'wrong.pem'],
    ])
      await mutate('certificate.upload', {
        ...{ environmentId: builtin, name: 'shop', filename, fileType },
        dataBase64: base64(pem),
      });
    await mutate('certificate.upload', {
      ...{ environmentId: builtin, name: 'shop', filename: 'shop.pem', fileType: 'cert' },
      dataBase64: base64(`${LEAF}${pem}`),
    });
    await mutate('certificate.upload', {
      ...{ environmentId: builtin, name: 'broken', filename: 'broken.key', fileType: 'key' },
      dataBase64: base64(pem.replace('MI', 'XX')),
    });

    await mutate('gitSync.configure', { environmentId: builtin, mode: 'sync', path: 'builtin' });
    const git = await root.mutate<{ token: string }>('user.createToken', { name: 'git' });
    const clone = await Clone.of(withCredentials(`${test.url}/git/config.git`, 'git', git.token));
    const { said } = await clone.push('One', {
      'builtin/one.yaml': idleManifest('one').replace(
        'type: blackhole',
        `type: blackhole, note: "\${SVC_SECRET_DB}", key: "\${SVC_CERT_DIR}/shop.key"`,
      ),
    });
    answers.push(said);
    await clone.remove();
    const enrollment = await root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId: builtin,
    });
    const node = await enrollNode(test.url, enrollment.token);
    let config = '';
    await until(
      async () => {
        config = (await node.config()).text;
        return config.includes('one');
      },
      { what: () => `the pipeline: ${said}`, everyMs: 20 },
    );
    expect(config, 'the node gets the value').to.match(/"SVC_SECRET_DB":"canary\d+xyzzy"/);
    expect(config, 'and the key').to.include(base64(pem));

    for (const environmentId of [builtin, vaulted, clouded, executed]) {
      await call('query', 'environment.get', { id: environmentId });
      await call('query', 'secret.list', { environmentId });
      await call('query', 'certificate.list', { environmentId });
      const pipelines = await call<{ id: string }[]>('query', 'pipeline.list', { environmentId });
      for (const pipeline of pipelines ?? []) {
        await call('query', 'pipeline.get', { id: pipeline.id });
        await call('query', 'deploy.preview', { pipelineId: pipeline.id });
      }
    }
  });

  const found = (text: string) => [...canaries].filter((one) => text.includes(one));

  it('is in no answer', () => {
    expect(answers.length).to.be.above(40);
    for (const answer of answers) expect(found(answer), answer.slice(0, 2_000)).to.deep.equal([]);
  });

  it('is in no line of the log', () => {
    expect(found(test.log())).to.deep.equal([]);
  });

  it('is in no row of the database in the open', async () => {
    const { rows } = await test.db.raw<{ rows: { name: string }[] }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
    );
    for (const { name } of rows) {
      const { rows: all } = await test.db.raw<{ rows: { text: string }[] }>(
        'SELECT t::text AS text FROM ?? t',
        [name],
      );
      for (const { text } of all)
        expect(found(JSON.stringify(text)), `${name}: ${JSON.stringify(text)}`).to.deep.equal([]);
    }
    expect(rows.map(({ name }) => name)).to.include.members(['secrets', 'audit_log', 'certificates']);
  });

  it('is not found either as the controller’s own key', () => {
    const key = readFileSync(join(test.config.dataDir, 'secret-key'), 'utf8').trim();
    expect(key).to.have.length(64);
    for (const text of [...answers, test.log()]) expect(text).not.to.include(key);
  });
});
