/** Certificates and keys that engines read as files. What is secret in them goes in and never comes out. */
import Type, { type Static } from 'typebox';
import { CERT_FILENAME_PATTERN } from '../../agent/limits.ts';
import { worded } from '../../patterns.ts';
import { GivenName, Id, Input, Nullable, Timestamp } from '../common.ts';

export const CERTIFICATE_LIMITS = {
  bytes: 1024 * 1024,
  /** Characters of that many bytes in base64, with the line breaks that some tools put in. */
  base64Chars: 1_450_000,
  /** In one file. */
  certificates: 500,
  /** Of those, so many are described. */
  described: 20,
} as const;

export const CertificateFileType = Type.Enum(['ca', 'cert', 'key']);
export type CertificateFileType = Static<typeof CertificateFileType>;

export const UploadCertificate = Input({
  environmentId: Id,
  /** A certificate and its key have the same one. */
  name: GivenName,
  /** Letters, digits, dot, dash and underscore; no dot or dash at the beginning. */
  filename: Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: worded(
      CERT_FILENAME_PATTERN,
      'must be a file name of letters, digits, _ . and -, which begins with none of the last two',
    ),
  }),
  fileType: CertificateFileType,
  /** PEM, at most 1 MiB. */
  dataBase64: Type.String({ minLength: 1, maxLength: CERTIFICATE_LIMITS.base64Chars }),
});
export type UploadCertificate = Static<typeof UploadCertificate>;
export const DeleteCertificate = Input({ id: Id, environmentId: Id });

export const CertificateFacts = Type.Object({
  /** In the order of the file, at most 20. */
  certificates: Type.Array(
    Type.Object({
      subject: Type.String(),
      issuer: Type.String(),
      serialNumber: Type.String(),
      notBefore: Type.String({ format: 'date-time' }),
      notAfter: Type.String({ format: 'date-time' }),
      /** `DNS:…`, `IP Address:…`; at most 50. */
      alternativeNames: Type.Array(Type.String()),
      /** SHA-256. */
      fingerprint: Type.String(),
      isAuthority: Type.Boolean(),
    }),
  ),
  certificateCount: Type.Integer(),
  key: Nullable(
    Type.Object({
      type: Type.String(),
      bits: Nullable(Type.Integer()),
      curve: Nullable(Type.String()),
    }),
  ),
  /** SHA-256 of the public key of the first certificate, or of the private key's: equal where the two belong together. */
  publicKey: Nullable(Type.String()),
});
export type CertificateFacts = Static<typeof CertificateFacts>;

export const CertificateSummary = Type.Object({
  id: Id,
  name: Type.String(),
  filename: Type.String(),
  fileType: CertificateFileType,
  /** What a config says to mean this file, for example `${SVC_CERT_DIR}/ca.pem`. */
  reference: Type.String(),
  facts: CertificateFacts,
  /** Of a chain, when the first of it ends; of several authorities, when the last of them does; null for a key. */
  expiresAt: Nullable(Timestamp),
  expired: Type.Boolean(),
  /** What is odd about it, and no reason to refuse it. */
  warning: Nullable(Type.String()),
  /** Names of the deployed pipelines whose config refers to it. */
  usedBy: Type.Array(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type CertificateSummary = Static<typeof CertificateSummary>;
export const CertificateList = Type.Array(CertificateSummary);
export const UploadedCertificate = Type.Object({
  ...CertificateSummary.properties,
  /** There was one of this name and type, which is gone. */
  replaced: Type.Boolean(),
});
