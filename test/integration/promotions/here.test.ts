// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as manifests and configs write them
/** Promotions into environments that git does not describe: at once, or after somebody else has approved. */
import { expect } from 'chai';
import type { Static } from 'typebox';
import type {
  InitiatedPromotion,
  Promotion,
  PromotionContent,
  PromotionDiffs,
  PromotionPreflight,
} from '../../../schemas/api/delivery/promotions.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import type { Version, VersionSummary } from '../../../schemas/api/pipelines/versions.ts';
import { AUTHORITY } from '../../support/fixtures/certificates.ts';
import { component, drawPipeline, edge, soundGraph } from '../../support/fixtures/graphs.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { beforeEngineCheck } from '../../support/scenes/engine-check.ts';
import { makeTestEnvironments, refusal, type TestEnvironments } from '../../support/scenes/places.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

type Initiated = Static<typeof InitiatedPromotion>;

const withSink = (config: Record<string, unknown>, source = '.seen = true') => ({
  nodes: [
    component('lines', 'demo_logs', 'SOURCE', { format: 'json' }),
    component('mark', 'remap', 'TRANSFORM', { source }),
    component('out', 'http', 'SINK', { uri: 'https://example.org', encoding: { codec: 'json' }, ...config }),
  ],
  edges: [edge('lines', 'mark'), edge('mark', 'out')],
});

