export * as teamOperations from './operations.ts';
export { lockTeam } from './store.ts';
