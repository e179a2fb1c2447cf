/** A deployed pipeline is never missing from what a node is served because something fails inside: absence stops engines. */
import { expect } from 'chai';
import type { PipelineEntry } from '../../schemas/agent/protocol.ts';
import { enrollNode, type TestNode } from '../support/agents/agent-client.ts';
import { Clone } from '../support/clients/clone.ts';
import { withCredentials } from '../support/clients/git-client.ts';
import type { HttpResponse } from '../support/clients/http.ts';
import { idleManifest } from '../support/fixtures/pipelines.ts';
import {
  startTestController,
  type TestController,
  useController,
  useRoot,
} from '../support/harness/controller.ts';
import { until } from '../support/harness/until.ts';
import { enrollmentToken } from '../support/scenes/places.ts';
import { testEnvironment } from '../support/scenes/two-teams.ts';

const KEY = 'a key of the test, long enough to be taken';
const REFERENCE = `\${SVC_SECRET_SHOP_KEY}`;

describe('the config of a node whose secrets cannot be opened', function () {
  this.timeout(30_000);
  const first = useController({ secretKey: KEY });
  const root = useRoot(first);
  let second: TestController | undefined;
  let node: TestNode;
  let environmentId: string;
  let good: HttpResponse;

  let clone: Clone;

  const entries = (answer: HttpResponse) => answer.json<{ pipelines: PipelineEntry[] }>().pipelines;
  const entry = (answer: HttpResponse, name: string) =>
    entries(answer).find((one) => one.pipelineName === name);
  /** The same node, asking another replica. */
  const askedOf = (url: string) =>
    fetch(`${url}/api/agent/config`, { headers: { authorization: `Bearer ${node.nodeToken}` } });

  before(async () => {
    ({ environmentId } = await testEnvironment(root));
    await root.mutate('secret.create', { environmentId, name: 'shop-key', value: 'first value' });
    await root.mutate('gitSync.configure', {
      environmentId,
      mode: 'sync',
      repositoryUrl: 'embedded',
      branch: 'main',
      path: 'environments/staging',
    });
    const { token } = await root.mutate<{ token: string }>('user.createToken', { name: 'git' });
    clone = await Clone.of(withCredentials(`${first.url}/git/config.git`, 'git', token));
    await clone.push('Two pipelines', {
      'environments/staging/plain.yaml': idleManifest('plain'),
      'environments/staging/secretive.yaml': idleManifest('secretive').replace(
        'type: blackhole',
        `type: blackhole, note: "${REFERENCE}"`,
      ),
    });
    node = await enrollNode(first.url, await enrollmentToken(root, environmentId));
    good = await node.config();
    expect(entries(good).map(({ pipelineName }) => pipelineName)).to.have.members(['plain', 'secretive']);
    const rows = await first.db('secrets').update({ sealed_value: 'no longer what was sealed' });
    expect(rows).to.equal(1);
  });
  after(async () => {
    await clone?.remove();
    await second?.stop();
  });

  it('keeps the last good rendering of the pipeline that cannot be rendered, and takes changes of the others', async () => {
    for (const description of ['one', 'two']) {
      await clone.push(`Say ${description}`, {
        'environments/staging/plain.yaml': idleManifest('plain', description).replace(
          'interval: 1',
          `interval: ${description.length}`,
        ),
      });
      await until(
        async () => {
          const answer = await node.config();
          expect(answer.status).to.equal(200);
          expect(entry(answer, 'secretive')).to.deep.equal(entry(good, 'secretive'));
          expect(entries(answer)).to.have.length(2);
          return (entry(answer, 'plain')?.version ?? 0) > (entry(good, 'plain')?.version ?? 0);
        },
        { what: 'the change of the other pipeline', everyMs: 50 },
      );
    }
    expect(first.log()).to.contain('a pipeline could not be rendered');
  });

  it('is the last good one as a whole while the database does not give what it needs', async () => {
    const before = await node.config();
    await first.db.schema.renameTable('secrets', 'secrets_away');
    try {
      const { bus } = first.controller.systemContext('test').services;
      await bus.publish(first.db, { type: 'config', environmentId, reason: 'test' });
      await until(
        async () => {
          const answer = await node.config();
          expect([answer.status, answer.text]).to.deep.equal([200, before.text]);
          return first.log().includes('config could not be rendered');
        },
        { what: 'the controller to try to render anew', everyMs: 50 },
      );
    } finally {
      await first.db.schema.renameTable('secrets_away', 'secrets');
    }
  });

  it('is refused with 503 by a controller that has no good one', async () => {
    second = await startTestController({ secretKey: KEY, databaseUrl: first.databaseUrl });
    const answer = await askedOf(second.url);
    expect(answer.status).to.equal(503);
    expect(await answer.json()).to.deep.equal({
      error: 'the configuration cannot be read at the moment',
    });
  });

  it('is whole again on both once the secret is set anew', async () => {
    const secrets = await root.query<{ id: string; name: string }[]>('secret.list', { environmentId });
    const id = secrets.find(({ name }) => name === 'shop-key')?.id;
    await root.mutate('secret.update', { environmentId, id, value: 'second value' });
    for (const url of [first.url, second?.url ?? '']) {
      let text = '';
      await until(
        async () => {
          text = await (await askedOf(url)).text();
          return text.includes('second value');
        },
        { what: () => `the new value from ${url}: ${text}`, everyMs: 50 },
      );
      const served = JSON.parse(text) as { pipelines: PipelineEntry[] };
      expect(served.pipelines.map(({ pipelineName }) => pipelineName)).to.have.members([
        'plain',
        'secretive',
      ]);
    }
  });
});