describe('a promotion into an environment that git does not describe', () => {
  let test: TestController;
  let places: TestEnvironments;
  /** EDITOR in the team, beside `editor`. */
  let second: TestUser;
  let target: string;
  let made = 0;

  before(async function () {
    this.timeout(60_000);
    test = await startTestController();
    places = await makeTestEnvironments(test);
    await makeUser(test.db, { email: 'second@example.org', teams: { [places.teamId]: 'EDITOR' } });
    second = await signIn(test.url, 'second@example.org');
  });
  after(() => test?.stop());
  beforeEach(async () => {
    target = await environment({});
  });

  async function environment({ approval = false, teamId = places.teamId }): Promise<string> {
    const { id } = await places.root.mutate<{ id: string }>('environment.create', {
      teamId,
      name: `target ${++made}`,
    });
    await test.db('environments').where({ id }).update({ require_approval: approval });
    return id;
  }
  const draw = (graph = soundGraph(), name = `drawn ${++made}`) =>
    drawPipeline(places.editor, places.environmentId, graph, name);
  const initiate = (pipelineId: string, to = target, more: object = {}, person = places.editor) =>
    person.mutate<Initiated>('promotion.initiate', { pipelineId, targetEnvironmentId: to, ...more });
  const get = (requestId: string, person = places.editor) =>
    person.query<Promotion>('promotion.get', { requestId });
  const pipelineOf = (id: string) => places.editor.query<Pipeline>('pipeline.get', { id });
  const programOf = async (id: string) =>
    (await pipelineOf(id)).nodes.find(({ componentKey }) => componentKey === 'mark')?.config.source;
  const audited = async (entityId: string) =>
    test.db('audit_log').where({ entity_id: entityId }).orderBy('id').pluck('action');

  it('is deployed at once where nobody has to approve: a version that says where it comes from', async () => {
    const source = await draw();
    await places.editor.mutate('deploy.agent', { pipelineId: source.id, changelog: 'first' });
    const answer = await initiate(source.id);
    expect(answer).to.include({ status: 'DEPLOYED', updated: false, pullRequest: null });
    const id = answer.targetPipelineId ?? '';
    expect(await pipelineOf(id)).to.include({
      name: source.name,
      environmentId: target,
      isDraft: false,
      deployedVersionNumber: 1,
      hasConfigChanges: false,
    });
    const [version] = await places.editor.query<VersionSummary[]>('pipeline.versions', { pipelineId: id });
    expect(version).to.include({
      changelog: 'Promoted from staging version 1',
      createdByName: 'editor',
      isDeployed: true,
    });
    const told = await get(answer.requestId);
    expect(told).to.include({
      status: 'DEPLOYED',
      sourceVersion: 1,
      targetVersion: 1,
      requestedBy: 'editor',
      targetPipelineId: id,
      lastError: null,
      decidedBy: null,
    });
    expect(told.deployedAt).to.be.a('string');
    expect(await audited(answer.requestId)).to.deep.equal(['promotion.initiated']);
    expect(await audited(id)).to.deep.equal(['pipeline.created']);
  });

  it('is refused where a secret or a certificate is deleted there while it is being checked', async () => {
    const input = { environmentId: target, name: 'meanwhile', value: 'a value' };
    const secret = await places.root.mutate<{ id: string }>('secret.create', input);
    const ca = await places.root.mutate<{ id: string }>('certificate.upload', {
      ...{ environmentId: target, name: 'ca', filename: 'ca.pem', fileType: 'ca' },
      dataBase64: Buffer.from(AUTHORITY).toString('base64'),
    });
    const source = await draw(
      withSink({
        auth: { strategy: 'bearer', token: '${SVC_SECRET_MEANWHILE}' },
        tls: { ca_file: '${SVC_CERT_DIR}/ca.pem' },
      }),
    );
    const said = await beforeEngineCheck(
      test,
      async () => {
        await places.root.mutate('secret.delete', { environmentId: target, id: secret.id });
        await places.root.mutate('certificate.delete', { environmentId: target, id: ca.id });
      },
      () =>
        refusal(places.editor, 'mutation', 'promotion.initiate', {
          ...{ pipelineId: source.id, targetEnvironmentId: target },
        }),
    );
    expect(said).to.match(
      /^CONFLICT: Deleted while the pipeline was being checked: SVC_SECRET_MEANWHILE, ca\.pem/,
    );
  });

  it('brings what was promoted before up to date, and leaves what is the environment’s own', async () => {
    const source = await draw(soundGraph('.step = 1'));
    const first = await initiate(source.id);
    const id = first.targetPipelineId ?? '';
    await places.editor.mutate('pipeline.update', { id, nodeSelector: { role: 'edge' } });
    await places.editor.mutate('pipeline.update', {
      id: source.id,
      description: 'as it is now',
      logLevel: 'warn',
      labels: { tier: '1' },
      nodeSelector: { role: 'test' },
    });
    await places.editor.mutate('pipeline.saveGraph', { pipelineId: source.id, ...soundGraph('.step = 2') });
    const again = await initiate(source.id);
    expect(again).to.include({ status: 'DEPLOYED', targetPipelineId: id });
    expect(again.requestId).not.to.equal(first.requestId);
    expect(await programOf(id)).to.equal('.step = 2');
    const now = await pipelineOf(id);
    expect(now).to.include({ description: 'as it is now', logLevel: 'warn', deployedVersionNumber: 2 });
    expect(now.labels).to.deep.equal({ tier: '1' });
    expect(now.nodeSelector).to.deep.equal({ role: 'edge' });
    const { latestVersion } = now;
    const version = await places.editor.query<Version>('pipeline.getVersion', {
      versionId: latestVersion?.id,
    });
    expect(version.nodeSelector).to.deep.equal({ role: 'edge' });
  });

  it('follows what it became there though that was renamed, unless another name is asked for', async () => {
    const source = await draw();
    const { targetPipelineId: id } = await initiate(source.id);
    await places.editor.mutate('pipeline.update', { id, name: `renamed ${made}` });
    expect(await initiate(source.id)).to.include({ targetPipelineId: id });
    const other = await initiate(source.id, target, { name: `other ${made}` });
    expect(other.targetPipelineId).not.to.equal(id);
  });

  it('does not take a pipeline for its own that was not promoted from it', async () => {
    const source = await draw();
    const namesake = await drawPipeline(places.editor, target, soundGraph(), source.name.toUpperCase());
    const told = await places.editor.query<PromotionPreflight>('promotion.preflight', {
      pipelineId: source.id,
      targetEnvironmentId: target,
    });
    expect(told.canProceed).to.equal(false);
    expect(told.nameCollision).to.include({ pipelineId: namesake.id, kind: 'taken' });
    expect(
      await refusal(places.editor, 'mutation', 'promotion.initiate', {
        pipelineId: source.id,
        targetEnvironmentId: target,
      }),
    ).to.match(
      /^CONFLICT: .* has a pipeline "DRAWN \d+" that was not promoted from this one; choose another name/,
    );
    expect(await initiate(source.id, target, { name: 'another name' })).to.include({ status: 'DEPLOYED' });
  });

  it('needs the secrets that the pipeline names before anything is written', async () => {
    const source = await draw(withSink({ auth: { strategy: 'bearer', token: '${SVC_SECRET_API_TOKEN}' } }));
    const input = { pipelineId: source.id, targetEnvironmentId: target };
    expect(await refusal(places.editor, 'mutation', 'promotion.initiate', input)).to.match(
      /^PRECONDITION_FAILED: target \d+ lacks SVC_SECRET_API_TOKEN; create what is missing there first$/,
    );
    const told = await places.viewer.query<PromotionPreflight>('promotion.preflight', input);
    expect(told).to.deep.include({ canProceed: false, missingSecrets: ['SVC_SECRET_API_TOKEN'] });
    expect(await test.db('promotions').where({ target_environment_id: target })).to.deep.equal([]);
    expect(await test.db('pipelines').where({ environment_id: target })).to.deep.equal([]);
    await places.editor.mutate('secret.create', { environmentId: target, name: 'api_token', value: 'x' });
    expect(await initiate(source.id)).to.include({ status: 'DEPLOYED' });
  });

  it('carries no credential that is written out: the target needs its own, and keeps it', async () => {
    const auth = (password: string) => ({ auth: { strategy: 'basic', user: 'shipper', password } });
    const source = await draw(withSink(auth('of-staging')));
    const input = { pipelineId: source.id, targetEnvironmentId: target };
    expect(await refusal(places.editor, 'mutation', 'promotion.initiate', input)).to.match(
      /^PRECONDITION_FAILED: Credentials that are written out do not travel \(\/out\/auth\/password\)/,
    );
    await places.editor.mutate('pipeline.saveGraph', {
      pipelineId: source.id,
      ...withSink(auth('${SVC_SECRET_PASSWORD}')),
    });
    await places.editor.mutate('secret.create', { environmentId: target, name: 'password', value: 'x' });
    const { targetPipelineId: id } = await initiate(source.id);
    const there = await pipelineOf(id ?? '');
    await places.editor.mutate('pipeline.saveGraph', {
      pipelineId: id,
      nodes: there.nodes.map((node) =>
        node.componentKey === 'out'
          ? { ...node, config: { ...node.config, ...auth('of-production') } }
          : node,
      ),
      edges: there.edges,
    });
    await places.editor.mutate('pipeline.saveGraph', {
      pipelineId: source.id,
      ...withSink(auth('of-staging'), '.step = 2'),
    });
    const { requestId } = await initiate(source.id);
    const out = (await pipelineOf(id ?? '')).nodes.find(({ componentKey }) => componentKey === 'out');
    expect(out?.config.auth).to.deep.equal(auth('of-production').auth);
    expect(await programOf(id ?? '')).to.equal('.step = 2');
    const { snapshot } = await test.db('promotions').where({ id: requestId }).first('snapshot');
    expect(JSON.stringify(snapshot)).not.to.contain('of-staging');
  });

  it('is not deployed where it is not sound, and says why', async () => {
    const source = await draw(soundGraph('.a = nonsense('));
    const { status, fault } = await places.editor.call('mutation', 'promotion.initiate', {
      pipelineId: source.id,
      targetEnvironmentId: target,
    });
    expect([status, fault?.message]).to.deep.equal([400, fault?.message]);
    expect(fault?.message).to.match(/^The pipeline is not deployed: VRL in "mark" does not compile/);
    expect(fault?.data.validationErrors).to.have.length(1);
  });

  it('depends on those of the same names that are there', async () => {
    const source = await draw();
    const [up, absent] = [await draw(), await draw()];
    for (const upstreamId of [up.id, absent.id])
      await places.editor.mutate('pipelineDependency.add', { upstreamId, downstreamId: source.id });
    await initiate(up.id);
    const { targetPipelineId } = await initiate(source.id);
    const list = () =>
      places.editor.query<{ upstreamName: string }[]>('pipelineDependency.list', {
        pipelineId: targetPipelineId,
      });
    expect((await list()).map(({ upstreamName }) => upstreamName)).to.deep.equal([up.name]);
    await initiate(source.id);
    expect(await list()).to.have.length(1);
  });

  it('refuses its own environment, one that is not the caller’s, and one in which they only look', async () => {
    const source = await draw();
    const input = { pipelineId: source.id, targetEnvironmentId: places.environmentId };
    expect(await refusal(places.editor, 'mutation', 'promotion.initiate', input)).to.match(/^BAD_REQUEST: /);
    const foreign = { ...input, targetEnvironmentId: places.foreignId };
    for (const name of ['promotion.initiate', 'promotion.preflight'])
      expect(
        await refusal(places.editor, name === 'promotion.initiate' ? 'mutation' : 'query', name, foreign),
      ).to.equal("FORBIDDEN: You are not a member of this environment's team");
    await makeUser(test.db, {
      email: 'looks@example.org',
      teams: { [places.teamId]: 'EDITOR', [places.otherTeamId]: 'VIEWER' },
    });
    const looks = await signIn(test.url, 'looks@example.org');
    expect(await refusal(looks, 'mutation', 'promotion.initiate', foreign)).to.equal(
      'FORBIDDEN: This needs the role EDITOR in the team of the target environment',
    );
    expect(await refusal(looks, 'query', 'promotion.preflight', foreign)).to.equal('OK');
    const theirs = await drawPipeline(places.both, places.foreignId);
    expect(
      await refusal(places.editor, 'mutation', 'promotion.initiate', { ...foreign, pipelineId: theirs.id }),
    ).to.match(/^NOT_FOUND: /);
  });

  it('waits for an environment that only observes git to be something else', async () => {
    const source = await draw();
    await places.admin.mutate('gitSync.configure', {
      environmentId: target,
      mode: 'observe',
      path: `nowhere-${made}`,
    });
    const input = { pipelineId: source.id, targetEnvironmentId: target };
    expect(await refusal(places.editor, 'mutation', 'promotion.initiate', input)).to.match(
      /^PRECONDITION_FAILED: target \d+ observes only/,
    );
    const { blockers, canProceed } = await places.editor.query<PromotionPreflight>(
      'promotion.preflight',
      input,
    );
    expect([canProceed, blockers.length]).to.deep.equal([false, 1]);
  });

  it('does not get in the way of a rollout by stages', async () => {
    const source = await draw();
    const { targetPipelineId: id } = await initiate(source.id);
    const [version] = await places.editor.query<VersionSummary[]>('pipeline.versions', { pipelineId: id });
    await test.db('rollouts').insert({
      id: `rollout ${made}`,
      pipeline_id: id,
      environment_id: target,
      canary_version_id: version?.id,
      canary_selector: '{}',
      window_minutes: 5,
      status: 'CANARY_DEPLOYED',
      source: 'ui',
      created_by: 'editor',
    });
    expect(
      await refusal(places.editor, 'mutation', 'promotion.initiate', {
        pipelineId: source.id,
        targetEnvironmentId: target,
      }),
    ).to.match(
      /^PRECONDITION_FAILED: .* is being rolled out by stages there; broaden that rollout or roll it back/,
    );
    await test
      .db('rollouts')
      .where({ id: `rollout ${made}` })
      .delete();
  });

  it('is told before: what would change, with credentials for those alone who may change them', async () => {
    const source = await draw(withSink({ auth: { strategy: 'basic', user: 'u', password: 'plain-word' } }));
    const input = { pipelineId: source.id, targetEnvironmentId: target };
    const { targets } = await places.editor.query<PromotionDiffs>('promotion.diffPreview', input);
    expect(targets).to.have.length(1);
    const [diff] = targets;
    expect(diff).to.include({ targetPipelineId: null, targetName: source.name, targetEnvironmentId: target });
    expect(diff?.diff).to.contain('+kind: Pipeline').and.contain('--- /dev/null');
    expect(diff?.engineDiff).to.contain('+  mark:');
    expect(diff?.diff).not.to.contain('plain-word');
    expect(diff?.fields.map(({ pointer }) => pointer)).to.include('/sinks');
    const { targets: none } = await places.editor.query<PromotionDiffs>('promotion.diffPreview', {
      pipelineId: source.id,
    });
    expect(none).to.deep.equal([]);
  });

  it('shows a viewer none of the target’s own credentials', async () => {
    const auth = (password: string) => ({ auth: { strategy: 'basic', user: 'u', password } });
    const source = await draw(withSink(auth('${SVC_SECRET_X}')));
    await places.editor.mutate('secret.create', { environmentId: target, name: 'x', value: 'x' });
    const { targetPipelineId: id } = await initiate(source.id);
    const there = await pipelineOf(id ?? '');
    await places.editor.mutate('pipeline.saveGraph', {
      pipelineId: id,
      nodes: there.nodes.map((node) =>
        node.componentKey === 'out'
          ? { ...node, config: { ...node.config, ...auth('of-production') } }
          : node,
      ),
      edges: there.edges,
    });
    const input = { pipelineId: source.id, targetEnvironmentId: target };
    const seen = await places.viewer.query<PromotionDiffs>('promotion.diffPreview', input);
    expect(JSON.stringify(seen)).not.to.contain('of-production');
    const all = await places.editor.query<PromotionDiffs>('promotion.diffPreview', input);
    expect(all.targets[0]?.diff).to.contain('of-production');
  });

  describe('where another member of the team has to approve', () => {
    beforeEach(async () => {
      target = await environment({ approval: true });
    });
    const decide = (what: string, requestId: string, person: TestUser, more: object = {}) =>
      person.mutate<{ status: string; targetPipelineId: string | null }>(`promotion.${what}`, {
        requestId,
        ...more,
      });

    it('waits, and ships what was asked for however the source changes meanwhile', async () => {
      const source = await draw(soundGraph('.step = 1'));
      const { requestId, status, targetPipelineId } = await initiate(source.id);
      expect([status, targetPipelineId]).to.deep.equal(['PENDING', null]);
      await places.editor.mutate('pipeline.saveGraph', { pipelineId: source.id, ...soundGraph('.step = 2') });
      const done = await decide('approve', requestId, second);
      expect(done.status).to.equal('DEPLOYED');
      expect(await programOf(done.targetPipelineId ?? '')).to.equal('.step = 1');
      expect(await get(requestId)).to.include({
        status: 'DEPLOYED',
        decidedBy: 'second',
        targetVersion: 1,
        lastError: null,
      });
      expect(await audited(requestId)).to.deep.equal(['promotion.initiated', 'promotion.approved']);
    });

    it('is not approved by who asked for it, through whatever door, nor by a program', async () => {
      const { requestId } = await initiate((await draw()).id);
      const own = await refusal(places.editor, 'mutation', 'promotion.approve', { requestId });
      expect(own).to.match(/^FORBIDDEN: You asked for this promotion yourself/);
      const root = await places.root.mutate<Initiated>('promotion.initiate', {
        pipelineId: (await draw()).id,
        targetEnvironmentId: target,
      });
      expect(
        await refusal(places.root, 'mutation', 'promotion.approve', { requestId: root.requestId }),
      ).to.match(/^FORBIDDEN: /);
      const { promotionDecisions } = await import('../../../controller/delivery/promotions/index.ts');
      const ctx = test.controller.systemContext('a job');
      const asProgram = await test.controller
        .execute(promotionDecisions.approve, ctx, { requestId })
        .catch((error) => error);
      expect(asProgram.message).to.match(/^Only people approve promotions/);
      expect(await refusal(places.viewer, 'mutation', 'promotion.approve', { requestId })).to.match(
        /^FORBIDDEN: /,
      );
    });

    it('stays as it is where the deploy fails, says why, and is approved once that is mended', async () => {
      const source = await draw(withSink({ auth: { strategy: 'bearer', token: '${SVC_SECRET_LATE}' } }));
      const { requestId } = await initiate(source.id);
      expect(await refusal(second, 'mutation', 'promotion.approve', { requestId })).to.match(
        /^PRECONDITION_FAILED: .* lacks SVC_SECRET_LATE/,
      );
      const told = await get(requestId);
      expect(told).to.include({ status: 'PENDING', decidedBy: null, targetPipelineId: null });
      expect(told.lastError).to.match(/lacks SVC_SECRET_LATE/);
      expect(await test.db('pipelines').where({ environment_id: target })).to.deep.equal([]);
      expect(await audited(requestId)).to.deep.equal(['promotion.initiated', 'promotion.failed']);
      await places.editor.mutate('secret.create', { environmentId: target, name: 'late', value: 'x' });
      await decide('approve', requestId, second);
      expect(await get(requestId)).to.include({ status: 'DEPLOYED', lastError: null });
    });

    it('stays as it is where its name was taken meanwhile', async () => {
      const source = await draw();
      const { requestId } = await initiate(source.id);
      await drawPipeline(places.editor, target, soundGraph(), source.name);
      expect(await refusal(second, 'mutation', 'promotion.approve', { requestId })).to.match(/^CONFLICT: /);
      expect((await get(requestId)).lastError).to.match(/choose another name/);
    });

    it('is rejected with a word, and then decided on by nobody any more', async () => {
      const source = await draw();
      const { requestId } = await initiate(source.id);
      await decide('reject', requestId, second, { note: ' not before Monday ' });
      expect(await get(requestId)).to.include({
        status: 'REJECTED',
        note: 'not before Monday',
        decidedBy: 'second',
      });
      for (const what of ['approve', 'reject'])
        expect(await refusal(second, 'mutation', `promotion.${what}`, { requestId })).to.match(
          /^PRECONDITION_FAILED: .* was rejected/,
        );
      expect(await refusal(places.editor, 'mutation', 'promotion.cancel', { requestId })).to.match(
        /^PRECONDITION_FAILED/,
      );
      expect((await initiate(source.id)).requestId).not.to.equal(requestId);
    });

    it('is cancelled by who asked for it, and by nobody else', async () => {
      const { requestId } = await initiate((await draw()).id);
      expect(await refusal(second, 'mutation', 'promotion.cancel', { requestId })).to.match(
        /^FORBIDDEN: Only editor, who asked for it/,
      );
      await decide('cancel', requestId, places.editor);
      expect(await get(requestId)).to.include({ status: 'CANCELLED' });
      expect(await refusal(places.editor, 'mutation', 'promotion.cancel', { requestId })).to.match(
        /^PRECONDITION_FAILED: .* was cancelled/,
      );
    });

    it('is asked for anew by the second request for the same, whoever makes that', async () => {
      const source = await draw(soundGraph('.step = 1'));
      const first = await initiate(source.id);
      await places.editor.mutate('pipeline.saveGraph', { pipelineId: source.id, ...soundGraph('.step = 2') });
      const again = await initiate(source.id, target, {}, second);
      expect(again).to.deep.include({ requestId: first.requestId, updated: true, status: 'PENDING' });
      expect(await refusal(second, 'mutation', 'promotion.approve', first)).to.match(/^BAD_REQUEST/);
      expect(await refusal(second, 'mutation', 'promotion.approve', { requestId: first.requestId })).to.match(
        /^FORBIDDEN/,
      );
      const done = await decide('approve', first.requestId, places.editor);
      expect(await programOf(done.targetPipelineId ?? '')).to.equal('.step = 2');
    });

    it('ships what its approver has looked at, and nothing that was asked for since', async () => {
      const source = await draw(soundGraph('.step = 1'));
      const { requestId } = await initiate(source.id);
      const look = () => second.query<Static<typeof PromotionContent>>('promotion.content', { requestId });
      const seen = await look();
      expect(seen.change.diff).to.contain('.step = 1');
      await places.editor.mutate('pipeline.saveGraph', { pipelineId: source.id, ...soundGraph('.step = 2') });
      expect(await look(), 'what waits is what was asked for').to.deep.equal(seen);
      await initiate(source.id);
      const { digest } = seen;
      expect(await refusal(second, 'mutation', 'promotion.approve', { requestId, digest })).to.match(
        /^CONFLICT: The promotion was requested again meanwhile/,
      );
      const again = await look();
      expect(again.change.diff).to.contain('.step = 2');
      const done = await decide('approve', requestId, second, { digest: again.digest });
      expect(await programOf(done.targetPipelineId ?? '')).to.equal('.step = 2');
      expect(await refusal(second, 'query', 'promotion.content', { requestId })).to.match(
        /^PRECONDITION_FAILED: .* is deployed already/,
      );
    });

    it('becomes one request of two that come at once, and one deploy of two approvals', async () => {
      const source = await draw();
      const both = await Promise.all(Array.from({ length: 5 }, () => initiate(source.id)));
      expect(new Set(both.map(({ requestId }) => requestId)).size).to.equal(1);
      const requestId = both[0]?.requestId ?? '';
      const answers = await Promise.all(
        [second, places.admin, places.root, places.both].map((person) =>
          person.call('mutation', 'promotion.approve', { requestId }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412]);
      const { targetPipelineId } = await get(requestId);
      expect(
        await places.editor.query<VersionSummary[]>('pipeline.versions', { pipelineId: targetPipelineId }),
      ).to.have.length(1);
    });

    it('is approved or cancelled where both come at once, and never both', async () => {
      for (let round = 0; round < 5; round += 1) {
        const source = await draw();
        const { requestId } = await initiate(source.id);
        const [approved, cancelled] = await Promise.all([
          second.call('mutation', 'promotion.approve', { requestId }),
          places.editor.call('mutation', 'promotion.cancel', { requestId }),
        ]);
        const { status, targetPipelineId } = await get(requestId);
        expect([approved.status, cancelled.status].sort()).to.deep.equal([200, 412]);
        expect(status).to.equal(approved.status === 200 ? 'DEPLOYED' : 'CANCELLED');
        expect(targetPipelineId !== null).to.equal(status === 'DEPLOYED');
      }
    });

    it('is nothing to other teams, who see names at most', async () => {
      const foreign = await environment({ approval: true, teamId: places.otherTeamId });
      const source = await draw();
      const { requestId } = await initiate(source.id, foreign, {}, places.both);
      await makeUser(test.db, {
        email: `theirs${made}@example.org`,
        teams: { [places.otherTeamId]: 'EDITOR' },
      });
      const theirs = await signIn(test.url, `theirs${made}@example.org`);
      // Of the source's team alone: reads, and decides nothing.
      const seen = await get(requestId, places.editor);
      expect(seen).to.include({ pipelineId: source.id, targetPipelineId: null, lastError: null });
      expect(await refusal(places.editor, 'mutation', 'promotion.approve', { requestId })).to.match(
        /^NOT_FOUND/,
      );
      expect(await get(requestId, theirs)).to.include({
        pipelineId: null,
        sourceVersion: null,
        sourceEnvironmentName: 'staging',
      });
      expect((await decide('approve', requestId, theirs)).status).to.equal('DEPLOYED');
      await makeUser(test.db, { email: `nobody${made}@example.org` });
      const nobody = await signIn(test.url, `nobody${made}@example.org`);
      for (const what of ['get', 'approve', 'reject', 'cancel'])
        expect(
          await refusal(nobody, what === 'get' ? 'query' : 'mutation', `promotion.${what}`, { requestId }),
        ).to.equal('NOT_FOUND: Promotion not found');
      const listed = await theirs.query<Promotion[]>('promotion.list', { environmentId: foreign });
      expect(listed.map(({ id }) => id)).to.deep.equal([requestId]);
      const out = await places.editor.query<Promotion[]>('promotion.list', {
        environmentId: places.environmentId,
        status: 'DEPLOYED',
        limit: 1,
      });
      expect(out.map(({ id, targetPipelineId }) => [id, targetPipelineId])).to.deep.equal([
        [requestId, null],
      ]);
    });
  });

  it('is remembered: the last 20 of a pipeline, newest first, of the source and of what it became', async () => {
    const source = await draw();
    const ids: string[] = [];
    for (let count = 0; count < 22; count += 1) ids.push((await initiate(source.id)).requestId);
    const list = await places.viewer.query<Promotion[]>('promotion.history', { pipelineId: source.id });
    expect(list.map(({ id }) => id)).to.deep.equal(ids.reverse().slice(0, 20));
    const there = await places.viewer.query<Promotion[]>('promotion.history', {
      pipelineId: list[0]?.targetPipelineId,
    });
    expect(there).to.deep.equal(list);
  });
});
