export { writeAudit } from '../platform/audit-writer.ts';
export { type AuditChainer, createAuditChainer, numberNext } from './chainer.ts';
export * as auditOperations from './operations.ts';
export { type AuditVerdict, auditVerdict, verifyAuditChain } from './verify.ts';
