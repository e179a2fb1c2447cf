export { convergeAlertRules, pruneAlertRule } from './converge.ts';
export * as alertOperations from './operations.ts';
