export * as certificateOperations from './operations.ts';
export {
  CERT_DIR,
  certificateReferences,
  certificateVariable,
  filenameAfter,
  withoutCertificates,
} from './reference.ts';
export { type CertificateFile, configVariables, readCertificates } from './store.ts';
