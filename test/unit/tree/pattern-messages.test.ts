/** Where a text does not fit a pattern people are told in words what it has to be, and never shown the expression. */
import { expect } from 'chai';
import { appRouter } from '../../../api/procedures/router.ts';
import { REST_ROWS } from '../../../api/rest/rows.ts';
import { RegisterSecret } from '../../../schemas/api/fleet/environments.ts';
import { CloudConfig, ExecConfig, VaultConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import { messageOfPattern } from '../../../schemas/patterns.ts';
import { sentences, validator } from '../../../schemas/validate.ts';

function patternsIn(schema: unknown, found = new Set<string>(), seen = new Set<object>()): Set<string> {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return found;
  seen.add(schema);
  const { pattern } = schema as { pattern?: unknown };
  if (typeof pattern === 'string') found.add(pattern);
  for (const inner of Object.values(schema)) patternsIn(inner, found, seen);
  return found;
}

describe('a text that does not fit a pattern', () => {
  const procedures = Object.values(
    appRouter._def.procedures as object as Record<
      string,
      { _def: { meta: { operation: { input: unknown } } } }
    >,
  ).map(({ _def }) => _def.meta.operation.input);
  const inputs = [...procedures, ...REST_ROWS, VaultConfig, CloudConfig, ExecConfig];
  const patterns = [...inputs.reduce<Set<string>>((found, input) => patternsIn(input, found), new Set())];

  it('is told in words, of every input of a procedure and of REST', () => {
    expect(patterns.length).to.be.above(30);
    expect(patterns.filter((pattern) => messageOfPattern(pattern) === undefined)).to.deep.equal([]);
  });

  it('is named with its field, and the expression is not shown', () => {
    const input = { environmentId: 'e', name: 'db', path: 'team/../x' };
    const told = sentences(validator(RegisterSecret).issues(input));
    expect(told).to.match(/^path must be a path, a name or an ARN: .* without \. or \.\. between slashes$/);
  });
});
