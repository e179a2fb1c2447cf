/** Where pull requests live, and how they come in: the forge of a remote and the review of the repository that is served here. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { idleManifest } from '../../../support/fixtures/pipelines.ts';
import { GiteaServer } from '../../../support/servers/forges/index.ts';
import { GitServer } from '../../../support/servers/git-server.ts';
import { settles } from '../browser.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('forge and review on the git page', function () {
  this.timeout(240_000);
  const session = useSite();
  const { section: part, note, isUsable } = partsOf(session);
  let api: ApiClient;
  let page: Page;
  let server: GitServer;
  let forge: GiteaServer;
  let remote: string;

  const open = (environmentId: string) => page.goto(session.at('git?tab=settings', environmentId));
  const status = (environmentId: string) => api.query<GitSyncStatus>('gitSync.status', { environmentId });

  before(async () => {
    ({ page } = session);
    api = await session.site.api();
    server = await GitServer.start();
    server.create();
    server.commit({ files: { 'orders.yaml': idleManifest('orders') } });
    forge = await new GiteaServer().listen();
    ({ id: remote } = await api.mutate<{ id: string }>('environment.create', {
      name: 'remote',
      teamId: session.site.teamId,
    }));
    await api.mutate('gitSync.configure', {
      environmentId: remote,
      mode: 'observe',
      repositoryUrl: server.url(),
      path: '',
    });
  });
  after(async () => {
    await server?.stop();
    await forge?.stop();
  });

  it('protects the branch that is served here, and asks for approvals', async () => {
    const env = session.site.environmentId;
    await open(env);
    const review = part('Review');
    await review.getByLabel('Approvals that a merge needs').fill('1');
    await review.getByText('As long as the branch is not protected, a push goes around them.').waitFor();
    await review.getByLabel('Protect main: only merged pull requests change it').check();
    await review.getByLabel('Approvals that a merge needs').fill('11');
    await review.getByText('A whole number, from 0 to 10.').waitFor();
    expect(await review.getByRole('button', { name: 'Save the rules' }).isDisabled()).to.equal(true);
    await review.getByLabel('Approvals that a merge needs').fill('2');
    await review.getByRole('button', { name: 'Save the rules' }).click();
    await note('The rules of review are saved');
    expect((await status(env)).review).to.deep.equal({ protectBranch: true, requiredApprovals: 2 });
    expect(await part('Pull requests').count()).to.equal(0);
    await isUsable('review');
  });

  it('takes a forge with a token and a secret that it made, shows neither again, and tells what to set there', async () => {
    await open(remote);
    const form = part('Pull requests');
    await form.getByLabel('Pull requests live on').selectOption('GitLab');
    await form.getByText(`Empty: http://${new URL(server.url()).host}/api/v4`).waitFor();
    expect(await form.getByRole('button', { name: 'Save the forge' }).isDisabled()).to.equal(true);
    await form.getByLabel('Pull requests live on').selectOption('Gitea or Forgejo');
    await form.getByLabel('Address of its API').fill(forge.url);
    await form.getByLabel('Project').fill(forge.project);
    await form.getByLabel('Token', { exact: true }).fill('not-the-right-one');
    await form.getByRole('button', { name: 'Make one for the webhook' }).click();
    const secret = await form.getByLabel('New secret of the webhook').inputValue();
    expect(secret).to.match(/^[0-9a-f]{64}$/);
    await form.getByText('Give the same to the forge').waitFor();
    await form.getByRole('button', { name: 'Save the forge' }).click();
    await note('The forge is saved.');
    await form.getByRole('button', { name: 'Replace the token' }).waitFor();
    expect(await page.content()).to.not.contain('not-the-right-one');
    expect(await page.content()).to.not.contain(secret);
    const { forge: bound } = await status(remote);
    expect(bound).to.include({ name: 'gitea', hasToken: true, hasWebhookSecret: true });

    const webhook = part('Webhook');
    const { webhookUrl } = await status(remote);
    await webhook.getByText(webhookUrl ?? 'none').waitFor();
    const events = webhook.getByRole('list', { name: 'Events of the webhook' });
    expect(await events.getByRole('listitem').allTextContents()).to.deep.equal([
      'Push',
      'Pull request',
      'Pull request synchronized',
    ]);
    await webhook.getByText('calls without it are turned away').waitFor();
    await isUsable('forge');
  });

  it('asks the forge, says why it is not let in, that it is once the token is right, and takes the secret away', async () => {
    const form = part('Pull requests');
    await form.getByRole('button', { name: 'Test the forge' }).click();
    await form.getByText('It does not work').waitFor();
    await open(remote);
    // What the test found stands there until something else is known.
    await form.getByText(/token/i).first().waitFor();
    expect((await status(remote)).forge?.error).to.not.equal(null);
    await form.getByRole('button', { name: 'Replace the token' }).click();
    await form.getByLabel('Token', { exact: true }).fill(forge.token);
    await form.getByRole('button', { name: 'Save the forge' }).click();
    await form.getByRole('button', { name: 'Replace the token' }).waitFor();
    await form.getByRole('button', { name: 'Test the forge' }).click();
    await form.getByText('It answers').waitFor();
    expect((await status(remote)).forge?.error).to.equal(null);

    await form.getByLabel('Address of its API').fill('http://localhost:9/api/v1');
    await form.getByText('Give a token.').waitFor();
    await form.getByLabel('Address of its API').fill(forge.url);
    await form.getByRole('button', { name: 'Take it away for the webhook' }).click();
    await form.getByText('Without one, calls need no signature: they only wake the loop.').waitFor();
    await form.getByRole('button', { name: 'Save the forge' }).click();
    await settles(async () => (await status(remote)).forge?.hasWebhookSecret, false);
    await part('Webhook').getByText('No secret is set above').waitFor();
  });

  it('says what pull requests are like that are opened there, and goes back to those that are kept here', async () => {
    await open(remote);
    const form = part('Pull requests that Headgate opens');
    await form.getByLabel('Open them as drafts').check();
    await form.getByLabel('Labels').fill('gitops, needs review,');
    await form.getByLabel('Reviewers').fill('ann, acme/data');
    await form.getByLabel('Title').fill('{{ticket}}');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText(/\{\{ticket\}\} is not known/).waitFor();
    await form.getByLabel('Title').fill('[{{environment}}] {{title}}');
    await form.getByRole('button', { name: 'Save' }).click();
    await note('The next pull request is opened like this.');
    expect((await status(remote)).pullRequests).to.deep.equal({
      ...{ deleteBranches: true, draft: true, labels: ['gitops', 'needs review'] },
      ...{ reviewers: ['ann', 'acme/data'], assignees: [], title: '[{{environment}}] {{title}}', body: null },
    });

    const forgeForm = part('Pull requests');
    await forgeForm.getByLabel('Pull requests live on').selectOption('None: they are kept here');
    await forgeForm.getByRole('button', { name: 'Save the forge' }).click();
    await note('Pull requests are kept here.');
    await settles(() => forgeForm.getByRole('button', { name: 'Test the forge' }).count(), 0);
    expect((await status(remote)).forge?.name).to.equal('none');
  });

  it('shows the settings to editors without letting them change any', async () => {
    const editor = await session.as('EDITOR');
    await editor.goto(session.at('git?tab=settings', remote));
    const form = editor.getByRole('region', { name: 'Pull requests', exact: true });
    await form.getByLabel('Pull requests live on').waitFor();
    expect(await form.getByLabel('Pull requests live on').isDisabled()).to.equal(true);
    await editor.context().close();
  });
});
