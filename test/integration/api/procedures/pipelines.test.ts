import { describeProcedures, useProcedureScene } from '../../../support/procedures/cases.ts';
import { ROW_GROUPS } from '../../../support/procedures/rows/index.ts';

describe('every procedure of pipelines', () => {
  describeProcedures(useProcedureScene(), ROW_GROUPS.pipelines);
});
