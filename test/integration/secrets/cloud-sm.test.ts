/** Secrets in AWS Secrets Manager: the official client against a server that speaks the documented protocol. */
import { expect } from 'chai';
import { createLogger } from '../../../controller/platform/logger.ts';
import { createTargetGuard } from '../../../controller/platform/outgoing/index.ts';
import { NO_PROXIES } from '../../../controller/platform/proxies.ts';
import { BackendError, type SecretBackend } from '../../../controller/secrets/backends/backend.ts';
import { createCloudBackend } from '../../../controller/secrets/backends/cloud-sm.ts';
import type { CloudConfig } from '../../../schemas/api/secret-backends.ts';
import { localGuard } from '../../support/local-targets.ts';
import { patient } from '../../support/patience.ts';
import { ACCESS_KEY, SecretsManagerServer } from '../../support/secrets-manager-server.ts';

const SECRET_KEY = 'the/secret+key+of+the+test';
const still = new AbortController().signal;

describe('secrets in AWS Secrets Manager', function () {
  this.timeout(20_000);
  let aws: SecretsManagerServer;
  const open: SecretBackend[] = [];

  beforeEach(async () => {
    aws = await SecretsManagerServer.start();
  });
  afterEach(async () => {
    for (const backend of open.splice(0)) backend.close();
    await aws.close();
  });

  function backend(more: Partial<CloudConfig> = {}, guard = localGuard()): SecretBackend {
    const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
    const config = { region: 'eu-central-1', endpoint: aws.url, ...credentials, ...more };
    const made = createCloudBackend(config, { guard, proxies: NO_PROXIES });
    open.push(made);
    return made;
  }
  const faultOf = (work: Promise<unknown>): Promise<BackendError> =>
    work.then(
      () => expect.fail('nothing was refused'),
      (error: unknown) => {
        expect(error).to.be.instanceOf(BackendError);
        return error as BackendError;
      },
    );

  it('are read below a prefix, by requests that are signed', async () => {
    aws.secrets.set('headgate/staging/db', 'first');
    const made = backend({ prefix: 'headgate/staging/' });
    await made.check(still);
    expect((await made.read(['db'], still)).get('db')).to.deep.equal({ value: 'first' });
    const last = aws.requests.at(-1);
    expect(last?.target).to.equal('GetSecretValue');
    expect(JSON.parse(last?.body ?? '')).to.deep.equal({ SecretId: 'headgate/staging/db' });
    expect(last?.headers.authorization).to.match(/^AWS4-HMAC-SHA256 Credential=/);
    expect(JSON.stringify(aws.requests)).not.to.include(SECRET_KEY);
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
    const readings = await backend().read(['a', 'b', 'c', 'd', 'e'], still);
    const valued = [...readings].filter(([, one]) => 'value' in one).map(([name]) => name);
    expect(valued.toSorted()).to.deep.equal(['a', 'e']);
    expect(readings.get('b'))
      .to.have.property('error')
      .that.matches(/marked for deletion.*look at this entry/);
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
    const readings = await backend().read(names, still);
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
      expect((await made.read(['a', 'b'], still)).get('b')).to.deep.equal({ value: 'b' });
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
    expect((await made.read(['db'], still)).get('db')).to.deep.equal({ value: 'first' });
    expect(aws.requests.at(-1)?.headers.authorization).to.include('ASIAROLEOFTHETEST00');
    expect(aws.requests.at(-1)?.headers['x-amz-security-token']).to.equal('session-of-the-role');
    const refused = await faultOf(backend({ roleArn, externalId: 'of-another' }).check(still));
    expect(refused.fault).to.equal('refused');
    expect(refused.message).to.match(/take on the role arn:.*check its trust policy, the external id/);
  });

  it('are asked for again, after a pause, where it throttles, and left alone where it goes on', async () => {
    for (const name of ['a', 'b', 'c']) aws.secrets.set(name, name);
    aws.throttled = 2;
    const readings = await backend().read(['a', 'b', 'c'], still);
    expect([...readings.values()].every((one) => 'value' in one)).to.equal(true);
    aws.throttled = 1_000;
    const names = Array.from({ length: 50 }, (_, at) => `n${at}`);
    const fault = await faultOf(backend().read(names, still));
    expect(fault.fault).to.equal('throttled');
    expect(fault.message).to.include('the values that are known stay');
    // Four lanes, three tries each, two of the client's own.
    expect(1_000 - aws.throttled).to.be.at.most(24);
  });

  it('that are missing, binary, forbidden or of no use are told by name, the others are read', async () => {
    aws.secrets.set('good', 'fine');
    aws.secrets.set('binary', { binary: 'AAEC' });
    aws.secrets.set('lines', 'a\nb');
    aws.secrets.set('nul', 'a\0b');
    aws.forbidden.add('closed');
    const readings = await backend().read(['good', 'missing', 'binary', 'lines', 'nul', 'closed'], still);
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
    await made.write('db', 'first', 'create', still);
    expect(aws.secrets.get('db')).to.equal('first');
    await made.write('db', 'second', 'replace', still);
    expect(aws.secrets.get('db')).to.equal('second');
    const fault = await faultOf(made.write('db', 'third', 'create', still));
    expect(fault.fault).to.equal('exists');
    expect(fault.message).to.include('secret.register');
    expect(aws.secrets.get('db')).to.equal('second');
    expect((await faultOf(made.write('gone', 'x-canary', 'replace', still))).message).not.to.include(
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
    { fault: 'broken', is: 'unreachable', says: /InternalServiceError.*tried again/ },
    {
      fault: 'html',
      is: 'refused',
      says: /answers with something that is not JSON|AWS does not say who we are/,
    },
  ];
  for (const { fault, is, says } of FAULTS) {
    it(`fail as a whole where it is ${fault}, and nothing secret is told`, async () => {
      aws.fault = fault;
      for (const work of [
        () => backend().check(still),
        () => backend().read(['db'], still),
        () => backend().write('db', 'canary-value', 'replace', still),
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
    expect((await backend().read(['db'], still)).get('db'))
      .to.have.property('error')
      .that.matches(/more than 1 MiB; store less there/);
  });

  it('are not waited for for longer than 10 seconds, and are given up at once when nobody wants them', async () => {
    aws.fault = 'silent';
    const began = performance.now();
    const late = faultOf(backend().check(still));
    const stopping = new AbortController();
    const given = backend().read(['db'], stopping.signal);
    stopping.abort(new Error('stopping'));
    expect(await given.catch((error: Error) => error.message)).to.equal('stopping');
    expect((await late).message).to.include('cannot be reached: nothing answers there');
    expect(performance.now() - began).to.be.within(9_500, patient(13_000));
  });

  it('are not asked for at an address that the operator does not allow', async () => {
    const none = createTargetGuard([], createLogger('silent'));
    for (const endpoint of [aws.url, aws.url.replace('127.0.0.1', 'localhost')]) {
      const fault = await faultOf(backend({ endpoint }, none).check(still));
      expect(fault.fault).to.equal('unreachable');
      expect(fault.message).to.match(
        /cannot be reached: nothing answers there, or .*HEADGATE_PRIVATE_TARGETS/,
      );
    }
    expect(aws.requests).to.deep.equal([]);
  });

  it('are out of reach where nobody listens', async () => {
    const made = backend();
    await aws.close();
    const fault = await faultOf(made.check(still));
    expect(fault.fault).to.equal('unreachable');
    expect(fault.message).to.include('cannot be reached: nothing answers there');
    aws = await SecretsManagerServer.start();
  });
});
