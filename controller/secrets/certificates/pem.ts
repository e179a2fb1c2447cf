/** Checks an uploaded PEM file against its file type and extracts its facts. No error quotes a key. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  CERTIFICATE_LIMITS,
  type CertificateFacts,
  type CertificateFileType,
} from '../../../schemas/api/secrets/certificates.ts';
import { badRequest } from '../../platform/operation/errors.ts';

export interface InspectedFile {
  /** Without line breaks. */
  base64: string;
  facts: CertificateFacts;
  expiresAt: Date | null;
}

interface Block {
  label: string;
  text: string;
}

const invalid = (what: string) => badRequest(`dataBase64: ${what}`);

/** @throws BAD_REQUEST with the reason. An expired certificate is accepted, because it may be the one in use. */
export function inspectFile(dataBase64: string, fileType: CertificateFileType): InspectedFile {
  const bytes = decode(dataBase64);
  const blocks = parseBlocks(bytes.toString('latin1'));
  const result = fileType === 'key' ? inspectKey(blocks) : inspectCertificates(blocks, fileType);
  return { base64: bytes.toString('base64'), ...result };
}

function decode(text: string): Buffer {
  const plain = text.replaceAll(/\s/g, '');
  if (plain === '' || plain.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(plain))
    throw invalid('it is not base64; encode the whole PEM file, for example with: base64 -w0 FILE');
  const bytes = Buffer.from(plain, 'base64');
  if (bytes.length > CERTIFICATE_LIMITS.bytes) throw invalid('the file is larger than 1 MiB');
  return bytes;
}

/** Reads line by line, in linear time, and skips text between the blocks. */
function parseBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: { label: string; lines: string[] } | null = null;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, edge, label = ''] = /^-----(BEGIN|END) ([A-Z0-9 ]{1,64})-----\s*$/.exec(line) ?? [];
    if (edge === 'BEGIN') {
      if (open) throw invalid(`the block "${open.label}" has no end`);
      open = { label, lines: [line.trimEnd()] };
    } else if (edge === 'END') {
      if (open?.label !== label) throw invalid(`the block "${label}" ends without a beginning`);
      blocks.push({ label, text: [...open.lines, line.trimEnd()].join('\n') });
      open = null;
    } else open?.lines.push(line.trimEnd());
  }
  if (open) throw invalid(`the block "${open.label}" has no end`);
  if (blocks.length > 0) return blocks;
  throw invalid(
    'it contains no PEM block (-----BEGIN …); convert a DER file with: openssl x509 -inform der -in FILE',
  );
}

const isKey = ({ label }: Block) => label.endsWith('PRIVATE KEY');
const isCertificate = ({ label }: Block) => label === 'CERTIFICATE' || label === 'X509 CERTIFICATE';

function inspectCertificates(
  blocks: readonly Block[],
  fileType: 'ca' | 'cert',
): Omit<InspectedFile, 'base64'> {
  if (blocks.some(isKey))
    throw invalid('it contains a private key; upload the key by itself, with fileType "key"');
  const other = blocks.find((block) => !isCertificate(block));
  if (other) throw invalid(`it contains a block "${other.label}", but only certificates are allowed`);
  if (blocks.length > CERTIFICATE_LIMITS.certificates)
    throw invalid(`it contains more than ${CERTIFICATE_LIMITS.certificates} certificates`);
  const certificates = blocks.map((block, index) => readCertificate(block, index + 1));
  const [first] = certificates;
  if (!first) throw invalid('it contains no certificate');
  if (fileType === 'cert') assertChainOrder(certificates);
  const ends = certificates.map((one) => one.validToDate.getTime());
  return {
    facts: {
      certificates: certificates.slice(0, CERTIFICATE_LIMITS.described).map(describe),
      certificateCount: certificates.length,
      key: null,
      publicKey: fingerprintPublicKey(() => first.publicKey),
    },
    expiresAt: new Date(fileType === 'cert' ? Math.min(...ends) : Math.max(...ends)),
  };
}

function readCertificate({ text }: Block, number: number): X509Certificate {
  try {
    const certificate = new X509Certificate(text);
    if (Number.isNaN(certificate.validToDate.getTime())) throw new Error('no validity');
    return certificate;
  } catch {
    throw invalid(`certificate ${number} in it cannot be read; export it again`);
  }
}

/** Servers and engines send the chain in the order of the file. */
function assertChainOrder(certificates: readonly X509Certificate[]): void {
  certificates.forEach((certificate, index) => {
    const issuer = certificates[index + 1];
    if (!issuer || certificate.checkIssued(issuer)) return;
    throw invalid(
      `certificate ${index + 2} (${oneLine(issuer.subject)}) did not issue certificate ${index + 1} (${oneLine(certificate.subject)}); put the leaf first, then each issuer`,
    );
  });
}

const TEXT_CHARS = 500;
const NAMES = 50;

/** Node puts each part of a distinguished name on its own line. */
const oneLine = (text: string | undefined): string =>
  (text ?? '')
    .replaceAll('\n', ', ')
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, '?')
    .slice(0, TEXT_CHARS);

function describe(certificate: X509Certificate): CertificateFacts['certificates'][number] {
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    serialNumber: certificate.serialNumber,
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
    alternativeNames: (certificate.subjectAltName ?? '')
      .split(', ')
      .filter((name) => name !== '')
      .slice(0, NAMES)
      .map(oneLine),
    fingerprint: certificate.fingerprint256,
    isAuthority: certificate.ca,
  };
}

function inspectKey(blocks: readonly Block[]): Omit<InspectedFile, 'base64'> {
  if (blocks.some(isCertificate))
    throw invalid(
      'it contains a certificate beside the key; upload the certificate by itself, with fileType "cert"',
    );
  const keys = blocks.filter(isKey);
  const [block] = keys;
  if (!block || keys.length > 1) throw invalid(`it contains ${keys.length} private keys; it must be one`);
  // openssl writes the curve's parameters before an elliptic curve key.
  const other = blocks.find((one) => one !== block && one.label !== 'EC PARAMETERS');
  if (other) throw invalid(`it contains a block "${other.label}" beside the key`);
  if (block.label.startsWith('ENCRYPTED') || /^Proc-Type:.*ENCRYPTED/m.test(block.text)) {
    throw invalid(
      'the private key is encrypted, and nobody can enter its passphrase on a node; decrypt it with: openssl pkey -in FILE. Headgate stores it encrypted',
    );
  }
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: block.text, format: 'pem' });
  } catch {
    throw invalid('the private key in it cannot be read; export it again, as PKCS#8 in PEM form');
  }
  const details = key.asymmetricKeyDetails;
  return {
    facts: {
      certificates: [],
      certificateCount: 0,
      key: {
        type: key.asymmetricKeyType ?? 'unknown',
        bits: details?.modulusLength ?? null,
        curve: details?.namedCurve ?? null,
      },
      publicKey: fingerprintPublicKey(() => createPublicKey(key)),
    },
    expiresAt: null,
  };
}

/** The SHA-256 of the public key; null for an unknown kind of key. */
function fingerprintPublicKey(read: () => KeyObject): string | null {
  try {
    return createHash('sha256')
      .update(read().export({ type: 'spki', format: 'der' }))
      .digest('hex');
  } catch {
    return null;
  }
}
