/** What is in a PEM file, checked by what it claims to be. Never quotes a key. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  CERTIFICATE_LIMITS,
  type CertificateFacts,
  type CertificateFileType,
} from '../../../schemas/api/certificates.ts';
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

const refuse = (what: string) => badRequest(`dataBase64: ${what}`);

/** Throws BAD_REQUEST with the reason. One that has expired is none: it may be what is in use. */
export function inspectFile(dataBase64: string, fileType: CertificateFileType): InspectedFile {
  const bytes = decode(dataBase64);
  const blocks = blocksOf(bytes.toString('latin1'));
  const known = fileType === 'key' ? inspectKey(blocks) : inspectCertificates(blocks, fileType);
  return { base64: bytes.toString('base64'), ...known };
}

function decode(text: string): Buffer {
  const plain = text.replaceAll(/\s/g, '');
  if (plain === '' || plain.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(plain))
    throw refuse('it is not base64; encode the whole PEM file, for example with: base64 -w0 FILE');
  const bytes = Buffer.from(plain, 'base64');
  if (bytes.length > CERTIFICATE_LIMITS.bytes) throw refuse('the file is larger than 1 MiB');
  return bytes;
}

/** Line by line, in time linear to the text. What stands between the blocks is no part of them. */
function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: { label: string; lines: string[] } | null = null;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, edge, label = ''] = /^-----(BEGIN|END) ([A-Z0-9 ]{1,64})-----\s*$/.exec(line) ?? [];
    if (edge === 'BEGIN') {
      if (open) throw refuse(`the block "${open.label}" has no end`);
      open = { label, lines: [line.trimEnd()] };
    } else if (edge === 'END') {
      if (open?.label !== label) throw refuse(`an end of "${label}" stands where none was begun`);
      blocks.push({ label, text: [...open.lines, line.trimEnd()].join('\n') });
      open = null;
    } else open?.lines.push(line.trimEnd());
  }
  if (open) throw refuse(`the block "${open.label}" has no end`);
  if (blocks.length > 0) return blocks;
  throw refuse(
    'it holds no PEM block (-----BEGIN …); a DER file is converted with: openssl x509 -inform der -in FILE',
  );
}

const isKey = ({ label }: Block) => label.endsWith('PRIVATE KEY');
const isCertificate = ({ label }: Block) => label === 'CERTIFICATE' || label === 'X509 CERTIFICATE';

function inspectCertificates(
  blocks: readonly Block[],
  fileType: 'ca' | 'cert',
): Omit<InspectedFile, 'base64'> {
  if (blocks.some(isKey)) throw refuse('it holds a private key; upload that one alone, with fileType "key"');
  const other = blocks.find((block) => !isCertificate(block));
  if (other) throw refuse(`it holds a block "${other.label}" where only certificates may be`);
  if (blocks.length > CERTIFICATE_LIMITS.certificates)
    throw refuse(`it holds more than ${CERTIFICATE_LIMITS.certificates} certificates`);
  const certificates = blocks.map((block, index) => readCertificate(block, index + 1));
  const [first] = certificates;
  if (!first) throw refuse('it holds no certificate');
  if (fileType === 'cert') refuseDisorder(certificates);
  const ends = certificates.map((one) => one.validToDate.getTime());
  return {
    facts: {
      certificates: certificates.slice(0, CERTIFICATE_LIMITS.described).map(describe),
      certificateCount: certificates.length,
      key: null,
      publicKey: publicKeyOf(() => first.publicKey),
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
    throw refuse(`certificate ${number} in it cannot be read; export it again`);
  }
}

/** Servers and engines send the chain as it stands here. */
function refuseDisorder(certificates: readonly X509Certificate[]): void {
  certificates.forEach((certificate, index) => {
    const issuer = certificates[index + 1];
    if (!issuer || certificate.checkIssued(issuer)) return;
    throw refuse(
      `certificate ${index + 2} (${oneLine(issuer.subject)}) did not issue certificate ${index + 1} (${oneLine(certificate.subject)}); put the leaf first, then each issuer`,
    );
  });
}

const TEXT_CHARS = 500;
const NAMES = 50;

/** Node writes each part of a name on a line of its own. */
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
    throw refuse('it holds a certificate beside the key; upload that one alone, with fileType "cert"');
  const keys = blocks.filter(isKey);
  const [block] = keys;
  if (!block || keys.length > 1) throw refuse(`it holds ${keys.length} private keys; it must be one`);
  // What openssl writes before the key of an elliptic curve.
  const other = blocks.find((one) => one !== block && one.label !== 'EC PARAMETERS');
  if (other) throw refuse(`it holds a block "${other.label}" beside the key`);
  if (block.label.startsWith('ENCRYPTED') || /^Proc-Type:.*ENCRYPTED/m.test(block.text)) {
    throw refuse(
      'the private key is encrypted, and nobody could enter its passphrase on a node; decrypt it with: openssl pkey -in FILE. Headgate keeps it encrypted',
    );
  }
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: block.text, format: 'pem' });
  } catch {
    throw refuse('the private key in it cannot be read; export it again, as PKCS#8 in PEM form');
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
      publicKey: publicKeyOf(() => createPublicKey(key)),
    },
    expiresAt: null,
  };
}

/** Null for a kind of key that is not known here. */
function publicKeyOf(read: () => KeyObject): string | null {
  try {
    return createHash('sha256')
      .update(read().export({ type: 'spki', format: 'der' }))
      .digest('hex');
  } catch {
    return null;
  }
}
