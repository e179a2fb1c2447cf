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

describe('a pull request that is opened as a binding wants it', () => {
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

  it('has labels, reviewers, a team and assignees on GitHub, as a draft', async () => {
    const github = await at(new GitHubServer());
    const made = await open({
      ...{ isDraft: true, labels: ['gitops', 'needs review'], assignees: ['bob'] },
      reviewers: ['ann', 'acme/data'],
    });
    expect(made).to.include({ isDraft: true, title: 'Promote orders', autoMerge: false });
    expect(github.find(1)).to.deep.include({
      ...{ labels: ['gitops', 'needs review'], reviewers: ['ann', 'team data'], assignees: ['bob'] },
    });
    expect(leftOut).to.deep.equal([]);
  });

  it('is there all the same on GitHub where drafts, a reviewer or an assignee are refused, and says which', async () => {
    const github = await at(new GitHubServer());
    github.hasDrafts = false;
    const made = await open({
      ...{ isDraft: true, labels: ['gitops'], reviewers: ['mallory'], assignees: ['bob', 'mallory'] },
    });
    expect(made).to.include({ number: 1, isDraft: false });
    expect(github.find(1)).to.deep.include({ labels: ['gitops'], reviewers: [], assignees: ['bob'] });
    expect(leftOut).to.have.length(3);
    expect(leftOut[0]).to.match(/^It is no draft: .*not supported in this repository/);
    expect(leftOut[1]).to.match(/^Reviewers left out: .*collaborator/);
    expect(leftOut[2]).to.match(/^Assignees left out: .* does not assign mallory there$/);
  });

  it('has them on GitLab, which knows people by their ids, and says whom it does not know', async () => {
    const gitlab = await at(new GitLabServer());
    const made = await open({
      ...{ isDraft: true, labels: ['gitops', 'data'], reviewers: ['carla', 'mallory'], assignees: ['ann'] },
    });
    expect(made).to.include({ isDraft: true, title: 'Draft: Promote orders' });
    expect(gitlab.find(1)).to.deep.include({
      ...{ labels: ['gitops', 'data'], reviewers: ['Carla'], assignees: ['ann'] },
    });
    expect(leftOut).to.have.length(1);
    expect(leftOut[0]).to.match(/^Reviewers left out: .* knows no user mallory$/);
  });

  it('has them on Gitea, whose labels are the repository’s and the organization’s', async () => {
    const gitea = await at(new GiteaServer());
    const made = await open({
      ...{ isDraft: true, labels: ['promotion', 'gitops', 'nothing'], reviewers: ['ann', 'acme/data'] },
      assignees: ['bob'],
    });
    expect(made).to.include({ isDraft: true, title: 'WIP: Promote orders' });
    expect(gitea.find(1)).to.deep.include({
      ...{ labels: ['51', '52'], reviewers: ['ann', 'team data'], assignees: ['bob'] },
    });
    expect(leftOut).to.have.length(1);
    expect(leftOut[0]).to.match(/^Labels left out: .* none of the name nothing$/);
  });

  it('stays open on Gitea where people are not there', async () => {
    await at(new GiteaServer());
    expect(await open({ reviewers: ['mallory'], assignees: ['mallory'] })).to.include({ number: 1 });
    expect(leftOut.map((one) => one.split(' ')[0])).to.deep.equal(['Reviewers', 'Assignees']);
  });

  it('is a draft with reviewers on Bitbucket, and has none where one cannot review', async () => {
    const bitbucket = await at(new BitbucketServer());
    expect(await open({ isDraft: true, reviewers: ['{ann}'] })).to.include({ isDraft: true });
    expect(bitbucket.find(1).reviewers).to.deep.equal(['{ann}']);
    await open({ branch: 'other', reviewers: ['{ann}', 'mallory'] });
    expect(bitbucket.find(2).reviewers).to.deep.equal([]);
    expect(leftOut).to.have.length(1);
    expect(leftOut[0]).to.match(/^Reviewers left out: .*Malformed/);
  });

  it('is a draft with reviewers on Bitbucket Data Center, which keeps them where the title changes', async () => {
    const bitbucket = await at(new BitbucketDataCenterServer());
    expect(await open({ isDraft: true, reviewers: ['ann', 'bob'] })).to.include({ isDraft: true });
    await forge.update(1, { title: 'Promote orders again' });
    expect(bitbucket.find(1)).to.deep.include({ reviewers: ['ann', 'bob'], isDraft: true });
    await open({ branch: 'other', reviewers: ['ann', 'mallory'] });
    expect(bitbucket.find(2).reviewers).to.deep.equal([]);
    expect(leftOut).to.have.length(1);
    expect(leftOut[0]).to.match(/^Reviewers left out: .*adding some reviewers/);
  });

  it('is changed on Bitbucket Data Center though somebody was quicker', async () => {
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
    expect((await rejection(forge.check())).message).to.match(/is archived/);
  });

  it('is a draft with labels and reviewers on Azure DevOps, whose policies are told of its head', async () => {
    const azure = await at(new AzureDevOpsServer());
    const body = 'x'.repeat(900);
    const made = await open({ isDraft: true, labels: ['gitops'], reviewers: ['id-of-ann'], body });
    expect(made.url).to.equal(`${azure.url}/Data%20Team/_git/pipes/pullrequest/1`);
    expect(azure.find(1)).to.deep.include({ labels: ['gitops'], reviewers: ['id-of-ann'], isDraft: true });
    // Lists cut it.
    expect((await forge.listOpen('main'))[0]?.body).to.equal(body);
    const status = {
      context: 'headgate/prod',
      state: 'success' as const,
      description: 'd',
      url: 'https://x.org',
    };
    await forge.setStatus(made.headSha, { ...status, number: 1 });
    expect(azure.onPulls).to.deep.equal([
      { number: 1, context: 'headgate/prod', state: 'success', iterationId: 1 },
    ]);
    await open({ branch: 'other', reviewers: ['mallory'] });
    expect(leftOut[0]).to.match(/^Reviewers left out: .*Parameter name: reviewers/);
    azure.isDisabled = true;
    expect((await rejection(forge.check())).message).to.match(/is disabled/);
  });

  for (const Server of [GitLabServer, GiteaServer])
    it(`stays a draft at ${Server.name} where its title is written again, until people say that it is ready`, async () => {
      await at(new Server());
      await open({ isDraft: true });
      await forge.update(1, { title: 'Promote orders again' });
      expect(await forge.get(1)).to.include({ isDraft: true });
      expect((await open({ isDraft: true, title: 'Promote orders anew' })).isDraft).to.equal(true);
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

      it('is merged by itself once its checks have passed, or no longer', async () => {
        await ask();
        expect(server.find(1).state).to.equal('open');
        expect(server.find(1).autoMerge?.toLowerCase()).to.equal('squash');
        const says = !['gitea', 'bitbucket-data-center'].includes(server.name);
        if (says) expect(await forge.get(1)).to.include({ autoMerge: true });
        await ask();
        await forge.autoMerge?.(1, null);
        expect(server.find(1).autoMerge).to.equal(null);
        if (says) expect(await forge.get(1)).to.include({ autoMerge: false });
        await forge.autoMerge?.(1, null);
      });

      it('is merged at once where nothing is left to wait for', async () => {
        server.waits = false;
        await ask();
        expect(await forge.get(1)).to.include({ state: 'merged' });
        expect(server.find(1).how).to.equal('squash');
      });

      it('is not where its head has moved', async () => {
        expect(await rejection(ask('0'.repeat(40)))).to.include({ fault: 'refused' });
        expect(server.find(1)).to.include({ autoMerge: null, state: 'open' });
      });
    });

  it('is merged by nobody where somebody pushes while it is ordered', async () => {
    const push = (pull: { headSha: string }) => {
      pull.headSha = 'e'.repeat(40);
    };
    for (const made of [
      Object.assign(new GiteaServer(), { onSchedule: push }),
      Object.assign(new AzureDevOpsServer(), { onPatch: push }),
    ]) {
      await at(made);
      const { headSha } = server.add();
      const error = await rejection(forge.autoMerge?.(1, { headSha, method: 'merge' }) ?? Promise.resolve());
      expect(error, server.name).to.include({ fault: 'refused' });
      expect(error.message).to.match(/the branch stands at eeeeeee by now/);
      expect(server.find(1).autoMerge, server.name).to.equal(null);
      await client.forges.close();
      await server.stop();
    }
    await at(new GiteaServer());
  });

  it('is said to be merged by itself still where GitHub or GitLab does not take that back', async () => {
    for (const made of [
      Object.assign(new GitHubServer(), { mayDisable: false }),
      Object.assign(new GitLabServer(), { mayCancel: false }),
    ]) {
      await at(made);
      server.add({ autoMerge: 'squash' });
      expect(await rejection(forge.autoMerge?.(1, null) ?? Promise.resolve()), server.name).to.include({
        fault: 'refused',
      });
      await client.forges.close();
      await server.stop();
    }
    const github = await at(new GitHubServer());
    github.add();
    github.queued.add(1);
    await forge.autoMerge?.(1, null);
    expect([...github.queued], 'out of the merge queue').to.deep.equal([]);
  });

  it('is told as a lack of rights where GitLab answers 401 to a token that is good', async () => {
    const gitlab = await at(new GitLabServer());
    gitlab.mayMerge = false;
    const { headSha } = gitlab.add();
    const error = await rejection(forge.autoMerge?.(1, { headSha, method: 'merge' }) ?? Promise.resolve());
    expect(error.message).to.match(/does not let the token merge into the base; give one of a role that may/);
  });

  it('gets its status at Azure DevOps for the very push that was looked at', async () => {
    const azure = await at(new AzureDevOpsServer());
    const pull = azure.add();
    const first = pull.headSha;
    const status = {
      context: 'headgate/prod',
      state: 'success' as const,
      description: 'd',
      url: 'https://x',
    };
    await forge.setStatus(first, { ...status, number: 1 });
    pull.headSha = 'e'.repeat(40);
    await forge.setStatus('e'.repeat(40), { ...status, state: 'failure', number: 1 });
    await forge.setStatus('f'.repeat(40), { ...status, number: 1 });
    expect(azure.onPulls.map(({ state, iterationId }) => [state, iterationId])).to.deep.equal([
      ['success', 1],
      ['failed', 2],
    ]);
    expect(azure.statuses).to.have.length(3);
  });

  it('is known not to be asked for by the right token at Azure DevOps, whose answer is its page of sign-in', async () => {
    const azure = await at(new AzureDevOpsServer());
    azure.fault = () => ({ status: 203, headers: { 'content-type': 'text/html' }, text: '<html>Sign In' });
    expect((await rejection(forge.get(1))).message).to.match(/does not take the token: it is wrong/);
    const location = 'https://spsprodeus21.vssps.visualstudio.com/_signin?realm=dev.azure.com';
    azure.fault = () => ({ status: 302, headers: { location } });
    expect((await rejection(forge.get(1))).message).to.match(/does not take the token: it is wrong/);
    azure.fault = () => null;
    const wrong = clientOf(azure, { token: 'canary-wr0ng-token' });
    const error = await rejection(wrong.forge.get(1));
    expect(error.message).not.to.include(Buffer.from(':canary-wr0ng-token').toString('base64'));
    expect(azure.asked.at(-1)?.headers['x-tfs-fedauthredirect']).to.equal('Suppress');
    await wrong.forges.close();
  });

  it('has the labels of the repository at Gitea where the token may not read those of the organization', async () => {
    const gitea = await at(new GiteaServer());
    gitea.fault = ({ path }) =>
      path.includes('/orgs/')
        ? { status: 403, text: '{"message":"token does not have at least one of required scope(s)"}' }
        : null;
    await open({ labels: ['Promotion', 'gitops'] });
    expect(gitea.find(1).labels).to.have.length(1);
    expect(leftOut[0]).to.match(/gitops/);
  });

  it('says what to switch on where GitHub does not merge by itself', async () => {
    const github = await at(new GitHubServer());
    github.mayAutoMerge = false;
    const { headSha } = github.add();
    const error = await rejection(forge.autoMerge?.(1, { headSha, method: 'merge' }) ?? Promise.resolve());
    expect(error.message).to.match(/Auto merge is not allowed.*switch on "Allow auto-merge" in the settings/);
    expect(github.asked.map(({ path }) => path)).to.include('/api/graphql');
  });

  it('is known as part of what the merge queue of GitHub is about to merge', async () => {
    const github = await at(new GitHubServer());
    const sha = 'a'.repeat(40);
    github.queue.set(`gh-readonly-queue/main/pr-7-${sha}`, 'b'.repeat(40));
    github.queue.set(`gh-readonly-queue/other/pr-8-${sha}`, 'c'.repeat(40));
    expect(await forge.mergeGroups?.('main')).to.deep.equal([
      { branch: `gh-readonly-queue/main/pr-7-${sha}`, headSha: 'b'.repeat(40), number: 7 },
    ]);
  });
});

const rejection = (work: Promise<unknown>): Promise<Error & { fault?: string }> =>
  work.then(
    () => new Error('nothing went wrong'),
    (error: Error) => error,
  );
