/** How an environment is bound on the git page: servers with credentials, the copy in git, retries. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { GitJob, GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { AUTHORITY } from '../../../support/fixtures/certificates.ts';
import { until } from '../../../support/harness/until.ts';
import { GitServer } from '../../../support/servers/git-server.ts';
import { findSshd, SshServer } from '../../../support/servers/ssh-server.ts';
import { beyondAPhone, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const rule = (name: string, threshold = 90) => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name} }
spec: { metric: cpu_usage, condition: gt, threshold: ${threshold}, durationSeconds: 60 }
`;
describe('binding an environment on the git page', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let api: ApiClient;
  let page: Page;
  let errors: string[];
  const ids = { fresh: '', shop: '', vault: '', mill: '', copy: '' };

  const status = (environmentId: string) => api.query<GitSyncStatus>('gitSync.status', { environmentId });
  const open = (environmentId: string, tab = '') =>
    page.goto(session.at(tab ? `git?tab=${tab}` : 'git', environmentId));
  const list = (name: string): Locator => page.getByRole('list', { name, exact: true });
  const fault = (text: string | RegExp): Locator =>
    page.getByRole('status').filter({ hasText: 'The repository could not be read' }).getByText(text);
  const note = (text: string | RegExp): Locator =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).last();
  const save = (): Locator => page.getByRole('button', { name: /^(Save the binding|Bind to git)$/ });

  const applied = (environmentId: string, name: string) =>
    until(
      async () =>
        (await status(environmentId)).manifests.some((manifest) => manifest.name === name && manifest.ready),
      { what: `${name} to be applied`, timeoutMs: 20_000, everyMs: 50 },
    );
  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    api = await session.site.api();
    const { teamId } = session.site;
    for (const name of Object.keys(ids) as (keyof typeof ids)[])
      ids[name] = (await api.mutate<{ id: string }>('environment.create', { name, teamId })).id;
  });
  after(async () => {
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('teaches what a binding is, and how what is there is taken along', async () => {
    const { fresh: env } = ids;
    await open(env);
    await page.getByRole('heading', { name: 'This environment is not bound to git' }).waitFor();
    await page.getByText("headgate export --env 'fresh' --out environments/fresh").waitFor();
    const found = [
      ...(await violationsInBothSchemes(page, 'git, unbound')),
      ...(await beyondAPhone(page, 'git, unbound')),
    ];
    await page.getByRole('button', { name: 'Bind to git' }).click();
    expect(await page.getByLabel('Folder', { exact: true }).inputValue()).to.equal('environments/fresh');
    await page.getByRole('button', { name: 'A git server' }).click();
    await page.getByText('Give the repository’s address').waitFor();
    found.push(
      ...(await violationsInBothSchemes(page, 'git, a server')),
      ...(await beyondAPhone(page, 'git, a server')),
    );
    expect(found, found.join('\n')).to.deep.equal([]);
  });

  it('binds to a server over https: shows why it is refused or not let in, and takes credentials anew', async () => {
    const server = await GitServer.start({ tls: true, user: { name: 'ada', password: 'right-horse' } });
    try {
      server.create();
      server.commit({ files: { 'shop/cpu.yaml': rule('Busy CPU') } });
      const { shop: env } = ids;
      await open(env, 'settings');
      await page.getByRole('button', { name: 'A git server' }).click();
      await page.getByLabel('Address').fill(server.url());
      await page.getByLabel('Credentials').selectOption('User name and token');
      await page.getByText('Give the user name and the password or token.').waitFor();
      expect(await save().isDisabled()).to.equal(true);
      await page.getByLabel('User name').fill('ada');
      await page.getByLabel('Password or token').fill('wrong-horse');
      await page.getByLabel('Folder', { exact: true }).fill('shop');
      await page.getByLabel('Certificate authority').fill('no certificate');
      await save().click();
      await page
        .getByRole('alert')
        .getByText(/certificate/i)
        .waitFor();
      await page.getByLabel('Certificate authority').fill(AUTHORITY);
      await save().click();
      await note('shop is bound').waitFor();
      await fault(/user name|credentials/i).waitFor();
      // The form is filled anew with what was saved: nothing is typed before.
      await settles(() => save().isDisabled(), true, 'nothing to save');
      await page.getByText('ada with a password or token, which is not shown').waitFor();

      await page.getByRole('button', { name: 'Replace the credentials' }).click();
      await page.getByLabel('User name').fill('ada');
      await page.getByLabel('Password or token').fill('right-horse');
      await save().click();
      await applied(env, 'Busy CPU');
      await settles(() => page.getByText('The repository could not be read').count(), 0);
      await page.getByText('ada with a password or token, which is not shown').waitFor();
      expect(await page.content()).not.to.contain('right-horse');
      await page.getByText(/\/api\/git\/webhook\//).waitFor();
      await page.getByRole('tab', { name: 'Now' }).click();
      await list('Manifests').getByText('Busy CPU').waitFor();
    } finally {
      await server.stop();
    }
  });

  it('binds to a server over ssh: asks for its host key, and shows the public half of its own', async function () {
    if (findSshd() === null) this.skip();
    const server = await SshServer.start();
    try {
      server.create();
      server.commit({ files: { 'vault/cpu.yaml': rule('Busy CPU') } });
      const { vault: env } = ids;
      await open(env, 'settings');
      await page.getByRole('button', { name: 'A git server' }).click();
      await page.getByLabel('Address').fill(server.url());
      await page.getByText('Give the private key.').waitFor();
      await page.getByLabel('Private key').fill(server.key);
      await page.getByText('Give the server’s host key').waitFor();
      expect(await save().isDisabled()).to.equal(true);
      await page.getByLabel('Known hosts').fill(server.knownHosts);
      await page.getByLabel('Folder', { exact: true }).fill('vault');
      await save().click();
      await applied(env, 'Busy CPU');
      await settles(() => page.getByText('The repository could not be read').count(), 0);
      await page.getByText('An ssh key; give its public half to the server:').waitFor();
      expect(await page.getByLabel('Private key').count()).to.equal(0);
    } finally {
      await server.stop();
    }
  });

  it('tries a failed pass again, one and all', async () => {
    const server = await GitServer.start();
    try {
      server.create();
      server.commit({ files: { 'mill/cpu.yaml': rule('Busy CPU') } });
      server.mischief = () => ({ status: 503 });
      const { mill: env } = ids;
      await api.mutate('gitSync.configure', {
        environmentId: env,
        mode: 'sync',
        path: 'mill',
        repositoryUrl: server.url(),
      });
      await open(env);
      await fault(/503/).waitFor();
      await page.getByText('Nothing is known of them before the repository can be read.').waitFor();
      await page
        .getByRole('group', { name: 'Gate of mill' })
        .getByRole('link', { name: /accepted.*Nothing has been read yet/ })
        .waitFor();
      await page.getByRole('tab', { name: 'Passes' }).click();
      await page.getByRole('button', { name: 'Failed', exact: true }).click();
      await page.getByRole('button', { name: 'Retry No commit was read' }).first().click();
      await note('It is tried again.').waitFor();
      const failed = async () =>
        (await api.query<GitJob[]>('gitSync.jobs', { environmentId: env, status: 'failed' })).length;
      await until(async () => (await failed()) > 0, { what: 'the retry to have failed' });
      server.mischief = () => null;
      await page.getByRole('button', { name: 'Retry all that failed' }).click();
      await note('What had failed is tried again.').waitFor();
      await applied(env, 'Busy CPU');
      await settles(() => page.getByRole('button', { name: 'Retry all that failed' }).count(), 0);
      await page.getByText(/None of the last \d+ passes is one of these/).waitFor();
    } finally {
      await server.stop();
    }
  });

  it('writes a copy of the database to git in mode push, and plans nothing', async () => {
    const { copy: env } = ids;
    await api.mutate('alert.createRule', {
      ...{ environmentId: env, teamId: session.site.teamId, name: 'Kept safe' },
      ...{ metric: 'cpu_usage', condition: 'gt', threshold: 50, durationSeconds: 60 },
    });
    await open(env, 'settings');
    await page.getByRole('radio', { name: 'Push' }).check();
    await page.getByLabel('Folder', { exact: true }).fill('environments/copy');
    await save().click();
    await page.getByRole('tab', { name: 'Now' }).click();
    await page.getByText('Headgate writes here what the environment holds').waitFor();
    expect(await page.getByRole('tab').allTextContents()).to.deep.equal([
      'Now',
      'Holds & pauses',
      'Passes',
      'Settings',
    ]);
    await page.getByRole('link', { name: 'The passes' }).click();
    await list('Last passes').getByText('Copy of copy').first().waitFor();
    const git = new GitClient(session.site.cloneUrl());
    try {
      await git.clone();
      expect((await git.run('ls-files', 'environments/copy/alerts')).stdout).to.contain('Kept');
    } finally {
      await git.remove();
    }
  });
});
