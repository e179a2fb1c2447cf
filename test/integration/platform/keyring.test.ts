/** Encryption at rest, and the tokens of which only a hash is kept. */
import { expect } from 'chai';
import { createKeyring, KeyringError } from '../../../controller/platform/crypto/keyring.ts';
import { hashSecret, mintToken, parseToken, sameHash } from '../../../controller/platform/crypto/tokens.ts';

const KEY = '0123456789abcdef0123456789abcdef';

describe('the keyring', () => {
  const keyring = createKeyring(KEY);

  it('opens what it sealed, at the place where it belongs', () => {
    for (const plain of ['x', '', 'ü '.repeat(10_000), '{"a":1}']) {
      expect(keyring.open(keyring.seal(plain, 'secrets:1'), 'secrets:1')).to.equal(plain);
    }
  });

  it('seals the same text differently each time, and shows nothing of it', () => {
    const [first, second] = [keyring.seal('hunter2', 'secrets:1'), keyring.seal('hunter2', 'secrets:1')];
    expect(first).not.to.equal(second);
    expect(first).to.match(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/);
    expect(Buffer.from(first.split('.')[3] ?? '', 'base64url').includes('hunter2')).to.equal(false);
  });

  it('does not open a text that was moved to another row', () => {
    const sealed = keyring.seal('hunter2', 'secrets:1');
    for (const place of ['secrets:2', 'secrets:', 'tokens:1', '']) {
      expect(() => keyring.open(sealed, place)).to.throw(KeyringError, 'changed or moved');
    }
  });

  it('does not open a text of which any part was changed', () => {
    const sealed = keyring.seal('hunter2', 'secrets:1');
    const parts = sealed.split('.');
    for (const part of [2, 3]) {
      const bytes = Buffer.from(parts[part] ?? '', 'base64url');
      for (let index = 0; index < bytes.length; index += 1) {
        const changed = Buffer.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ 1;
        const text = parts.map((one, at) => (at === part ? changed.toString('base64url') : one)).join('.');
        expect(() => keyring.open(text, 'secrets:1'), `part ${part}, byte ${index}`).to.throw(KeyringError);
      }
    }
  });

  it('does not open what is cut short, or was never sealed', () => {
    const sealed = keyring.seal('hunter2', 'secrets:1');
    for (const text of [
      '',
      'v1',
      'v1...',
      'plain text',
      sealed.replace('v1', 'v2'),
      sealed.slice(0, -24),
      sealed.slice(0, -4),
    ]) {
      expect(() => keyring.open(text, 'secrets:1'), text).to.throw(KeyringError);
    }
  });

  it('says which key a text was sealed with when it has another', () => {
    const other = createKeyring(KEY.replace('0', '1'));
    expect(other.fingerprint).not.to.equal(keyring.fingerprint);
    expect(() => other.open(keyring.seal('x', 'p'), 'p')).to.throw(
      KeyringError,
      `sealed with key ${keyring.fingerprint.slice(0, 8)}`,
    );
  });

  it('has a fingerprint that is the same for the same key and tells nothing of it', () => {
    expect(createKeyring(KEY).fingerprint).to.equal(keyring.fingerprint);
    expect(keyring.fingerprint).to.match(/^[0-9a-f]{16}$/);
    expect(KEY).not.to.include(keyring.fingerprint);
  });

  const REFUSED = [
    'change-me',
    'Changeme',
    'secret',
    ' password ',
    'default',
    '',
    'short',
    'a'.repeat(64),
    'x'.repeat(31),
  ];
  for (const secret of REFUSED) {
    it(`is not made of ${JSON.stringify(secret.slice(0, 12))}, and says how to make a key`, () => {
      expect(() => createKeyring(secret)).to.throw(KeyringError, 'openssl rand -hex 32');
    });
  }
});

describe('a signed text', () => {
  const keyring = createKeyring(KEY);

  it('is known by its signature, for its purpose alone', () => {
    const signature = keyring.sign('state 1', 'sign-in');
    expect(keyring.isSigned('state 1', signature, 'sign-in')).to.equal(true);
    expect(keyring.isSigned('state 2', signature, 'sign-in')).to.equal(false);
    expect(keyring.isSigned('state 1', signature, 'downloads')).to.equal(false);
    expect(
      keyring.isSigned('state 1', createKeyring(`${KEY}!`).sign('state 1', 'sign-in'), 'sign-in'),
    ).to.equal(false);
    for (const wrong of ['', '.', signature.slice(0, -1), signature.replace(/\..*/, '.')])
      expect(keyring.isSigned('state 1', wrong, 'sign-in'), wrong).to.equal(false);
  });
});

describe('a token', () => {
  it('is found by its id and known by its hash', () => {
    const minted = mintToken('hgn');
    const parsed = parseToken('hgn', minted.token);
    expect(parsed?.id).to.equal(minted.id);
    expect(sameHash(parsed?.hash ?? Buffer.alloc(0), minted.hash)).to.equal(true);
    expect(minted.hash.toString('hex')).not.to.equal(minted.token.slice(-64));
  });

  it('is never the same twice', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => mintToken('hgs').token)).size).to.equal(1_000);
  });

  it('is nothing of another kind, and nothing that is changed, cut, or longer', () => {
    const { token } = mintToken('hgn');
    expect(parseToken('hge', token)).to.equal(null);
    const wrong = [
      ...['', 'hgn', 'hgn__', ` ${token}`, `${token}\n`, `${token}0`, token.slice(1), token.toUpperCase()],
      token.replaceAll('_', '-'),
      token.repeat(1_000),
    ];
    for (const text of wrong) expect(parseToken('hgn', text), text.slice(0, 20)).to.equal(null);
  });

  it('has the hash of its secret alone', () => {
    expect(sameHash(hashSecret('a'), hashSecret('a'))).to.equal(true);
    expect(sameHash(hashSecret('a'), hashSecret('b'))).to.equal(false);
    expect(sameHash(hashSecret('a'), Buffer.alloc(0))).to.equal(false);
  });
});
