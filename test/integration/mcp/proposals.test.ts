/** What agents propose where git describes the target: promotions, recommendations, branches; and the same where nothing does. */
import { expect } from 'chai';
import { commit } from '../../support/clients/fast-import.ts';
import { agentToken, connectAgent } from '../../support/clients/mcp-client.ts';
import { drawPipeline } from '../../support/fixtures/graphs.ts';
import { NO_FIGURES } from '../../support/fixtures/recommendations.ts';
import { useController } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { bindToGit } from '../../support/scenes/git-binding.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';
import type { TestUser } from '../../support/users/person.ts';

const FILES = {
  'pipelines/orders.yaml': `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: orders }
spec:
  sources: { app: { type: demo_logs, format: json } }
  sinks: { out: { type: blackhole, inputs: [app] } }
`,
};
const NOT_A_MEMBER = "You are not a member of this environment's team";
const AT_ONCE =
  /take effect at once: git does not describe what it changes\. This token only proposes changes/;

describe('what agents propose', function () {
  this.timeout(90_000);
  const test = useController();
  const places = useTestEnvironments(test);
  const place = use(() => bindToGit(test, places, FILES));
  const agents = use(async () => {
    const connect = async (person: TestUser, scope: string, name: string) =>
      connectAgent(test.url, await agentToken(person, [scope], name), { tools: 'all' });
    return {
      viewer: await connect(places.viewer, 'mcp.write', 'reader'),
      proposer: await connect(places.editor, 'mcp', 'proposer'),
      writer: await connect(places.editor, 'mcp.write', 'writer'),
    };
  });
  const drawn = use(() => drawPipeline(places.editor, places.siblingId, undefined, 'payments'));

  const audited = (action: string) =>
    test
      .db('audit_log')
      .where({ action })
      .orderBy('created_at')
      .select('user_email', 'entity_id', 'metadata');
  const via = (token: string) => ({ via: { transport: 'mcp', token } });
  const pulls = () =>
    test
      .db('pull_requests')
      .orderBy('number')
      .select('number', 'title', 'body', 'author', 'state', 'branch', 'base');
  const named = (environmentId: string, name: string) =>
    test.db('pipelines').where({ environment_id: environmentId, name, tombstoned_at: null }).first('id');

  describe('as a promotion', () => {
    const into = (targetEnvironmentId: string) => ({ pipelineId: drawn.id, targetEnvironmentId });

    it('becomes a pull request where git describes the target, and changes nothing there', async () => {
      const before = place.head();
      const promotion = await agents.proposer.call('promotion_initiate', into(place.environmentId));
      expect(promotion).to.include({ status: 'AWAITING_PR_MERGE', updated: false });
      const [pull] = (await pulls()).slice(-1);
      expect(promotion.pullRequest).to.include({ number: pull?.number });
      expect(pull).to.include({ state: 'open', base: 'main', author: 'editor' });
      expect(place.head()).to.equal(before);
      expect(await named(place.environmentId, 'payments')).to.equal(undefined);
      const [row] = await audited('promotion.initiated');
      expect(row).to.include({ user_email: places.editor.email, entity_id: promotion.requestId });
      expect(row?.metadata).to.deep.include({ ...via('proposer'), status: 'AWAITING_PR_MERGE' });
    });

    it('is rolled back where it would be deployed at once, and is deployed for a token that may', async () => {
      const target = into(places.environmentId);
      const known = await test.db('promotions').select('id');
      expect(await agents.proposer.failure('promotion_initiate', target)).to.match(AT_ONCE);
      expect(await test.db('promotions').select('id')).to.deep.equal(known);
      expect(await named(places.environmentId, 'payments')).to.equal(undefined);
      expect(await agents.writer.call('promotion_initiate', target)).to.include({ status: 'DEPLOYED' });
      const made = await named(places.environmentId, 'payments');
      expect(made?.id).to.be.a('string');
      const row = (await audited('promotion.initiated')).at(-1);
      expect(row?.user_email).to.equal(places.editor.email);
      expect(row?.metadata).to.deep.include({ ...via('writer'), status: 'DEPLOYED' });
    });

    it('waits for an approval where the target asks for one, which no agent gives', async () => {
      const { id } = await places.admin.mutate<{ id: string }>('environment.create', {
        ...{ teamId: places.teamId, name: 'guarded' },
      });
      await test.db('environments').where({ id }).update({ require_approval: true });
      const { requestId, status } = await agents.proposer.call('promotion_initiate', into(id));
      expect(status).to.equal('PENDING');
      const approve = await agents.writer.client
        .callTool({ name: 'promotion_approve', arguments: { requestId } })
        .catch((error: Error) => error);
      expect(String(approve)).to.include('Tool promotion_approve not found');
      expect(await named(id, 'payments')).to.equal(undefined);
    });

    it('goes to no environment of another team, and is nothing for a VIEWER', async () => {
      expect(await agents.writer.failure('promotion_initiate', into(places.foreignId))).to.include(
        NOT_A_MEMBER,
      );
      const foreign = await drawPipeline(places.both, places.foreignId, undefined, 'theirs');
      expect(
        await agents.writer.failure('promotion_initiate', {
          ...{ pipelineId: foreign.id, targetEnvironmentId: places.environmentId },
        }),
      ).to.equal('Pipeline not found');
      expect(await agents.viewer.failure('promotion_initiate', into(place.environmentId))).to.include(
        'This needs the role EDITOR',
      );
      expect(await named(places.environmentId, 'theirs')).to.equal(undefined);
    });
  });

  describe('as a recommendation', () => {
    const recommend = async (environmentId: string, pipelineId: string, id: string) => {
      await test.db('cost_recommendations').insert({
        ...{ id, environment_id: environmentId, pipeline_id: pipelineId, type: 'LOW_REDUCTION' },
        figures: JSON.stringify(NO_FIGURES),
        change: JSON.stringify({
          ...{ action: 'insertTransform', sink: 'out', componentKey: 'keep_some', componentType: 'sample' },
          config: { rate: 10 },
        }),
      });
      return { environmentId, id };
    };
    const stored = (id: string) =>
      test.db('cost_recommendations').where({ id }).first('status', 'pull_request_id');

    it('becomes a pull request where git describes the pipeline, also where edits by hand are refused', async () => {
      await place.policy({ uiEdits: 'refuse' });
      const before = place.head();
      const id = await place.idOf('pipelines', 'orders');
      const which = await recommend(place.environmentId, id, 'in-git');
      const { proposed } = await agents.proposer.call<{ proposed: { number: number; branch: string } }>(
        'cost_recommendation_apply',
        which,
      );
      const pull = (await pulls()).find(({ number }) => number === proposed.number);
      expect(pull).to.include({ state: 'open', branch: proposed.branch, author: 'editor' });
      expect(place.head()).to.equal(before);
      expect(place.read('pipelines/orders.yaml', proposed.branch)).to.include('keep_some');
      expect(await stored('in-git')).to.include({ status: 'PENDING' });
      const [row] = await audited('costRecommendation.proposed');
      expect(row).to.include({ user_email: places.editor.email, entity_id: 'in-git' });
      expect(row?.metadata).to.deep.include({ ...via('proposer'), number: proposed.number });
      expect(await agents.writer.failure('cost_recommendation_apply', which)).to.include(
        `Pull request #${proposed.number} has this change already`,
      );
    });

    it('is rolled back where the pipeline is no manifest, and is a version for a token that may', async () => {
      const which = await recommend(places.siblingId, drawn.id, 'by-hand');
      const versions = () => test.db('pipeline_versions').where({ pipeline_id: drawn.id }).select('id');
      const before = await versions();
      expect(await agents.proposer.failure('cost_recommendation_apply', which)).to.match(AT_ONCE);
      expect(await versions()).to.deep.equal(before);
      expect(await stored('by-hand')).to.include({ status: 'PENDING' });
      await agents.writer.call('cost_recommendation_apply', which);
      expect(await versions()).to.have.length(before.length + 1);
      expect(await stored('by-hand')).to.include({ status: 'APPLIED' });
      const [row] = await audited('costRecommendation.applied');
      expect(row).to.include({ user_email: places.editor.email, entity_id: 'by-hand' });
      expect(row?.metadata).to.deep.include(via('writer'));
    });

    it('is found in its own environment alone', async () => {
      const { id } = await drawPipeline(places.both, places.foreignId, undefined, 'of theirs');
      const theirs = await recommend(places.foreignId, id, 'theirs');
      expect(await agents.writer.failure('cost_recommendation_apply', theirs)).to.include(NOT_A_MEMBER);
      const here = { ...theirs, environmentId: places.siblingId };
      expect(await agents.writer.failure('cost_recommendation_apply', here)).to.equal(
        'Recommendation not found',
      );
      expect(await stored('theirs')).to.include({ status: 'PENDING' });
    });
  });

  describe('as a branch', () => {
    const branch = (name: string) =>
      commit(place.gitdir, {
        ...{ branch: name, from: 'refs/heads/main', message: 'A topic' },
        files: { [`${place.folder}/notes.md`]: `${name}\n` },
      });
    const open = (name: string, environmentId = place.environmentId) => ({
      ...{ environmentId, branch: name, title: `About ${name}`, body: 'Why' },
    });

    it('is a pull request in the name of its owner, once', async () => {
      branch('topic');
      const { number } = await agents.proposer.call('pull_request_open', open('topic'));
      const pull = (await pulls()).find((one) => one.number === number);
      expect(pull).to.include({
        ...{
          title: 'About topic',
          body: 'Why',
          author: 'editor',
          state: 'open',
          branch: 'topic',
          base: 'main',
        },
      });
      const [row] = await audited('pullRequest.opened');
      expect(row?.user_email).to.equal(places.editor.email);
      expect(row?.metadata).to.deep.include(via('proposer'));
      expect(await agents.writer.failure('pull_request_open', open('topic'))).to.equal(
        `#${number} asks for "topic" already; go on there`,
      );
      // What decides about it stays with people; what goes on with it needs a token that may write.
      const which = { environmentId: place.environmentId, number };
      expect(await agents.proposer.failure('pull_request_comment', { ...which, body: 'Done' })).to.include(
        'takes effect at once',
      );
      await agents.writer.call('pull_request_comment', { ...which, body: 'Done' });
      const comments = await test.db('pull_request_comments').select('author', 'body');
      expect(comments.filter(({ body }) => body === 'Done')).to.deep.equal([
        { author: 'editor', body: 'Done' },
      ]);
    });

    it('is refused with what to do where there is nothing to ask for, and for whom has no right', async () => {
      branch('another');
      expect(await agents.proposer.failure('pull_request_open', open('main'))).to.include(
        'push a commit to another branch first',
      );
      expect(await agents.proposer.failure('pull_request_open', open('of nobody'))).to.match(/of nobody/);
      expect(
        await agents.proposer.failure('pull_request_open', open('another', places.siblingId)),
      ).to.include('not bound to git; configure it first');
      expect(await agents.writer.failure('pull_request_open', open('another', places.foreignId))).to.include(
        NOT_A_MEMBER,
      );
      expect(await agents.viewer.failure('pull_request_open', open('another'))).to.include(
        'This needs the role EDITOR',
      );
      expect((await pulls()).filter((one) => one.branch !== 'topic').map((one) => one.branch)).to.not.include(
        'another',
      );
    });
  });
});
