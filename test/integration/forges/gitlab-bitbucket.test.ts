/** What is GitLab's and Bitbucket's own. */
import { expect } from 'chai';
import {
  BitbucketServer,
  clientOf,
  faultOf,
  GitLabServer,
  shaOf,
  useForge,
} from '../../support/servers/forges/index.ts';

const STATUS = { context: 'headgate/prod', description: 'd', url: 'https://x.org/1' };

describe('GitLab', () => {
  const { server, client } = useForge(GitLabServer);

  it('is not troubled by what it takes no status for: what is pending already, and the head of a fork', async () => {
    server.add();
    server.add({ isFork: true });
    await client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'pending' });
    await client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'pending' });
    await client.forge.setStatus(shaOf('head 2'), { ...STATUS, state: 'success' });
    expect(server.statuses).to.have.length(1);
    server.fault = () => ({
      status: 400,
      text: '{"message":"Cannot transition status via :drop from :success"}',
    });
    expect(await faultOf(client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'failure' }))).to.match(
      /^refused/,
    );
    server.fault = () => ({ status: 400, text: '{"message":"state does not have a valid value"}' });
    expect(await faultOf(client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'success' }))).to.match(
      /^refused: .*status 400 \(state does not have a valid value\)/,
    );
  });

  it('puts a status onto the branch, and into the pipeline that ran for the commit', async () => {
    server.add();
    await client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'pending', ref: 'add-web' });
    server.pipelines.set(shaOf('head 1'), { id: 77, ref: 'add-web' });
    await client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'success', ref: 'add-web' });
    await client.forge.setStatus(shaOf('elsewhere'), { ...STATUS, state: 'success' });
    expect(server.toldOf).to.deep.equal([
      { sha: shaOf('head 1'), ref: 'add-web', pipelineId: undefined },
      { sha: shaOf('head 1'), ref: 'add-web', pipelineId: 77 },
      { sha: shaOf('elsewhere'), ref: undefined, pipelineId: undefined },
    ]);
  });

  it('puts a status into the pipeline of a merge request by its own ref, and onto the branch where that is gone', async () => {
    server.add();
    server.pipelines.set(shaOf('head 1'), { id: 78, ref: 'refs/merge-requests/1/head' });
    await client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'success', ref: 'add-web' });
    server.fault = ({ body }) =>
      body.pipeline_id === 78
        ? { status: 404, text: '{"message":"404 Pipeline for pipeline_id, sha and ref Not Found"}' }
        : null;
    await client.forge.setStatus(shaOf('head 1'), { ...STATUS, state: 'failure', ref: 'add-web' });
    expect(server.toldOf.map(({ ref, pipelineId }) => [ref, pipelineId])).to.deep.equal([
      ['refs/merge-requests/1/head', 78],
      ['add-web', undefined],
    ]);
  });

  it('says until when the token is good', async () => {
    expect(await client.forge.tokenEnd()).to.equal(null);
    server.tokenEnd = '2026-12-24';
    expect((await client.forge.tokenEnd())?.toISOString()).to.equal('2026-12-24T00:00:00.000Z');
    server.scopes = null;
    expect(await client.forge.tokenEnd(), 'too old to tell').to.equal(null);
  });

  it('tells what the token lacks, also where it is too old to tell its scopes', async () => {
    server.scopes = ['read_api'];
    expect(await faultOf(client.forge.check())).to.match(/^credentials: .*no scope "api"/);
    server.scopes = null;
    await client.forge.check();
    server.mayWrite = false;
    expect(await faultOf(client.forge.check())).to.match(/^credentials: .*Developer at least/);
  });

  it('names its project with all groups', async () => {
    server.add();
    await client.forge.get(1);
    expect(server.asked.at(-1)?.path).to.equal('/api/v4/projects/acme%2Fdata%2Fpipes/merge_requests/1');
  });

  it('may serve below a folder of its host', async () => {
    server.add();
    Object.defineProperty(server, 'root', { value: '/lab/api/v4' });
    const below = clientOf(server);
    try {
      expect((await below.forge.get(1))?.number).to.equal(1);
      const id = await below.forge.comment(1, { marker: '<!-- m -->', body: 'x', commentId: null });
      expect(server.commentsOf(1).map((one) => String(one.id))).to.deep.equal([id]);
    } finally {
      await below.forges.close();
    }
  });
});

