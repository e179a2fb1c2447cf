export { writeAudit } from './store.ts';
