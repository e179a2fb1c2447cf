import { expect } from 'chai';
import { git } from '../../support/clients/fast-import.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { bindToGit, type GitBindingScene } from '../../support/scenes/git-binding.ts';
import { makeTestEnvironments } from '../../support/scenes/places.ts';

const FILE = 'pipelines/orders.yaml';
const pipeline = (interval: number, description: string): string => `# Owned by the platform team
apiVersion: headgate/v1
kind: Pipeline
metadata: { name: orders }
spec:
  description: ${description}
  values: { codec: json }
  sources:
    app: { type: demo_logs, format: json, interval: ${interval} } # seconds
  sinks:
    out: { type: console, inputs: [app], encoding: { codec: "\${value.codec}" } }
`;

interface Proposal {
  number: number;
  title: string;
  branch: string;
  state: string;
  author: string;
}

describe('a rollback of what git describes', () => {
  const test = useController();
  let place: GitBindingScene;
  let pipelineId: string;

  before(async function () {
    this.timeout(60_000);
    const places = await makeTestEnvironments(test);
    place = await bindToGit(test, places, { [FILE]: pipeline(5, 'first') });
    await place.apply({ [FILE]: pipeline(1, 'second') });
    pipelineId = await place.idOf('pipelines', 'orders');
  });

  const proposals = () =>
    place.editor.query<Proposal[]>('pullRequest.list', { environmentId: place.environmentId });
  const versions = () =>
    place.editor.query<{ id: string; version: number }[]>('pipeline.versions', { pipelineId });

  it('is proposed to git: what a version holds, and no other line', async () => {
    const first = (await versions()).find(({ version }) => version === 1);
    await place.editor.mutate('pipeline.rollback', { pipelineId, targetVersionId: first?.id });
    await until(async () => (await proposals()).length === 1, { what: 'the proposal is made' });
    const [made] = await proposals();
    expect(made).to.include({ title: 'Roll back the pipeline orders', state: 'open', author: 'Headgate' });
    expect(place.read(FILE, made?.branch)).to.equal(pipeline(5, 'second').trim());
    expect(place.read(FILE)).to.equal(pipeline(1, 'second').trim());
    const { body } = await test.db('pull_requests').where({ branch: made?.branch }).first('body');
    expect(body).to.match(/^Rolled back to version 1 by .+\. Changes \/spec\/sources\/app\/interval\.$/);
  });

  it('leaves an audit row that names the proposal', async () => {
    const audited = () =>
      test.db('audit_log').where({ action: 'gitSync.proposed' }).first('metadata', 'entity_id');
    // Written a moment after the pull request is open.
    await until(async () => (await audited()) !== undefined, { what: 'the audit row' });
    const row = await audited();
    expect(row.entity_id).to.equal(pipelineId);
    expect(row.metadata).to.include({ name: 'orders', number: (await proposals())[0]?.number });
  });

  it('is no hold any more once the proposal is merged', async () => {
    const [made] = await proposals();
    const before = (await versions()).length;
    git(place.gitdir, 'update-ref', 'refs/heads/main', made?.branch ?? '');
    await place.apply({ 'notes.txt': 'merged' });
    const row = await test.db('git_manifests').where({ object_id: pipelineId }).first('conditions');
    const applied = row.conditions.find(({ type }: { type: string }) => type === 'Applied');
    expect(applied.status).to.equal('True');
    expect((await versions()).length - before).to.be.lessThan(2);
    expect(place.read(FILE)).to.equal(pipeline(5, 'second').trim());
  });
});
