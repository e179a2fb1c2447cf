/** How pull requests are opened as a binding wants them, and merged by their forge once its checks have passed. */
import { expect } from 'chai';
import type { Forge, OpenRequest } from '../../../reconcilers/forges/forge.ts';
import {
  AzureDevOpsServer,
  BitbucketDataCenterServer,
  BitbucketServer,
  type Client,
  clientOf,
  type ForgeServer,
  faultOf,
  GiteaServer,
  GitHubServer,
  GitLabServer,
} from '../../support/servers/forges/index.ts';

const REQUEST: OpenRequest = {
  title: 'Promote orders',
  body: 'Why',
  branch: 'headgate/promote/orders-1',
  base: 'main',
};

const STATUS = {
  context: 'headgate/prod',
  state: 'success' as const,
  description: 'd',
  url: 'https://x.org',
};

describe('a pull request that is opened as its binding configures it', () => {
  let server: ForgeServer;
  let client: Client;
  let forge: Forge;
  let leftOut: string[];
  async function at<S extends ForgeServer>(made: S): Promise<S> {
    await made.listen();
    server = made;
    client = clientOf(made);
    forge = client.forge;
    leftOut = [];
    return made;
  }
  afterEach(async () => {
    await client.forges.close();
    await server.stop();
  });
  const open = (more: Partial<OpenRequest>) =>
    forge.open({ ...REQUEST, ...more }, (sentence) => leftOut.push(sentence));

  const WANTED = { isDraft: true, labels: ['gitops'], reviewers: ['ann'] };
  const rows: {
    reason: string;
    made: ForgeServer;
    asked: Partial<OpenRequest>;
    /** As the forge has it. */
    has: object;
    leftOut?: RegExp[];
  }[] = [
    {
      reason: 'GitHub',
      made: new GitHubServer(),
      asked: { ...WANTED, reviewers: ['ann', 'acme/data'], assignees: ['bob'] },
      has: { labels: ['gitops'], reviewers: ['ann', 'team data'], assignees: ['bob'], isDraft: true },
    },
    {
      reason: 'GitHub, which has no drafts there and rejects a reviewer and an assignee',
      made: Object.assign(new GitHubServer(), { hasDrafts: false }),
      asked: { ...WANTED, reviewers: ['mallory'], assignees: ['bob', 'mallory'] },
      has: { labels: ['gitops'], reviewers: [], assignees: ['bob'], isDraft: false },
      leftOut: [
        /^It is no draft: .*not supported in this repository/,
        /^Reviewers left out: .*collaborator/,
        /^Assignees left out: .* does not assign mallory there$/,
      ],
    },
    {
      reason: 'GitLab, which has users by id and lacks one of them',
      made: new GitLabServer(),
      asked: { ...WANTED, reviewers: ['carla', 'mallory'], assignees: ['ann'] },
      has: { labels: ['gitops'], reviewers: ['Carla'], assignees: ['ann'], title: 'Draft: Promote orders' },
      leftOut: [/^Reviewers left out: .* knows no user mallory$/],
    },
    {
      reason: 'Gitea, with labels of the repository and of the organization',
      made: new GiteaServer(),
      asked: {
        ...{ isDraft: true, labels: ['promotion', 'gitops', 'nothing'], assignees: ['bob'] },
        reviewers: ['ann', 'acme/data'],
      },
      has: {
        ...{ labels: ['51', '52'], reviewers: ['ann', 'team data'], assignees: ['bob'] },
        title: 'WIP: Promote orders',
      },
      leftOut: [/^Labels left out: .* none of the name nothing$/],
    },
    {
      reason: 'Gitea, without such users',
      made: new GiteaServer(),
      asked: { reviewers: ['mallory'], assignees: ['mallory'] },
      has: { number: 1, state: 'open' },
      leftOut: [/^Reviewers /, /^Assignees /],
    },
    {
      reason: 'Bitbucket',
      made: new BitbucketServer(),
      asked: { isDraft: true, reviewers: ['{ann}'] },
      has: { isDraft: true, reviewers: ['{ann}'] },
    },
    {
      reason: 'Bitbucket, where one user cannot review',
      made: new BitbucketServer(),
      asked: { reviewers: ['{ann}', 'mallory'] },
      has: { reviewers: [] },
      leftOut: [/^Reviewers left out: .*Malformed/],
    },
    {
      reason: 'Bitbucket Data Center, where one user cannot review',
      made: new BitbucketDataCenterServer(),
      asked: { reviewers: ['ann', 'mallory'] },
      has: { reviewers: [] },
      leftOut: [/^Reviewers left out: .*adding some reviewers/],
    },
    {
      reason: 'Azure DevOps, where one user cannot review',
      made: new AzureDevOpsServer(),
      asked: { ...WANTED, reviewers: ['mallory'] },
      has: { isDraft: true, labels: ['gitops'] },
      leftOut: [/^Reviewers left out: .*Parameter name: reviewers/],
    },
  ];
  for (const { reason, made, asked, has, leftOut: sentences = [] } of rows)
    it(`has its draft state, labels, reviewers and assignees on ${reason}`, async () => {
      await at(made);
      await open(asked);
      expect(server.find(1)).to.deep.include(has);
      expect(leftOut).to.have.length(sentences.length);
      for (const [n, sentence] of sentences.entries()) expect(leftOut[n]).to.match(sentence);
    });

  it('keeps its reviewers on Bitbucket Data Center where the title changes', async () => {
    const bitbucket = await at(new BitbucketDataCenterServer());
    await open({ isDraft: true, reviewers: ['ann', 'bob'] });
    await forge.update(1, { title: 'Promote orders again' });
    expect(bitbucket.find(1)).to.deep.include({ reviewers: ['ann', 'bob'], isDraft: true });
  });

  it('is updated on Bitbucket Data Center after a conflict', async () => {
    const bitbucket = await at(new BitbucketDataCenterServer());
    bitbucket.add();
    let quicker = true;
    bitbucket.fault = ({ method }) => {
      if (method !== 'PUT' || !quicker) return null;
      quicker = false;
      return { status: 409, text: '{"errors":[{"message":"out-of-date information"}]}' };
    };
    await forge.update(1, { title: 'after' });
    expect(bitbucket.find(1).title).to.equal('after');
    bitbucket.isArchived = true;
    expect(await faultOf(forge.check())).to.match(/is archived/);
  });

  it('is a draft with labels and reviewers on Azure DevOps, with a status of its own', async () => {
    const azure = await at(new AzureDevOpsServer());
    const body = 'x'.repeat(900);
    const made = await open({ isDraft: true, labels: ['gitops'], reviewers: ['id-of-ann'], body });
    expect(made.url).to.equal(`${azure.url}/Data%20Team/_git/pipes/pullrequest/1`);
    expect(azure.find(1)).to.deep.include({ labels: ['gitops'], reviewers: ['id-of-ann'], isDraft: true });
    // Lists cut it.
    expect((await forge.listOpen('main'))[0]?.body).to.equal(body);
    await forge.setStatus(made.headSha, { ...STATUS, number: 1 });
    expect(azure.onPulls).to.deep.equal([
      { number: 1, context: 'headgate/prod', state: 'success', iterationId: 1 },
    ]);
    azure.isDisabled = true;
    expect(await faultOf(forge.check())).to.match(/is disabled/);
  });

  for (const Server of [GitLabServer, GiteaServer])
    it(`stays a draft at ${Server.name} when its title changes, until it is marked as ready`, async () => {
      await at(new Server());
      await open({ isDraft: true });
      await forge.update(1, { title: 'Promote orders again' });
      expect(await forge.get(1)).to.include({ isDraft: true });
      expect((await open({ isDraft: true, title: 'Promote orders once more' })).isDraft).to.equal(true);
      Object.assign(server.find(1), { isDraft: false, title: 'Ready' });
      await forge.update(1, { title: 'Promote orders' });
      expect(await forge.get(1)).to.include({ isDraft: false, title: 'Promote orders' });
    });

  for (const Server of [
    GitHubServer,
    GitLabServer,
    GiteaServer,
    BitbucketDataCenterServer,
    AzureDevOpsServer,
  ])
    describe(`at ${Server.name}`, () => {
      const ask = (headSha = server.find(1).headSha) =>
        forge.autoMerge?.(1, { headSha, method: 'squash' }) ?? Promise.reject(new Error('cannot'));
      beforeEach(async () => {
        await at(new Server());
        server.add();
      });

      it('can be merged automatically after its checks, or no longer', async () => {
        await ask();
        expect(server.find(1).state).to.equal('open');
        expect(server.find(1).autoMerge?.toLowerCase()).to.equal('squash');
        const reportsIt = !['gitea', 'bitbucket-data-center'].includes(server.name);
        if (reportsIt) expect(await forge.get(1)).to.include({ autoMerge: true });
        await ask();
        await forge.autoMerge?.(1, null);
        expect(server.find(1).autoMerge).to.equal(null);
        if (reportsIt) expect(await forge.get(1)).to.include({ autoMerge: false });
        await forge.autoMerge?.(1, null);
      });

      it('is merged at once where nothing is left to wait for, and never where its head has moved', async () => {
        expect(await faultOf(ask('0'.repeat(40)))).to.match(/^refused/);
        expect(server.find(1)).to.include({ autoMerge: null, state: 'open' });
        server.waits = false;
        await ask();
        expect(await forge.get(1)).to.include({ state: 'merged' });
        expect(server.find(1).how).to.equal('squash');
      });
    });

  it('is not merged automatically where a push comes meanwhile', async () => {
    const push = (pull: { headSha: string }) => {
      pull.headSha = 'e'.repeat(40);
    };
    for (const made of [
      Object.assign(new GiteaServer(), { onSchedule: push }),
      Object.assign(new AzureDevOpsServer(), { onPatch: push }),
    ]) {
      await at(made);
      const { headSha } = server.add();
      expect(await faultOf(forge.autoMerge?.(1, { headSha, method: 'merge' })), server.name).to.match(
        /^refused: .*the branch is at eeeeeee now/,
      );
      expect(server.find(1).autoMerge, server.name).to.equal(null);
      await client.forges.close();
      await server.stop();
    }
    await at(new GiteaServer());
  });

  it('still has its automatic merge where GitHub or GitLab does not cancel it', async () => {
    for (const made of [
      Object.assign(new GitHubServer(), { mayDisable: false }),
      Object.assign(new GitLabServer(), { mayCancel: false }),
    ]) {
      await at(made);
      server.add({ autoMerge: 'squash' });
      expect(await faultOf(forge.autoMerge?.(1, null)), server.name).to.match(/^refused/);
      await client.forges.close();
      await server.stop();
    }
    const github = await at(new GitHubServer());
    github.add();
    github.queued.add(1);
    await forge.autoMerge?.(1, null);
    expect([...github.queued], 'out of the merge queue').to.deep.equal([]);
  });

  it('lacks rights, not a token, where GitLab answers 401 to a good one', async () => {
    const gitlab = await at(new GitLabServer());
    gitlab.mayMerge = false;
    const { headSha } = gitlab.add();
    expect(await faultOf(forge.autoMerge?.(1, { headSha, method: 'merge' }))).to.match(
      /does not let the token merge into the base; give one of a role that may/,
    );
  });

  it('gets its status at Azure DevOps for the push that was checked', async () => {
    const azure = await at(new AzureDevOpsServer());
    const pull = azure.add();
    const first = pull.headSha;
    await forge.setStatus(first, { ...STATUS, number: 1 });
    pull.headSha = 'e'.repeat(40);
    await forge.setStatus('e'.repeat(40), { ...STATUS, state: 'failure', number: 1 });
    await forge.setStatus('f'.repeat(40), { ...STATUS, number: 1 });
    expect(azure.onPulls.map(({ state, iterationId }) => [state, iterationId])).to.deep.equal([
      ['success', 1],
      ['failed', 2],
    ]);
    expect(azure.statuses).to.have.length(3);
  });

  it('reports a wrong token at Azure DevOps, which answers with its sign-in page', async () => {
    const azure = await at(new AzureDevOpsServer());
    azure.fault = () => ({ status: 203, headers: { 'content-type': 'text/html' }, text: '<html>Sign In' });
    expect(await faultOf(forge.get(1))).to.match(/does not take the token: it is wrong/);
    const location = 'https://spsprodeus21.vssps.visualstudio.com/_signin?realm=dev.azure.com';
    azure.fault = () => ({ status: 302, headers: { location } });
    expect(await faultOf(forge.get(1))).to.match(/does not take the token: it is wrong/);
    azure.fault = () => null;
    const wrong = clientOf(azure, { token: 'canary-wr0ng-token' });
    expect(await faultOf(wrong.forge.get(1))).not.to.include(
      Buffer.from(':canary-wr0ng-token').toString('base64'),
    );
    expect(azure.asked.at(-1)?.headers['x-tfs-fedauthredirect']).to.equal('Suppress');
    await wrong.forges.close();
  });

  it('has the labels of the repository at Gitea without access to those of the organization', async () => {
    const gitea = await at(new GiteaServer());
    gitea.fault = ({ path }) =>
      path.includes('/orgs/')
        ? { status: 403, text: '{"message":"token does not have at least one of required scope(s)"}' }
        : null;
    await open({ labels: ['Promotion', 'gitops'] });
    expect(gitea.find(1).labels).to.have.length(1);
    expect(leftOut[0]).to.match(/gitops/);
  });

  it('names the setting where GitHub does not merge automatically', async () => {
    const github = await at(new GitHubServer());
    github.mayAutoMerge = false;
    const { headSha } = github.add();
    expect(await faultOf(forge.autoMerge?.(1, { headSha, method: 'merge' }))).to.match(
      /Auto merge is not allowed.*switch on "Allow auto-merge" in the settings/,
    );
    expect(github.asked.map(({ path }) => path)).to.include('/api/graphql');
  });

  it('is found in the merge queue of GitHub', async () => {
    const github = await at(new GitHubServer());
    const sha = 'a'.repeat(40);
    github.queue.set(`gh-readonly-queue/main/pr-7-${sha}`, 'b'.repeat(40));
    github.queue.set(`gh-readonly-queue/other/pr-8-${sha}`, 'c'.repeat(40));
    expect(await forge.mergeGroups?.('main')).to.deep.equal([
      { branch: `gh-readonly-queue/main/pr-7-${sha}`, headSha: 'b'.repeat(40), number: 7 },
    ]);
  });
});
