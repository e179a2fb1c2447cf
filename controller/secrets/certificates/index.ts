export * as certificateOperations from './operations.ts';
export {
  CERT_DIR,
  certificateReferences,
  certificateVariable,
  expandCertificates,
  filenameAfter,
} from './reference.ts';
export { type CertificateFile, configVariables, readCertificates } from './store.ts';
