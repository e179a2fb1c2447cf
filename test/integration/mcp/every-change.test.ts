/**
 * Every tool that changes something, with the SDK's client: refused and rolled back for a token that only proposes, done in
 * the name of its owner by one that may change things at once, and never beyond the owner's rights. A new tool cannot be forgotten.
 */
import { expect } from 'chai';
import { createTools } from '../../../api/mcp/tools.ts';
import { type AgentClient, agentToken, connectAgent } from '../../support/clients/mcp-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { ROWS } from '../../support/procedures/rows/index.ts';
import { type Side, useTwoTeams } from '../../support/scenes/two-teams.ts';
import type { TestUser } from '../../support/users/person.ts';

const CHANGING = [...createTools().values()].filter(({ effect }) => effect !== 'reads');
/** Of what the rows make, these wait for somebody else: an approval, a merge. */
const WAITING: readonly string[] = ['promotion.initiate', 'pullRequest.open'];
/** Tools that write more than the row of their own action. */
const SEVERAL: Readonly<Record<string, readonly string[]>> = {
  'costRecommendation.apply': ['costRecommendation.applied', 'pipeline.versionCreated'],
};

interface AuditRow {
  id: string;
  action: string;
  user_email: string;
  metadata: { via?: object };
}

describe('every tool that changes something', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  const agents = use(async () => {
    const connect = async (person: TestUser, scope: string, name: string): Promise<AgentClient> => {
      const agent = await connectAgent(test.url, await agentToken(person, [scope], name), { tools: 'all' });
      // The SDK checks the answers of tools that it has listed against their schemas.
      await agent.names();
      return agent;
    };
    const both = async (person: TestUser, role: string) => ({
      proposer: await connect(person, 'mcp', `${role} who proposes`),
      writer: await connect(person, 'mcp.write', `${role} who writes`),
    });
    return {
      EDITOR: await both(teams.editor, 'an EDITOR'),
      ADMIN: await both(teams.admin, 'an ADMIN'),
      viewer: await connect(teams.viewer, 'mcp.write', 'a VIEWER who writes'),
    };
  });
  let n = 20_000;

  const inputOf = async (name: string, side: Side, caller: TestUser) => {
    const row = ROWS[name];
    if (!row) throw new Error(`${name} has no row`);
    n += 1;
    if (name === 'fleet.setMaintenance') {
      await side.db('nodes').where({ id: side.node.nodeId }).update({ maintenance: false });
      return { nodeId: side.node.nodeId, enabled: true };
    }
    return (await row.input(side, n, row.names === 'own' ? caller : teams.root)) as Record<string, unknown>;
  };
  const rows = (): Promise<AuditRow[]> => test.db('audit_log').orderBy(['created_at', 'id']);
  /** What the work leaves in the audit log, whoever did it through an agent. */
  async function leftBy(work: () => Promise<unknown>): Promise<AuditRow[]> {
    const before = new Set((await rows()).map(({ id }) => id));
    await work();
    return (await rows()).filter(({ id, metadata }) => !before.has(id) && metadata?.via !== undefined);
  }
  const callerOf = (name: string) => {
    const role = OPERATIONS.get(name)?.role === 'ADMIN' ? 'ADMIN' : 'EDITOR';
    return { role, agent: agents[role], person: role === 'ADMIN' ? teams.admin : teams.editor } as const;
  };

  for (const { name: tool, operation, effect } of CHANGING) {
    const { name } = operation;
    const row = ROWS[name];

    it(`${tool} ${WAITING.includes(name) ? 'is proposed' : 'is refused and leaves nothing'} where the token only proposes`, async () => {
      const { agent, person, role } = callerOf(name);
      const input = await inputOf(name, teams.ours, person);
      if (WAITING.includes(name)) {
        const left = await leftBy(() => agent.proposer.call(tool, input));
        expect(left.map(({ action }) => action)).to.deep.equal([auditOf(name)]);
        expect(left[0]?.metadata.via).to.deep.equal({ transport: 'mcp', token: `an ${role} who proposes` });
        return;
      }
      const left = await leftBy(async () => {
        expect(await agent.proposer.failure(tool, input)).to.match(
          effect === 'writes'
            ? new RegExp(`^${tool} takes effect at once\\. This token only proposes changes: `)
            : /take effect at once: git does not describe what it changes\. This token only proposes changes: /,
        );
      });
      expect(left).to.deep.equal([]);
      expect((await agent.proposer.names()).includes(tool)).to.equal(effect === 'proposes');
      // It was refused for nothing else: the same input is taken of a token that may.
      const done = await leftBy(() => agent.writer.call(tool, input));
      expect(done.map(({ action }) => action).sort()).to.deep.equal(SEVERAL[name] ?? [auditOf(name)]);
      for (const one of done) {
        expect(one.user_email).to.equal(person.email);
        expect(one.metadata.via).to.deep.equal({ transport: 'mcp', token: `an ${role} who writes` });
      }
    });

    it(`${tool} is nothing for a VIEWER, and knows no other team`, async () => {
      const { agent, person } = callerOf(name);
      const ours = await inputOf(name, teams.ours, person);
      const left = await leftBy(async () => {
        const refusal = await agents.viewer.failure(tool, ours);
        expect(refusal).to.match(row?.names === 'own' ? /./ : /This needs the role (EDITOR|ADMIN)/);
        if (row?.names === 'own') return;
        const theirs = await inputOf(name, teams.theirs, teams.root);
        expect(await agent.writer.failure(tool, theirs)).to.match(
          row?.names === 'scope' ? /^You are not a member of this environment's team/ : / not found$/,
        );
      });
      expect(left).to.deep.equal([]);
      expect(await agents.viewer.names()).to.not.include(tool);
    });
  }
});

function auditOf(name: string): string {
  const operation = OPERATIONS.get(name);
  if (operation?.kind !== 'mutation') throw new Error(`${name} changes nothing`);
  return operation.audit;
}
