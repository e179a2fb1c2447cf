/** The table that the other files of this folder go by: a procedure without a row fails, and so does a group without a file. */
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { OPERATIONS } from '../../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../../support/procedures/procedures.ts';
import { ROW_GROUPS, ROWS } from '../../../support/procedures/rows/index.ts';

describe('every procedure', () => {
  it('has a row, and an operation of its very name', () => {
    expect(Object.keys(ROWS).sort()).to.deep.equal([...PROCEDURE_KINDS.keys()].sort());
    for (const [name, kind] of PROCEDURE_KINDS) {
      const operation = OPERATIONS.get(name);
      if (operation?.kind !== 'query') expect(operation?.kind, name).to.equal(kind);
    }
  });

  it('is in one group, and each group in a file of its name', () => {
    const names = Object.values(ROW_GROUPS).flatMap((rows) => Object.keys(rows));
    expect(names).to.have.length(new Set(names).size);
    const files = readdirSync(import.meta.dirname).map((file) => file.replace('.test.ts', ''));
    expect(files).to.have.members([...Object.keys(ROW_GROUPS), 'table']);
  });
});
