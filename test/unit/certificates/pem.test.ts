/** What may be in a PEM file, by what it claims to be. */
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { inspectFile } from '../../../controller/secrets/certificates/pem.ts';
import type { CertificateFileType } from '../../../schemas/api/secrets/certificates.ts';
import {
  AUTHORITY,
  base64,
  ENCRYPTED_KEY,
  EXPIRED,
  KEY_WITH_PARAMETERS,
  LEAF,
  LEAF_KEY,
  TRADITIONAL_ENCRYPTED_KEY,
} from '../../support/fixtures/certificates.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const inspect = (pem: string, fileType: CertificateFileType) => inspectFile(base64(pem), fileType);
const der = Buffer.from(LEAF.split('\n').slice(1, -2).join(''), 'base64');

describe('a PEM file', () => {
  it('of a certificate tells who it is of and how long it holds', () => {
    const { facts, expiresAt, base64: kept } = inspect(LEAF, 'cert');
    expect(facts.certificates).to.have.length(1);
    expect(facts.certificates[0]).to.include({
      subject: 'CN=shop.example.org',
      issuer: 'O=Headgate tests, CN=Test authority',
      isAuthority: false,
    });
    expect(facts.certificates[0]?.alternativeNames).to.deep.equal([
      'DNS:localhost',
      'DNS:shop.example.org',
      'IP Address:127.0.0.1',
    ]);
    expect(facts.certificates[0]?.fingerprint).to.match(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    expect(expiresAt?.getUTCFullYear()).to.equal(2126);
    expect(kept).to.equal(base64(LEAF));
  });

  it('of a chain begins with the leaf, and ends when the first of it does', () => {
    expect(inspect(LEAF + AUTHORITY, 'cert').facts.certificateCount).to.equal(2);
    expect(inspect(EXPIRED + AUTHORITY, 'cert').expiresAt?.toISOString()).to.equal(
      '2020-02-01T00:00:00.000Z',
    );
  });

  it('of authorities ends when the last of them does', () => {
    const { facts, expiresAt } = inspect(EXPIRED + AUTHORITY, 'ca');
    expect(facts.certificateCount).to.equal(2);
    expect(expiresAt?.getUTCFullYear()).to.equal(2126);
  });

  it('may have been written on Windows, with words between its blocks, and encoded with line breaks', () => {
    const text = `subject=CN = shop\r\n${LEAF.replaceAll('\n', '\r\n')}\r\n\r\nBag Attributes\r\n${AUTHORITY}`;
    const wrapped = base64(text).replaceAll(/.{76}/g, '$&\n');
    expect(inspectFile(wrapped, 'cert').facts.certificateCount).to.equal(2);
  });

  it('of a key tells its kind, and belongs to the certificate of its public key', () => {
    const { facts, expiresAt } = inspect(LEAF_KEY, 'key');
    expect(facts).to.deep.include({ key: { type: 'ec', bits: null, curve: 'prime256v1' }, certificates: [] });
    expect(facts.publicKey)
      .to.equal(inspect(LEAF, 'cert').facts.publicKey)
      .and.match(/^[0-9a-f]{64}$/);
    expect(expiresAt).to.equal(null);
    expect(inspect(KEY_WITH_PARAMETERS, 'key').facts.publicKey).to.equal(facts.publicKey);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    expect(inspect(pkcs1, 'key').facts.key).to.deep.equal({ type: 'rsa', bits: 2048, curve: null });
  });

  const WRONG: [of: string, data: string, fileType: CertificateFileType, says: RegExp][] = [
    ['no base64', '-----BEGIN CERTIFICATE-----', 'cert', /it is not base64; encode/],
    ['base64 that is cut', 'QUJDR', 'cert', /it is not base64/],
    ['spaces', '  \n ', 'cert', /it is not base64/],
    ['more than 1 MiB', Buffer.alloc(1024 * 1024 + 1, 'x').toString('base64'), 'ca', /larger than 1 MiB/],
    ['words', base64('hello'), 'cert', /contains no PEM block .* openssl x509 -inform der/],
    ['DER', der.toString('base64'), 'cert', /contains no PEM block/],
    [
      'a block without an end',
      base64(LEAF.split('\n').slice(0, 4).join('\n')),
      'cert',
      /the block "CERTIFICATE" has no end/,
    ],
    ['a block in a block', base64(`-----BEGIN X-----\n${LEAF}`), 'cert', /contains no PEM block|has no end/],
    [
      'a certificate that is damaged',
      base64(LEAF.replace('MII', 'MIX')),
      'cert',
      /certificate 1 in it cannot be read/,
    ],
    ['a key', base64(LEAF_KEY), 'cert', /contains a private key; .* fileType "key"/],
    ['a key too', base64(LEAF + LEAF_KEY), 'ca', /contains a private key/],
    [
      'a chain the wrong way round',
      base64(AUTHORITY + LEAF),
      'cert',
      /certificate 2 \(CN=shop\.example\.org\) did not issue certificate 1 .* put the leaf first/,
    ],
    ['a certificate', base64(LEAF), 'key', /contains a certificate beside the key/],
    ['two keys', base64(LEAF_KEY + LEAF_KEY), 'key', /contains 2 private keys/],
    [
      'an encrypted key',
      base64(ENCRYPTED_KEY),
      'key',
      /the private key is encrypted, .* openssl pkey -in FILE/,
    ],
    [
      'an encrypted key of the older form',
      base64(TRADITIONAL_ENCRYPTED_KEY),
      'key',
      /the private key is encrypted/,
    ],
    [
      'a key that is damaged',
      base64(LEAF_KEY.replace('MI', 'XX')),
      'key',
      /the private key in it cannot be read/,
    ],
    [
      'a public key',
      base64('-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n'),
      'key',
      /contains 0 private keys/,
    ],
    [
      'a request',
      base64('-----BEGIN CERTIFICATE REQUEST-----\nMFkw\n-----END CERTIFICATE REQUEST-----\n'),
      'cert',
      /a block "CERTIFICATE REQUEST", but only certificates are allowed/,
    ],
  ];
  for (const [of, data, fileType, says] of WRONG) {
    it(`is no ${fileType} with ${of}, and says why`, () => {
      expect(() => inspectFile(data, fileType))
        .to.throw(DomainError, says)
        .with.property('message')
        .that.satisfies((message: string) => message.startsWith('dataBase64: ') && message.length < 600);
    });
  }

  it('is read in time linear to its length', () => {
    const began = cpuMs();
    for (const line of ['-----BEGIN X-----\n', '-----END X-----\n', '-----BEGIN CERTIFICATE-----', '\n']) {
      const text = line.repeat(Math.floor((1024 * 1024) / line.length));
      expect(() => inspect(text, 'ca')).to.throw(DomainError);
    }
    expect(cpuMs() - began).to.be.below(patient(3_000));
  });
});
