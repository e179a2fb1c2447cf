import { describeProcedures, useProcedureScene } from '../../../support/procedures/cases.ts';
import { ROW_GROUPS } from '../../../support/procedures/rows/index.ts';

describe('every procedure of fleet and insight', () => {
  describeProcedures(useProcedureScene(), ROW_GROUPS.insight);
});
