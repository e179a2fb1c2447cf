export { writeAudit } from '../platform/audit-writer.ts';
export type { ChainLink } from './chain.ts';
export { type AuditChainer, createAuditChainer, numberNext } from './chainer.ts';
export { auditExport, exportedEvents } from './exporting.ts';
export { logAuditHead } from './head.ts';
export * as auditOperations from './operations.ts';
export { type Pruned, pruneAuditLog } from './retention.ts';
export * as auditRetentionOperations from './retention-operations.ts';
export { type AuditVerdict, auditVerdict, verifyAuditChain } from './verify.ts';
