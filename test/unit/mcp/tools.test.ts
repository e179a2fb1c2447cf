import { fromJsonSchema, type JsonSchemaType } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import { candidates, createTools, isIn, TOOL_LISTS, toolName, toolsetOf } from '../../../api/mcp/tools.ts';
import { CORE, DIRECT, LEFT_OUT, OBSERVING } from '../../../api/mcp/toolsets.ts';

describe('the tools for agents', () => {
  const tools = [...createTools().values()];
  const operations = candidates();

  it('have names that every client takes, by a rule', () => {
    expect(toolName('gitSync.importErrors')).to.equal('git_sync_import_errors');
    expect(
      tools.filter(({ name }) => !/^[a-z][a-z0-9_]{1,63}$/.test(name)).map(({ name }) => name),
    ).to.deep.equal([]);
    expect(new Set(operations.map(({ name }) => toolName(name))).size).to.equal(operations.length);
  });

  it('are all queries but those that are left out with a reason', () => {
    const undecided = operations.filter(
      ({ kind, name }) =>
        kind === 'query' &&
        toolsetOf(name) === null &&
        !(name in LEFT_OUT) &&
        !((name.split('.')[0] ?? '') in LEFT_OUT),
    );
    // A new router gets a line in api/mcp/toolsets.ts.
    expect(undecided.map(({ name }) => name)).to.deep.equal([]);
  });

  it('change things only by a proposal, or where the table names them', () => {
    const changing = tools.filter(({ operation }) => operation.kind === 'mutation');
    expect(
      changing.filter(({ effect }) => effect === 'reads').map(({ operation }) => operation.name),
    ).to.deep.equal([...OBSERVING]);
    expect(
      changing.filter(({ effect, operation }) => effect === 'writes' && !DIRECT.has(operation.name)),
    ).to.deep.equal([]);
    expect(changing.map(({ name }) => name)).to.include.members([
      'pipeline_update',
      'deploy_agent',
      'promotion_initiate',
    ]);
  });

  it('hand out no keys and decide nothing about the work of others', () => {
    const names = tools.map(({ name }) => name).join('\n');
    expect(names).to.not.match(
      /token|password|totp|service_account|secret_(create|update|delete)|approve|pull_request_(merge|review|auto)|promotion_reject|admin_|settings_/,
    );
  });

  it('are named by the tables as they are called', () => {
    const names = new Set(tools.map(({ operation }) => operation.name));
    expect([...CORE, ...DIRECT, ...OBSERVING].filter((name) => !names.has(name))).to.deep.equal([]);
  });

  it('are at most 60 in the list without a choice, and few enough to be read by a model', () => {
    const core = tools.filter((tool) => isIn(tool, ['core']));
    expect(core.length).to.be.within(40, 60);
    const seen = core.map(({ listed: { outputSchema: _, ...rest } }) => rest);
    expect(JSON.stringify(seen).length).to.be.below(48_000);
    for (const list of TOOL_LISTS)
      expect(
        tools.some((tool) => isIn(tool, [list])),
        list,
      ).to.equal(true);
  });

  it('have schemas of objects that validators of JSON Schema take', () => {
    for (const { name, listed } of tools) {
      expect([listed.inputSchema.type, listed.outputSchema?.type], name).to.deep.equal(['object', 'object']);
      expect(JSON.stringify(listed), name).to.not.include('\\\\p{');
      expect(
        () => fromJsonSchema(listed.inputSchema as JsonSchemaType)['~standard'].validate({}),
        name,
      ).to.not.throw();
    }
  });
});
