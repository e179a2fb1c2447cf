/** Secrets in AWS Secrets Manager: the official client against a server that speaks the documented protocol. */
import { expect } from 'chai';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import type { SecretBackend } from '../../../controller/secrets/backends/backend.ts';
import { createCloudBackend } from '../../../controller/secrets/backends/cloud-sm.ts';
import { refTo } from '../../../controller/secrets/backends/secret-ref.ts';
import type { CloudConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import { faultOf, refs, still } from '../../support/fixtures/secret-refs.ts';
import { ForwardProxy } from '../../support/servers/forward-proxy.ts';
import {
  ACCESS_KEY,
  type SecretsManagerServer,
  useSecretsManagerServer,
} from '../../support/servers/secrets-manager-server.ts';

const SECRET_KEY = 'the/secret+key+of+the+test';

describe('secrets in AWS Secrets Manager', function () {
  this.timeout(20_000);
  const open: SecretBackend[] = [];
  afterEach(() => {
    for (const backend of open.splice(0)) backend.close();
  });
  const aws = useSecretsManagerServer();

  function backend(
    more: Partial<CloudConfig> = {},
    guard = localGuard(),
    proxies = NO_PROXIES,
  ): SecretBackend {
    const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    const config = { region: 'eu-central-1', endpoint: aws.url, ...credentials, ...more };
    const made = createCloudBackend(config, { guard, proxies });
    open.push(made);
    return made;
  }

  it('are read below a prefix, by requests that are signed', async () => {
    aws.secrets.set('headgate/staging/db', 'first');
    const made = backend({ prefix: 'headgate/staging/' });
    await made.check(still);
    expect((await made.read(refs(['db']), still)).get('db')).to.deep.equal({ value: 'first' });
    const last = aws.requests.at(-1);
    expect(last?.target).to.equal('GetSecretValue');
    expect(JSON.parse(last?.body ?? '')).to.deep.equal({ SecretId: 'headgate/staging/db' });
    expect(last?.headers.authorization).to.match(/^AWS4-HMAC-SHA256 Credential=/);
    expect(JSON.stringify(aws.requests)).not.to.include(SECRET_KEY);
  });

  it('are reached by the operator’s proxy, unless NO_PROXY names the host', async () => {
    aws.secrets.set('db', 'first');
    const proxy = await ForwardProxy.start();
    const proxies = { http: `http://${proxy.host}`, https: null, except: '' };
    try {
      const made = backend({}, localGuard(), proxies);
      expect((await made.read(refs(['db']), still)).get('db')).to.deep.equal({ value: 'first' });
      expect(proxy.asked).to.deep.equal([`POST ${aws.url}/`]);
      await backend({}, localGuard(), { ...proxies, except: '127.0.0.1' }).read(refs(['db']), still);
      expect(proxy.asked).to.have.length(1);
    } finally {
      await proxy.stop();
    }
  });

  it('are read by names of RDS, by ARN, by property and by version, several of one entry at once', async () => {
    const rds = 'rds!db-0ff3b9b1-4c67-4a6c-8a5f-0f5a2a6f9a11';
    const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:shop/api';
    aws.secrets.set(rds, '{"username":"admin","password":"second","port":5432,"tls":{"key":"inner"}}');
    aws.secrets.set('shop/api', 'whole');
    const id = 'a1b2c3d4-5678-90ab-cdef-1234567890ab';
    aws.versions.set(rds, { AWSPREVIOUS: '{"password":"first"}', [id]: '{"password":"zeroth"}' });
    const at = (
      name: string,
      path: string,
      property: string | null = null,
      version: string | null = null,
    ) => ({
      ...{ name, path, property, version },
    });
    const asked = [
      at('user', rds, 'username'),
      at('password', rds, 'password'),
      at('port', rds, 'port'),
      at('inner', rds, 'tls.key'),
      at('missing', rds, 'token'),
      at('arn', arn),
      at('full-arn', `${arn}-AbCdEf`),
      at('text', arn, 'password'),
      at('previous', rds, 'password', 'AWSPREVIOUS'),
      at('by-id', rds, 'password', id),
      at('no-version', rds, 'password', 'AWSPENDING'),
    ];
    const readings = await backend({ prefix: 'headgate/' }).read(asked, still);
    expect(Object.fromEntries(readings)).to.deep.equal({
      user: { value: 'admin' },
      password: { value: 'second' },
      port: { value: '5432' },
      inner: { value: 'inner' },
      missing: {
        error: `${rds} has no text in the property "token"; its properties are: username, password, port, tls`,
      },
      arn: { value: 'whole' },
      'full-arn': { value: 'whole' },
      text: {
        error: `${arn} is not a JSON object, so it has no property "password"; leave the property out`,
      },
      previous: { value: 'first' },
      'by-id': { value: 'zeroth' },
      'no-version': {
        error: `Secrets Manager has no ${rds} with the version AWSPENDING; correct the path or the version`,
      },
    });
    const [batch] = aws.requests.filter(({ target }) => target === 'BatchGetSecretValue');
    expect(JSON.parse(batch?.body ?? '').SecretIdList).to.deep.equal([rds, arn, `${arn}-AbCdEf`]);
    const alone = aws.requests.filter(({ target }) => target === 'GetSecretValue');
    expect(alone.map(({ body }) => JSON.parse(body))).to.deep.include.members([
      { SecretId: rds, VersionStage: 'AWSPREVIOUS' },
      { SecretId: rds, VersionId: id },
    ]);
  });

  it('that are one property of an entry, or a version, are not written', async () => {
    aws.secrets.set('db', '{"password":"first"}');
    for (const more of [{ property: 'password' }, { version: 'AWSCURRENT' }]) {
      const fault = await faultOf(backend().write({ ...refTo('db'), ...more }, 'x', 'replace', still));
      expect(fault.fault).to.equal('refused');
    }
    expect(aws.secrets.get('db')).to.equal('{"password":"first"}');
  });

  it('carry the session of temporary credentials along', async () => {
    await backend({ sessionToken: 'session-of-the-test' }).check(still);
    expect(aws.requests.at(-1)?.headers['x-amz-security-token']).to.equal('session-of-the-test');
  });

  it('that are to be deleted, have a disabled key or an impossible name are told by name, the others are read', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) aws.secrets.set(name, name);
    aws.broken.set('b', {
      type: 'InvalidRequestException',
      message: "You can't perform this operation on the secret because it was marked for deletion.",
    });
    aws.broken.set('c', { type: 'DecryptionFailure', message: 'The key is disabled.' });
    aws.broken.set('d', { type: 'InvalidParameterException', message: 'Invalid name.' });
    const readings = await backend().read(refs(['a', 'b', 'c', 'd', 'e']), still);
    const valued = [...readings].filter(([, one]) => 'value' in one).map(([name]) => name);
    expect(valued.toSorted()).to.deep.equal(['a', 'e']);
    expect(readings.get('b'))
      .to.have.property('error')
      .that.matches(/marked for deletion.*check this entry/);
    expect(readings.get('c'))
      .to.have.property('error')
      .that.matches(/key is disabled/);
    expect(readings.get('d'))
      .to.have.property('error')
      .that.matches(/Invalid name/);
  });

  it('are asked for several at once, ten by ten', async () => {
    const names = Array.from({ length: 23 }, (_, at) => `n${at}`);
    for (const name of names) aws.secrets.set(name, name);
    const readings = await backend().read(refs(names), still);
    expect(names.every((name) => JSON.stringify(readings.get(name)) === `{"value":"${name}"}`)).to.equal(
      true,
    );
    expect(aws.requests.map(({ target }) => target)).to.deep.equal(Array(3).fill('BatchGetSecretValue'));
  });

  it('are asked for one by one where a policy does not allow several at once', async () => {
    aws.allowsBatch = false;
    for (const name of ['a', 'b']) aws.secrets.set(name, name);
    const made = backend();
    for (let pass = 0; pass < 2; pass += 1)
      expect((await made.read(refs(['a', 'b']), still)).get('b')).to.deep.equal({ value: 'b' });
    const batches = aws.requests.filter(({ target }) => target === 'BatchGetSecretValue');
    expect(batches.length, 'it is not asked again').to.equal(1);
  });

  it('are looked for under no name that nobody has: who may read what there is is let in', async () => {
    await backend().check(still);
    expect(aws.requests).to.have.length(1);
    expect(aws.requests[0]?.body).to.include('Action=GetCallerIdentity');
  });

  it('are read as a role, with its external id', async () => {
    aws.externalId = 'of-the-team';
    aws.secrets.set('db', 'first');
    const roleArn = 'arn:aws:iam::123456789012:role/headgate';
    const made = backend({ roleArn, externalId: 'of-the-team' });
    await made.check(still);
    expect((await made.read(refs(['db']), still)).get('db')).to.deep.equal({ value: 'first' });
    expect(aws.requests.at(-1)?.headers.authorization).to.include('ASIAROLEOFTHETEST00');
    expect(aws.requests.at(-1)?.headers['x-amz-security-token']).to.equal('session-of-the-role');
    const refused = await faultOf(backend({ roleArn, externalId: 'of-another' }).check(still));
    expect(refused.fault).to.equal('refused');
    expect(refused.message).to.match(/assume the role arn:.*check its trust policy, the external id/);
  });

  it('are asked for again, after a pause, where it throttles, and left alone where it goes on', async () => {
    for (const name of ['a', 'b', 'c']) aws.secrets.set(name, name);
    aws.throttled = 2;
    const readings = await backend().read(refs(['a', 'b', 'c']), still);
    expect([...readings.values()].every((one) => 'value' in one)).to.equal(true);
    aws.throttled = 1_000;
    const names = Array.from({ length: 50 }, (_, at) => `n${at}`);
    const fault = await faultOf(backend().read(refs(names), still));
    expect(fault.fault).to.equal('throttled');
    expect(fault.message).to.include('the last good values stay');
    // Four lanes, three tries each, two of the client's own.
    expect(1_000 - aws.throttled).to.be.at.most(24);
  });

  it('that are missing, binary, forbidden or of no use are told by name, the others are read', async () => {
    aws.secrets.set('good', 'fine');
    aws.secrets.set('binary', { binary: 'AAEC' });
    aws.secrets.set('lines', 'a\nb');
    aws.secrets.set('nul', 'a\0b');
    aws.forbidden.add('closed');
    const readings = await backend().read(
      refs(['good', 'missing', 'binary', 'lines', 'nul', 'closed']),
      still,
    );
    const errors = Object.fromEntries(
      [...readings].map(([name, reading]) => [name, 'error' in reading ? reading.error : '']),
    );
    expect(errors.good).to.equal('');
    expect(errors.missing).to.equal('Secrets Manager has no missing; create it there, or correct the name');
    expect(errors.binary).to.equal('binary is binary; store it as text, for example as base64');
    expect(readings.get('lines')).to.deep.equal({ value: 'a\nb' });
    expect(errors.nul).to.include('NUL');
    expect(errors.closed).to.match(
      /does not allow us to read closed \(AccessDeniedException: .*\); extend the policy/,
    );
  });

  it('are created, and replaced, and not created over one that is there', async () => {
    const made = backend();
    await made.write(refTo('db'), 'first', 'create', still);
    expect(aws.secrets.get('db')).to.equal('first');
    await made.write(refTo('db'), 'second', 'replace', still);
    expect(aws.secrets.get('db')).to.equal('second');
    const fault = await faultOf(made.write(refTo('db'), 'third', 'create', still));
    expect(fault.fault).to.equal('exists');
    expect(fault.message).to.include('secret.register');
    expect(aws.secrets.get('db')).to.equal('second');
    expect((await faultOf(made.write(refTo('gone'), 'x-canary', 'replace', still))).message).not.to.include(
      'x-canary',
    );
  });

  it('are refused with a wrong key', async () => {
    const fault = await faultOf(backend({ accessKeyId: 'AKIAOFSOMEBODYELSE0' }).check(still));
    expect(fault.fault).to.equal('refused');
    expect(fault.message)
      .to.match(/InvalidClientTokenId.*check region and credentials/)
      .and.not.include(SECRET_KEY);
  });

  const FAULTS: { fault: SecretsManagerServer['fault']; is: string; says: RegExp }[] = [
    { fault: 'broken', is: 'unreachable', says: /InternalServiceError.*we retry/ },
    {
      fault: 'html',
      is: 'refused',
      says: /answers with something that is not JSON|AWS does not identify us/,
    },
  ];
  for (const { fault, is, says } of FAULTS) {
    it(`fail as a whole where it is ${fault}, and nothing secret is told`, async () => {
      aws.fault = fault;
      for (const work of [
        () => backend().check(still),
        () => backend().read(refs(['db']), still),
        () => backend().write(refTo('db'), 'canary-value', 'replace', still),
      ]) {
        const found = await faultOf(work());
        expect(found.message)
          .to.match(says)
          .and.not.include(SECRET_KEY)
          .and.not.include('canary-value')
          .and.not.include('<');
        expect(found.fault).to.equal(is);
      }
    });
  }

  it('that are larger than is read are told by name', async () => {
    aws.fault = 'huge';
    expect((await backend().read(refs(['db']), still)).get('db'))
      .to.have.property('error')
      .that.matches(/more than 1 MiB; store less there/);
  });
});