describe('Bitbucket Cloud', () => {
  const { server, client } = useForge(BitbucketServer);
  const sticky = (body: string, commentId: string | null) =>
    client.forge.comment(1, { marker: '<!-- headgate:plan:1 -->', body, commentId });

  it('names commits in short, which are asked for once in full', async () => {
    for (let n = 0; n < 5; n += 1) server.add();
    await client.forge.listOpen('main');
    await client.forge.listOpen('main');
    expect(server.calls('GET', /\/commit\//)).to.equal(5);
    const [first] = await client.forge.listOpen('main');
    expect(first?.headSha).to.have.length(40);
  });

  it('keeps what it says of a fork that is hidden', async () => {
    server.add({ isFork: true });
    server.fault = ({ path }) => (path.includes('/commit/') ? { status: 403, text: '{}' } : null);
    expect(await client.forge.get(1)).to.include({ isFork: true, headSha: shaOf('head 1').slice(0, 12) });
  });

  it('leaves out the request of a fork that was deleted, names it, and lists the others', async () => {
    server.add();
    server.add({ isFork: true, headSha: '' });
    server.add();
    const leftOut: string[] = [];
    const listed = await client.forge.listOpen('main', (sentence) => leftOut.push(sentence));
    expect(listed.map(({ number }) => number).toSorted()).to.deep.equal([1, 3]);
    expect(leftOut).to.have.length(1);
    expect(leftOut[0]).to.match(/^#2 is left out: .*source\/commit/);
  });

  it('shows nobody the marker', async () => {
    server.add();
    await sticky('<!-- headgate:plan:1 -->\nThe plan', null);
    expect(server.commentsOf(1)[0]?.body).to.equal('[//]: # (headgate:plan:1)\nThe plan');
  });

  it('lets a token that is nobody keep its comment too', async () => {
    server.account = null;
    server.add();
    const id = await sticky('first', null);
    expect(await sticky('second', id)).to.equal(id);
    expect(await sticky('third', null)).to.equal(id);
    server.comments.unshift({ ...server.say(1, 'mallory', '[//]: # (headgate:plan:1)\nfaked') });
    server.comments.pop();
    const again = await sticky('fourth', null);
    expect(server.commentsOf(1).find((one) => String(one.id) === again)?.author).to.equal(server.us);
    expect(server.commentsOf(1).find(({ author }) => author === 'mallory')?.body).to.contain('faked');
  });

  it('has keys of forty characters, which differ for long names', async () => {
    server.add();
    for (const end of ['one', 'two'])
      await client.forge.setStatus(shaOf('head 1'), {
        ...{ ...STATUS, context: `headgate/an environment with a rather long name ${end}` },
        state: 'failure',
      });
    const keys = server.asked.map(({ body }) => String(body.key));
    expect(keys.every((key) => key.length <= 40)).to.equal(true);
    expect(new Set(keys).size).to.equal(2);
  });

  it('tells what the token lacks', async () => {
    server.scopes = 'repository pullrequest';
    expect(await faultOf(client.forge.check())).to.match(/^credentials: .*pullrequest:write/);
    server.scopes = 'repository:write, pullrequest:write';
    await client.forge.check();
  });

  it('keeps its reviewers when something else changes', async () => {
    server.add();
    await client.forge.update(1, { title: 'another' });
    expect(server.reviewers).to.deep.equal([{ uuid: '{carl}' }]);
  });

  it('is asked for branches by their names, whatever stands in them', async () => {
    const branch = 'odd"name\\with';
    const request = { title: 't', body: '', branch, base: 'main' };
    const { number } = await client.forge.open(request);
    expect((await client.forge.open(request)).number).to.equal(number);
    expect(server.pulls).to.have.length(1);
  });
});
