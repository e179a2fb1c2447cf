/** Secrets in Vault, against a server that speaks the documented protocol. */
import { expect } from 'chai';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import type { BackendError, SecretBackend } from '../../../controller/secrets/backends/backend.ts';
import { refTo, type SecretRef } from '../../../controller/secrets/backends/secret-ref.ts';
import { createVaultBackend } from '../../../controller/secrets/backends/vault.ts';
import type { VaultConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import { AUTHORITY, LEAF, LEAF_KEY } from '../../support/fixtures/certificates.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';
import { faultOf, refs, still } from '../../support/fixtures/secret-refs.ts';
import { until } from '../../support/harness/until.ts';
import { ForwardProxy } from '../../support/servers/forward-proxy.ts';
import { useVaultServer, VaultServer } from '../../support/servers/vault-server.ts';

const TOKEN = 'hvs.root-of-the-test';

describe('secrets in Vault', () => {
  const open: SecretBackend[] = [];
  afterEach(() => {
    for (const backend of open.splice(0)) backend.close();
  });
  const vault = useVaultServer();

  function backend(
    more: Partial<VaultConfig> = {},
    serviceAccount = 'jwt-of-the-controller',
    guard = localGuard(),
    proxies = NO_PROXIES,
  ): SecretBackend {
    const auth = { method: 'token' as const, token: TOKEN };
    const made = createVaultBackend(
      { address: vault.url, auth, ...more },
      { guard, proxies, serviceAccountToken: async () => serviceAccount },
    );
    open.push(made);
    return made;
  }
  const one = async (made: SecretBackend, name = 'db') => (await made.read(refs([name]), still)).get(name);

  it('are read from one field of one entry each, below mount and prefix', async () => {
    vault.put('secret/db', { value: 'first' });
    vault.put('kv/team/shop/db', { password: 'second', user: 'me' });
    expect(await one(backend())).to.deep.equal({ value: 'first' });
    const other = backend({ mount: 'kv', prefix: 'team/shop', field: 'password' });
    expect(await one(other)).to.deep.equal({ value: 'second' });
    const read = vault.requests.filter(({ path }) => path.includes('/data/'));
    expect(read.map(({ path }) => path)).to.deep.equal(['/v1/secret/data/db', '/v1/kv/data/team/shop/db']);
  });

  it('that are missing, deleted, without the field, forbidden or of no use are told by name, the others are read', async () => {
    vault.put('secret/good', { value: 'fine' });
    vault.put('secret/deleted', { value: 'old' });
    vault.entries.get('secret/deleted')?.versions.push(null);
    vault.put('secret/fields', { user: 'me', pass: 'x' });
    vault.put('secret/number', { value: 7 });
    vault.put('secret/list', { value: [7] });
    vault.put('secret/lines', { value: 'a\nb' });
    vault.put('secret/nul', { value: 'a\0b' });
    vault.put('secret/empty', { value: '' });
    vault.put('secret/large', { value: 'x'.repeat(64 * 1024 + 1) });
    vault.forbidden.add('secret/closed');
    const names = [
      'good',
      'missing',
      'deleted',
      'fields',
      'number',
      'list',
      'lines',
      'nul',
      'empty',
      'large',
      'closed',
    ];
    const readings = await backend().read(refs(names), still);
    const errors = Object.fromEntries(
      [...readings].map(([name, reading]) => [name, 'error' in reading ? reading.error : '']),
    );
    expect(errors).to.deep.equal({
      good: '',
      missing: 'Vault has no secret/data/missing; create it there, or correct the name',
      deleted: 'Vault has no secret/data/deleted; create it there, or correct the name',
      fields: 'secret/data/fields has no text in the field "value"; its fields are: user, pass',
      number: '',
      list: 'secret/data/list has no text in the field "value"; its fields are: value',
      lines: '',
      nul: errors.nul,
      empty: 'the value is empty',
      large: 'the value is larger than 64 KiB',
      closed:
        'Vault answers 403 (1 error occurred: * permission denied) to: read secret/data/closed. Check the token, and that its policy allows it',
    });
    expect(errors.nul).to.include('base64');
  });

  it('are read at a path of their own, from a field of their own, in a version of their own', async () => {
    vault.put('secret/other/team/db', { user: 'me', password: 'first', 'a.b': 'dotted' });
    vault.put('secret/other/team/db', { user: 'you', password: 'second' });
    const at = (name: string, more: Partial<SecretRef>) => ({
      ...refTo(name),
      path: 'other/team/db',
      ...more,
    });
    const asked = [
      at('user', { property: 'user' }),
      at('password', { property: 'password' }),
      at('before', { property: 'password', version: '1' }),
      at('dotted', { property: 'a.b', version: '1' }),
      at('future', { property: 'password', version: '3' }),
      at('stage', { property: 'password', version: 'AWSCURRENT' }),
      at('nothing', { property: 'constructor' }),
    ];
    const readings = await backend({ prefix: 'team/shop' }).read(asked, still);
    expect(Object.fromEntries(readings)).to.deep.equal({
      user: { value: 'you' },
      password: { value: 'second' },
      before: { value: 'first' },
      dotted: { value: 'dotted' },
      future: {
        error: 'Vault has no version 3 of secret/data/other/team/db; correct the path or the version',
      },
      stage: { error: 'Vault numbers its versions, and "AWSCURRENT" is not a number; correct the version' },
      nothing: {
        error:
          'secret/data/other/team/db has no text in the field "constructor"; its fields are: user, password',
      },
    });
    const read = vault.requests.map(({ path }) => path).filter((path) => path.includes('/data/'));
    expect(read.toSorted(), 'fields of one entry share its answer').to.deep.equal([
      '/v1/secret/data/other/team/db',
      '/v1/secret/data/other/team/db?version=1',
      '/v1/secret/data/other/team/db?version=3',
    ]);
  });

  it('are written to the field of their own, and in a version of their own not at all', async () => {
    vault.put('secret/other/db', { user: 'me', password: 'first' });
    const ref = { ...refTo('db'), path: 'other/db', property: 'password' };
    await backend().write(ref, 'second', 'replace', still);
    expect(vault.get('secret/other/db')).to.deep.equal({ user: 'me', password: 'second' });
    const fault = await faultOf(backend().write({ ...ref, version: '1' }, 'third', 'replace', still));
    expect(fault.message).to.include('registered with the version 1');
  });

  it('have no versions in a KV engine of version 1', async () => {
    vault.mounts.set('old', { type: 'kv', version: '1' });
    vault.put('old/db', { value: 'first' });
    const made = backend({ mount: 'old' });
    await made.check(still);
    const readings = await made.read([{ ...refTo('old'), path: 'db', version: '1' }, refTo('db')], still);
    expect([...readings.values()]).to.deep.equal([
      { error: 'old is a KV engine of version 1, which has no versions; leave the version out' },
      { value: 'first' },
    ]);
  });

  it('are written with check-and-set, and leave the other fields of an entry as they are', async () => {
    const made = backend();
    await made.write(refTo('db'), 'first', 'create', still);
    expect(vault.get('secret/db')).to.deep.equal({ value: 'first' });
    vault.put('secret/db', { value: 'first', user: 'me' });
    await made.write(refTo('db'), 'second', 'replace', still);
    expect(vault.get('secret/db')).to.deep.equal({ value: 'second', user: 'me' });
    const fault = await faultOf(made.write(refTo('db'), 'third', 'create', still));
    expect(fault.fault).to.equal('exists');
    expect(fault.message).to.include('secret.register');
    expect(vault.get('secret/db')).to.deep.equal({ value: 'second', user: 'me' });
  });

  it('can be created again where they were deleted', async () => {
    vault.put('secret/db', { value: 'old' });
    vault.entries.get('secret/db')?.versions.push(null);
    await backend().write(refTo('db'), 'new', 'create', still);
    expect(vault.get('secret/db')).to.deep.equal({ value: 'new' });
  });

  it('of which ten are created at once under one name are one', async () => {
    const made = backend();
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => made.write(refTo('db'), `value ${n}`, 'create', still)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(vault.entries.get('secret/db')?.versions).to.have.length(1);
  });

  it('are reached by a signed JWT, and an expired one is told as such', async () => {
    vault.put('secret/db', { value: 'first' });
    const auth = { method: 'jwt' as const, role: 'headgate', jwt: 'e30.e30.c2lnbmVk' };
    expect(await one(backend({ auth }))).to.deep.equal({ value: 'first' });
    const fault = await faultOf(backend({ auth: { ...auth, jwt: 'e30.e30.ZW5kZWQ' } }).check(still));
    expect(fault.message).to.include('log in by jwt at auth/jwt').and.include('give a new JWT');
    expect(fault.message).not.to.include('ZW5kZWQ');
  });

  it('are reached by a request that is signed for AWS, with the key and the server id of the setting', async () => {
    vault.put('secret/db', { value: 'first' });
    const auth = {
      ...{ method: 'aws' as const, role: 'headgate', region: 'eu-central-1', serverId: 'vault.example.com' },
      ...{ accessKeyId: 'AKIAEXAMPLEOFTEST00', secretAccessKey: 'the/secret+key' },
    };
    expect(await one(backend({ auth }))).to.deep.equal({ value: 'first' });
    const fault = await faultOf(backend({ auth: { ...auth, serverId: 'another' } }).check(still));
    expect(fault.message).to.include('the server id is another one').and.not.include('the/secret+key');
  });

  it('are reached by the operator’s proxy: a tunnel to https, plain to http, and neither where NO_PROXY names it', async () => {
    const secure = await VaultServer.start({ secure: true });
    const proxy = await ForwardProxy.start();
    proxy.user = { name: 'controller', password: 'p@ss' };
    const way = `http://controller:p%40ss@${proxy.host}`;
    const proxies = { http: way, https: way, except: '' };
    const read = async (server: VaultServer, settings = proxies) => {
      server.put('secret/db', { value: 'first' });
      const more = { address: server.url, ...(server === secure ? { ca: AUTHORITY } : {}) };
      const made = backend(more, undefined, localGuard(), settings);
      return (await made.read(refs(['db']), still)).get('db');
    };
    try {
      expect(await read(secure)).to.deep.equal({ value: 'first' });
      expect(new Set(proxy.asked)).to.deep.equal(new Set([`CONNECT ${new URL(secure.url).host}`]));
      proxy.asked.length = 0;
      expect(await read(vault)).to.deep.equal({ value: 'first' });
      expect(proxy.asked).to.include(`GET ${vault.url}/v1/secret/data/db`);
      proxy.asked.length = 0;
      expect(await read(secure, { ...proxies, except: 'localhost' })).to.deep.equal({ value: 'first' });
      expect(proxy.asked).to.deep.equal([]);
      proxy.refuses = 403;
      const fault = await faultOf(read(secure));
      expect(fault.fault).to.equal('unreachable');
      expect(fault.message).to.not.include('p@ss').and.not.include('p%40ss');
    } finally {
      await proxy.stop();
      await secure.close();
    }
  });

  it('are reached by a TLS certificate, and without one nobody is let in', async () => {
    const secure = await VaultServer.start({ secure: true });
    try {
      secure.put('secret/db', { value: 'first' });
      const of = { address: secure.url, ca: AUTHORITY };
      const auth = { method: 'cert' as const, role: 'shop', certificate: LEAF, key: LEAF_KEY };
      expect(await one(backend({ ...of, auth }))).to.deep.equal({ value: 'first' });
      const fault = await faultOf(backend({ ...of, auth: { ...auth, role: 'other' } }).check(still));
      expect(fault.message).to.include('log in by cert at auth/cert').and.include('give another certificate');
    } finally {
      for (const made of open.splice(0)) made.close();
      await secure.close();
    }
  });

  it('are reached by AppRole with one login, and a second one where the token has ended', async () => {
    vault.put('secret/db', { value: 'first' });
    const auth = { method: 'approle' as const, roleId: 'shop-role', secretId: 'shop-secret-id' };
    const made = backend({ auth });
    await made.check(still);
    await made.read(refs(['db', 'db2', 'db3', 'db4', 'db5']), still);
    expect(vault.logins).to.equal(1);
    vault.tokens.clear();
    expect(await one(made)).to.deep.equal({ value: 'first' });
    expect(vault.logins).to.equal(2);
    const wrong = await faultOf(backend({ auth: { ...auth, secretId: 'guessed-secret' } }).check(still));
    expect(wrong.fault).to.equal('refused');
    expect(wrong.message)
      .to.match(/log in by approle at auth\/approle/)
      .and.not.include('guessed-secret');
  });

  it('are reached as the service account of the controller in Kubernetes', async () => {
    vault.put('secret/db', { value: 'first' });
    const auth = { method: 'kubernetes' as const, role: 'headgate' };
    expect(await one(backend({ auth }))).to.deep.equal({ value: 'first' });
    const wrong = await faultOf(backend({ auth }, 'jwt-of-another').check(still));
    expect(wrong.message)
      .to.include('the service account and the namespace that it is bound to')
      .and.not.include('jwt-of-another');
  });

  it('carry the namespace along', async () => {
    vault.namespace = 'admin/shop';
    vault.put('secret/db', { value: 'first' });
    expect(await one(backend({ namespace: 'admin/shop' }))).to.deep.equal({ value: 'first' });
    expect((await faultOf(backend().check(still))).message).to.include('no handler for route');
  });

  it('are read over TLS from an authority of one’s own, and from no other', async () => {
    const secure = await VaultServer.start({ secure: true });
    try {
      secure.put('secret/db', { value: 'first' });
      expect(await one(backend({ address: secure.url, ca: AUTHORITY }))).to.deep.equal({ value: 'first' });
      const fault = await faultOf(backend({ address: secure.url }).check(still));
      expect(fault.fault).to.equal('refused');
      expect(fault.message).to.match(/certificate of https:\/\/localhost:\d+ is not trusted .* "ca"/);
      const plain = await faultOf(backend({ address: vault.url.replace('http:', 'https:') }).check(still));
      expect(plain.message).to.match(/^https:\/\/localhost:\d+ cannot be reached: nothing answers there/);
    } finally {
      await secure.close();
    }
  });

  it('are out of reach with a wrong token, and the token is not told', async () => {
    const auth = { method: 'token' as const, token: 'hvs.wrong-one-of-mine' };
    const fault = await faultOf(backend({ auth }).check(still));
    expect(fault.fault).to.equal('refused');
    expect(fault.message)
      .to.include('403')
      .and.include('The token is wrong, has expired or was revoked')
      .and.not.include('wrong-one');
  });

  it('are out of reach with a token that is not taken where that is all that is said', async () => {
    vault.broken.set('sys/internal/ui/mounts/secret', { status: 403, errors: ['permission denied'] });
    const { message } = await faultOf(backend().check(still));
    expect(message).to.include('or the token is wrong, has expired or was revoked');
    vault.broken.clear();
    vault.mounts.delete('secret');
    expect((await faultOf(backend().check(still))).message).not.to.include('the token is wrong');
  });

  /** `ofEntry`: what is asked for a single entry may be the fault of that alone. */
  const FAULTS: [fault: VaultServer['fault'], is: string, says: RegExp, ofEntry?: true | undefined][] = [
    ['sealed', 'unreachable', /Vault answers 503 \(Vault is sealed\).*Is it sealed/],
    ['huge', 'refused', /more than 1 MiB/, true],
    ['html', 'refused', /status 200 and something that is not JSON/],
    ['redirect', 'refused', /redirects to https:\/\/elsewhere\.example\.org, and redirects are not followed/],
    ['echo', 'refused', /Vault answers 400 \(bad token \[redacted\]/, true],
  ];
  for (const [fault, is, says, ofEntry] of FAULTS) {
    it(`fail as a whole where it is ${fault}, and no credential is told`, async () => {
      vault.fault = fault;
      const checked = await faultOf(backend().check(still));
      const written = await faultOf(backend().write(refTo('db'), 'canary-value', 'replace', still));
      expect([checked.fault, written.fault]).to.deep.equal([is, ofEntry ? 'entry' : is]);
      const reading = ofEntry ? await one(backend()) : await faultOf(backend().read(refs(['db']), still));
      const read = reading && 'error' in reading ? reading.error : (reading as BackendError).message;
      for (const message of [checked.message, written.message, read])
        expect(message).to.match(says).and.not.include(TOKEN).and.not.include('canary-value');
    });
  }

  it('that answer with 400 or 500 are told by name, and the others are read', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) vault.put(`secret/${name}`, { value: name });
    vault.broken.set('secret/data/b', { status: 500, errors: ['1 error occurred:\n\t* disk'] });
    vault.broken.set('secret/data/d', { status: 400, errors: ['invalid path'] });
    const readings = await backend().read(refs(['a', 'b', 'c', 'd', 'e', 'f']), still);
    const valued = [...readings].filter(([, one]) => 'value' in one).map(([name]) => name);
    expect(valued.toSorted()).to.deep.equal(['a', 'c', 'e', 'f']);
    expect(readings.get('b'))
      .to.have.property('error')
      .that.matches(/answers 500 \(1 error occurred: \* disk\)/);
    expect(readings.get('d'))
      .to.have.property('error')
      .that.matches(/answers 400 \(invalid path\)/);
  });

  describe('with tokens that end', () => {
    const approle = { method: 'approle' as const, roleId: 'shop-role', secretId: 'shop-secret-id' };
    const token = { method: 'token' as const, token: TOKEN };
    beforeEach(() => vault.put('secret/db', { value: 'first' }));

    for (const auth of [token, approle])
      it(`renews that of ${auth.method} before it does, also while nothing is read`, async () => {
        vault.life = { ttl: 2, renewable: true, uses: 0 };
        const made = backend({ auth });
        expect(await one(made)).to.deep.equal({ value: 'first' });
        await until(() => vault.renewals >= 2, { what: 'two renewals' });
        expect(await one(made)).to.deep.equal({ value: 'first' });
        expect(vault.logins).to.equal(auth.method === 'approle' ? 1 : 0);
      });

    it('renews none that is closed, or cannot be renewed', async () => {
      vault.life = { ttl: 2, renewable: false, uses: 0 };
      const made = backend({ auth: approle });
      await one(made);
      await until(
        async () => {
          await one(made);
          return vault.logins === 2;
        },
        { what: 'another login before the end' },
      );
      expect(vault.renewals).to.equal(0);
    });

    it('counts the uses of a login, and logs in anew when they are used up', async () => {
      vault.life = { ttl: 3_600, renewable: true, uses: 3 };
      const made = backend({ auth: approle });
      for (let read = 0; read < 7; read += 1) expect(await one(made)).to.deep.equal({ value: 'first' });
      expect(vault.logins).to.equal(3);
      expect(vault.requests.some(({ token: used }) => used === undefined)).to.equal(true);
    });

    it('needs no policy `default` to look at its token', async () => {
      vault.hasDefaultPolicy = false;
      for (const auth of [token, approle]) {
        const made = backend({ auth });
        await made.check(still);
        expect(await one(made)).to.deep.equal({ value: 'first' });
      }
    });

    it('logs in once for the check and for what is read by it', async () => {
      const made = backend({ auth: approle });
      await made.check(still);
      await made.read(refs(['db', 'db2', 'db3']), still);
      expect(vault.logins).to.equal(1);
    });

    it('logs in once for two callers, and goes on where the first one leaves', async () => {
      const made = backend({ auth: approle });
      const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      vault.before = async (_, path) => {
        if (!path.endsWith('/login')) return;
        asked.resolve();
        await answered.promise;
      };
      const leaving = new AbortController();
      const first = made.read(refs(['db']), leaving.signal).catch((error: Error) => error.name);
      await asked.promise;
      const second = made.read(refs(['db']), still);
      leaving.abort();
      expect(await first).to.equal('AbortError');
      answered.resolve();
      expect((await second).get('db')).to.deep.equal({ value: 'first' });
      expect(vault.logins).to.equal(1);
    });

    it('does not log in anew for each entry that is forbidden', async () => {
      for (const name of ['a', 'b', 'c']) vault.forbidden.add(`secret/${name}`);
      const readings = await backend({ auth: approle }).read(refs(['a', 'b', 'c', 'db']), still);
      expect(readings.get('db')).to.deep.equal({ value: 'first' });
      expect(vault.logins).to.be.at.most(2);
    });

    it('reads on with the login that it has where an entry is forbidden and the secret id is used up', async () => {
      for (const hasDefaultPolicy of [true, false]) {
        vault.hasDefaultPolicy = hasDefaultPolicy;
        vault.roles.set('shop-role', 'shop-secret-id');
        const made = backend({ auth: approle });
        await made.check(still);
        vault.roles.set('shop-role', 'used up');
        vault.forbidden.add('secret/closed');
        for (let looks = 0; looks < 2; looks += 1) {
          const readings = await made.read(refs(['closed', 'db', 'db2']), still);
          expect(readings.get('db'), String(hasDefaultPolicy)).to.deep.equal({ value: 'first' });
          const closed = readings.get('closed');
          expect(closed && 'error' in closed && closed.error).to.match(/403 .*policy allows it/);
        }
      }
    });

    it('does not try a login that was refused with each look, which would lock the role', async () => {
      vault.roles.set('shop-role', 'another');
      const made = backend({ auth: approle });
      for (let looks = 0; looks < 5; looks += 1) {
        const { message } = await faultOf(made.read(refs(['db']), still));
        expect(message).to.include('give a new secret id');
        if (looks > 0)
          expect(message).to.match(/The next login is in 1 min, or at once after a change of the setting/);
      }
      expect(vault.requests.filter(({ path }) => path.endsWith('/login'))).to.have.length(1);
    });

    it('says of a login that is refused with 403 that the role may be locked, or the method elsewhere', async () => {
      vault.broken.set('auth/approle/login', { status: 403, errors: ['permission denied'] });
      const { message } = await faultOf(backend({ auth: approle }).check(still));
      expect(message).to.include('mounted at auth/approle').and.include('locks the role for a while');
    });

    it('says of a secret id that is used up what to do about it', async () => {
      vault.roles.set('shop-role', 'another');
      const fault = await faultOf(backend({ auth: approle }).check(still));
      expect(fault.message).to.include('was used as often as it may be: give a new secret id');
      const elsewhere = await faultOf(backend({ auth: { ...approle, mount: 'nowhere' } }).check(still));
      expect(elsewhere.message).to.include('invalid role or secret ID');
    });
  });

  describe('of a mount', () => {
    it('of version 1 are read, created and written as it has them', async () => {
      vault.mounts.set('old', { type: 'kv', version: '1' });
      vault.put('old/team/db', { value: 'first', user: 'me' });
      const made = backend({ mount: 'old', prefix: 'team' });
      expect(await one(made), 'without a check before').to.deep.equal({ value: 'first' });
      await made.write(refTo('db'), 'second', 'replace', still);
      expect(vault.get('old/team/db')).to.deep.equal({ value: 'second', user: 'me' });
      await made.write(refTo('new'), 'third', 'create', still);
      expect(vault.get('old/team/new')).to.deep.equal({ value: 'third' });
      expect((await faultOf(made.write(refTo('new'), 'fourth', 'create', still))).fault).to.equal('exists');
      expect(await one(made, 'missing')).to.deep.equal({
        error: 'Vault has no old/team/missing; create it there, or correct the name',
      });
    });

    it('that is not there, or of another engine, are refused by the check', async () => {
      const none = await faultOf(backend({ mount: 'nowhere' }).check(still));
      expect(none.fault).to.equal('refused');
      expect(none.message).to.match(/^Vault has no mount nowhere, or the policies allow nothing below it/);
      vault.mounts.set('transit', { type: 'transit' });
      const other = await faultOf(backend({ mount: 'transit' }).check(still));
      expect(other.message).to.match(/an engine of the type transit at transit, not of the type kv/);
    });
  });

  it('that were read before Vault was sealed are kept', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `n${at}`);
    for (const name of names) vault.put(`secret/${name}`, { value: name });
    let asked = 0;
    vault.before = async () => {
      asked += 1;
      // The first looks at the token.
      if (asked > 13) vault.fault = 'sealed';
    };
    const fault = await faultOf(backend().read(refs(names), still));
    expect(fault.fault).to.equal('unreachable');
    const valued = [...fault.readings.values()].filter((one) => 'value' in one);
    expect(valued.length).to.equal(12);
    // It is left alone once some in a row came to nothing.
    expect(asked).to.be.below(25);
  });
});
