/**
 * Every tool that changes something, with the SDK's client: refused and rolled back for a token that only proposes, done in
 * the name of its owner by one that may change things at once, and never beyond the owner's rights. A new tool cannot be forgotten.
 */
import { expect } from 'chai';
import { createTools } from '../../../api/mcp/tools.ts';
import { agentToken, connectAgent } from '../../support/clients/mcp-client.ts';
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
    const connect = async (person: TestUser, scope: string, name: string) => {
      const agent = await connectAgent(test.url, await agentToken(person, [scope], name), { tools: 'all' });
      // The SDK checks the answers of tools that it has listed against their schemas.
      return { ...agent, listed: await agent.names() };
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
  const seen = new Set<string>();
  /** What the work leaves in the audit log, whoever did it through an agent. */
  async function leftBy(work: () => Promise<unknown>): Promise<AuditRow[]> {
    await work();
    const rows: AuditRow[] = await test
      .db('audit_log')
      .whereRaw("metadata -> 'via' IS NOT NULL")
      .whereNotIn('id', [...seen])
      .orderBy(['created_at', 'id'])
      .select('id', 'action', 'user_email', 'metadata');
    for (const { id } of rows) seen.add(id);
    return rows;
  }
  const callerOf = (name: string) => {
    const role = OPERATIONS.get(name)?.role === 'ADMIN' ? 'ADMIN' : 'EDITOR';
    return { role, agent: agents[role], person: role === 'ADMIN' ? teams.admin : teams.editor } as const;
  };

  for (const { name: tool, operation, effect } of CHANGING) {
    const { name } = operation;
    const row = ROWS[name];

    it(`${tool} is ${WAITING.includes(name) ? 'proposed' : 'refused'} where the token only proposes, and is nothing for a VIEWER or another team`, async () => {
      const { agent, person, role } = callerOf(name);
      const isOwn = row?.names === 'own';
      const theirs = isOwn ? null : await inputOf(name, teams.theirs, teams.root);
      const input = await inputOf(name, teams.ours, person);
      const isWaiting = WAITING.includes(name);
      const refused = await leftBy(async () => {
        const refusal = await agents.viewer.failure(tool, input);
        expect(refusal).to.match(isOwn ? /./ : /This needs the role (EDITOR|ADMIN)/);
        if (theirs)
          expect(await agent.writer.failure(tool, theirs)).to.match(
            row?.names === 'scope' ? /^You are not a member of this environment's team/ : / not found$/,
          );
        if (isWaiting) return;
        expect(await agent.proposer.failure(tool, input)).to.match(
          effect === 'writes'
            ? new RegExp(`^${tool} takes effect at once\\. This token only proposes changes: `)
            : /take effect at once: git does not describe what it changes\. This token only proposes changes: /,
        );
      });
      expect(refused).to.deep.equal([]);
      expect(agents.viewer.listed).to.not.include(tool);
      if (!isWaiting) expect(agent.proposer.listed.includes(tool)).to.equal(effect === 'proposes');
      // It was refused for nothing else: the same input is taken of a token that may.
      const done = await leftBy(() => agent[isWaiting ? 'proposer' : 'writer'].call(tool, input));
      expect(done.map(({ action }) => action).sort()).to.deep.equal(SEVERAL[name] ?? [auditOf(name)]);
      for (const one of done) {
        expect(one.user_email).to.equal(person.email);
        expect(one.metadata.via).to.deep.equal({
          ...{ transport: 'mcp', token: `an ${role} who ${isWaiting ? 'proposes' : 'writes'}` },
        });
      }
    });
  }
});

function auditOf(name: string): string {
  const operation = OPERATIONS.get(name);
  if (operation?.kind !== 'mutation') throw new Error(`${name} changes nothing`);
  return operation.audit;
}
