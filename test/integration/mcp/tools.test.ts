/** `/mcp` with the client of the SDK: what is listed, read and refused, and what becomes of changes. */
import { expect } from 'chai';
import { agentToken, connectAgent } from '../../support/clients/mcp-client.ts';
import { draftPipeline, makeKey } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { bindToGit } from '../../support/scenes/git-binding.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';

const FILES = {
  'pipelines/orders.yaml': `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: orders }
spec:
  description: As they come
  sources: { app: { type: demo_logs, format: json } }
  sinks: { out: { type: blackhole, inputs: [app] } }
`,
};

interface Pipelines {
  items: { id: string; name: string; updatedAt: string }[];
}
interface BecameProposal {
  proposed: { number: number; url: string };
}

describe('the tools for agents', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  const place = use(() => bindToGit(test, places, FILES));
  const agents = use(async () => {
    const connect = async (...[person, scopes, options]: [typeof places.viewer, string[]?, object?]) =>
      connectAgent(test.url, await agentToken(person, scopes), options);
    return {
      connect,
      viewer: await connect(places.viewer),
      editor: await connect(places.editor),
      writer: await connect(places.editor, ['mcp.write']),
    };
  });
  const draft = use(async () => ({ id: await draftPipeline(places.editor, places.siblingId, 'by hand') }));

  it('are a list that a context has room for, with the schemas of the operations', async () => {
    const { tools } = await agents.editor.client.listTools();
    expect(tools.length).to.be.within(40, 60);
    const list = tools.find(({ name }) => name === 'pipeline_list');
    expect(list?.annotations).to.include({ readOnlyHint: true });
    expect(list?.inputSchema).to.deep.include({ required: ['environmentId'], additionalProperties: false });
    expect(list?.outputSchema?.properties).to.have.keys('items');
    const update = tools.find(({ name }) => name === 'pipeline_update');
    expect(update?.annotations).to.include({ readOnlyHint: false });
    expect(update?.description).to.match(/becomes a pull request.*Needs the role EDITOR/);
  });

  it('are chosen by the address, and are those that the caller may use', async () => {
    const costs = await agents.connect(places.editor, ['mcp'], { tools: 'costs,audit' });
    expect(await costs.names())
      .to.include.members(['analytics_cost_by_team', 'audit_list'])
      .and.not.include('pipeline_list');
    expect(await agents.viewer.names())
      .to.include('pipeline_list')
      .and.not.include('pipeline_update');
    expect(await agents.editor.names())
      .to.include('pipeline_update')
      .and.not.include('pipeline_create');
    expect(await agents.writer.names()).to.include('pipeline_create');
  });

  it('answer as the operations do, in the form of their schemas', async () => {
    const { environmentId } = place;
    const { items } = await agents.viewer.call<Pipelines>('pipeline_list', { environmentId });
    expect(items.map(({ name }) => name)).to.deep.equal(['orders']);
    expect(items[0]?.updatedAt).to.match(/^\d{4}-.*Z$/);
    const one = await agents.viewer.call('pipeline_get', { id: items[0]?.id });
    expect(one).to.include({ name: 'orders', managedBy: 'git' });
    expect(await agents.viewer.call('user_me')).to.include({ email: 'viewer@example.org' });
  });

  it('serve clients of the protocol before 2026 too', async () => {
    const old = await agents.connect(places.viewer, ['mcp'], { isLegacy: true });
    expect(old.client.getServerVersion()?.name).to.equal('headgate');
    expect(old.client.getInstructions()).to.include('team_list');
    expect(await old.names()).to.deep.equal(await agents.viewer.names());
    const { items } = await old.call<Pipelines>('pipeline_list', { environmentId: place.environmentId });
    expect(items).to.have.length(1);
  });

  it('know no other team, and say what is wrong with an input', async () => {
    expect(await agents.editor.failure('pipeline_list', { environmentId: places.foreignId })).to.match(
      /not.*team|no access|not found/i,
    );
    expect(await agents.editor.failure('pipeline_get', { id: 'of nobody' })).to.equal('Pipeline not found');
    expect(await agents.editor.failure('pipeline_list', { environmentID: place.environmentId })).to.include(
      'environmentID',
    );
    const unknown = await agents.editor.client
      .callTool({ name: 'admin_list_users', arguments: {} })
      .catch((error: Error) => error);
    expect(String(unknown)).to.include('Tool admin_list_users not found');
  });

  it('refuse a VIEWER what needs an EDITOR', async () => {
    const id = await place.idOf('pipelines', 'orders');
    expect(await agents.viewer.failure('pipeline_update', { id, description: 'x' })).to.include(
      'role EDITOR',
    );
  });

  it('make a proposal of a change of what git describes, under every policy, with a trace in the audit log', async () => {
    const id = await place.idOf('pipelines', 'orders');
    const before = place.head();
    for (const uiEdits of ['refuse', 'commit']) {
      await place.policy({ uiEdits });
      const { proposed } = await agents.editor.call<BecameProposal>('pipeline_update', {
        id,
        description: `under ${uiEdits}`,
      });
      expect(proposed.number).to.equal(1);
      expect(proposed.url).to.match(/\/pr\/1$|1$/);
    }
    expect(place.head()).to.equal(before);
    const row = await test
      .db('audit_log')
      .where({ action: 'gitSync.proposed', entity_id: id })
      .first('user_email', 'metadata');
    expect(row.user_email).to.equal('editor@example.org');
    expect(row.metadata).to.deep.include({
      operation: 'pipeline.update',
      via: { transport: 'mcp', token: 'agent' },
    });
  });

  it('refuse a change that would take effect at once, and leave nothing of it', async () => {
    const refusal = await agents.editor.failure('pipeline_update', { id: draft.id, description: 'changed' });
    expect(refusal).to.match(/take effect at once: git does not describe.*only proposes changes/);
    expect((await test.db('pipelines').where({ id: draft.id }).first('description')).description).to.equal(
      null,
    );
    expect(
      await agents.editor.failure('pipeline_create', { environmentId: places.siblingId, name: 'new' }),
    ).to.include('only proposes changes');
  });

  it('change at once for a token that may, and by the policy where git describes it', async () => {
    await agents.writer.call('pipeline_update', { id: draft.id, description: 'changed' });
    expect((await test.db('pipelines').where({ id: draft.id }).first('description')).description).to.equal(
      'changed',
    );
    await place.policy({ uiEdits: 'refuse' });
    const id = await place.idOf('pipelines', 'orders');
    expect(await agents.writer.failure('pipeline_update', { id, description: 'x' })).to.include(
      'is described in git',
    );
  });

  it('take keys of service accounts, with their permissions and in their environment, for reading and proposing', async () => {
    const { key } = await makeKey(places.admin, place.environmentId, ['pipelines.read', 'pipelines.edit']);
    const program = await connectAgent(test.url, key, { tools: 'all' });
    const names = await program.names();
    expect(names)
      .to.include.members(['pipeline_list', 'pipeline_update'])
      .and.not.include.members(['fleet_list', 'pipeline_create']);
    expect(await program.call('pipeline_list', { environmentId: place.environmentId })).to.have.property(
      'items',
    );
    expect(await program.failure('pipeline_list', { environmentId: places.siblingId })).to.include(
      'valid only for another environment',
    );
    expect(await program.failure('fleet_list', { environmentId: place.environmentId })).to.include(
      'nodes.read',
    );
  });

  it('cut an answer that is too large, and say how to ask for less', async () => {
    const wide = await agents.connect(places.viewer, ['mcp'], { tools: 'pipelines' });
    await test.db('vrl_snippets').insert(
      Array.from({ length: 60 }, (_, n) => ({
        ...{ id: `wide-${n}`, team_id: places.teamId, name: `wide ${n}`, category: 'Custom' },
        ...{ description: '', code: '# x\n'.repeat(1_000) },
      })),
    );
    const { content, structuredContent } = await wide.client.callTool({
      name: 'vrl_snippet_list',
      arguments: { teamId: places.teamId },
    });
    expect(JSON.stringify(structuredContent).length).to.be.within(50_000, 102_400);
    expect(content[1])
      .to.have.property('text')
      .that.match(
        /^Cut at 100 KB: items has \d+ entries, of which the first \d+ are here\. Ask about one object/,
      );
  });
});
