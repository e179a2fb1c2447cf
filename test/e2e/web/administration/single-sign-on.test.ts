/** A browser between Headgate and a real identity provider, which is another site. */
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../../../support/harness/controller.ts';
import { BROWSER_WAIT_MS } from '../../../support/harness/patience.ts';
import { type SingleSignOn, startSingleSignOn } from '../../../support/scenes/single-sign-on.ts';
import { makeUser, PASSWORD } from '../../../support/users/person.ts';
import { closeByEscape, closePages, sharedBrowser, watchForErrors } from '../browser.ts';
import { partsOf } from '../use-site.ts';

describe('single sign-on in a browser', function () {
  this.timeout(120_000);
  let scene: SingleSignOn;
  let browser: Browser;
  let page: Page;
  let errors: string[];
  let teamId: string;
  let fleet: string;

  before(async () => {
    scene = await startSingleSignOn({ host: 'localhost' });
    const { id } = await scene.root.mutate<{ id: string }>('team.create', { name: 'Platform' });
    const made = await scene.root.mutate<{ id: string }>('environment.create', {
      teamId: id,
      name: 'production',
    });
    fleet = `/e/${made.id}/fleet?view=matrix`;
    teamId = id;
    await scene.root.mutate('settings.updateOidcTeamMappings', {
      mappings: [{ group: 'engineers', teamId: id, role: 'EDITOR' }],
      ...{ defaultRole: 'VIEWER', groupSyncEnabled: true, groupsScope: 'groups' },
    });
    browser = await sharedBrowser();
  });
  after(async () => {
    if (browser) await closePages(browser);
    await scene?.stop();
  });
  beforeEach(async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    page = await context.newPage();
    errors = watchForErrors(page);
  });
  afterEach(async () => {
    await page.context().close();
    expect(errors).to.deep.equal([]);
  });

  const toProvider = () => page.getByRole('link', { name: 'Continue with Example ID' }).click();
  const atProvider = async (subject: string) => {
    await page.getByRole('heading', { name: 'Sign in to headgate' }).waitFor();
    await page.getByLabel('Login').fill(subject);
    await page.getByRole('button', { name: 'Continue' }).click();
  };
  const atPage = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const { isUsable } = partsOf({
    get page() {
      return page;
    },
  });
  const signOut = async () => {
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
  };

  it('leads to the provider and back to the page that was wanted, with the mapped role, and out of both', async () => {
    const subject = scene.somebody({ name: 'Grace', email: 'grace@example.org', groups: ['engineers'] });
    await page.goto(scene.test.url + fleet);
    await page.getByRole('link', { name: 'Continue with Example ID' }).waitFor();
    await isUsable('two ways in');
    await toProvider();
    await atProvider(subject);
    await atPage('Fleet');
    expect(page.url()).to.equal(scene.test.url + fleet);
    const { user_id } = await scene.db('user_identities').where({ subject }).first();
    expect((await scene.db('team_members').where({ user_id })).map(({ role }) => role)).to.deep.equal([
      'EDITOR',
    ]);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText('grace@example.org').waitFor();
    await closeByEscape(page);

    await signOut();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('form', { name: 'Sign in' }).waitFor();
    expect(page.url()).to.match(new RegExp(`^${scene.test.url}/sign-in`));
    expect(await scene.db('sessions').where({ user_id })).to.deep.equal([]);
    await toProvider();
    await page.getByRole('heading', { name: 'Sign in to headgate' }).waitFor();
  });

  it('says what to do where the address belongs to another account, which its owner then links', async () => {
    const email = 'linus@example.org';
    await makeUser(scene.db, { email, teams: { [teamId]: 'VIEWER' } });
    const subject = scene.somebody({ email });
    await page.goto(`${scene.test.url}/sign-in`);
    await toProvider();
    await atProvider(subject);
    await page.getByRole('alert').getByText('An account with your address exists already').waitFor();
    await isUsable('a problem of the provider');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await atPage('Overview');
    await page.goto(`${scene.test.url}/settings`);
    await page.getByRole('link', { name: /^Link/ }).click();
    // The browser is signed in there since the first try.
    await page
      .getByText(/is linked/)
      .first()
      .waitFor();
    expect(await scene.db('user_identities').where({ subject })).to.have.length(1);
    await page.goto(`${scene.test.url}/settings?problem=already_linked`);
    await page.getByText('belongs to somebody else here').waitFor();
    await page.getByRole('button', { name: 'Understood' }).click();
    await page.waitForURL((url) => url.search === '');
  });

  it('leaves the password as a way in while the provider is down', async () => {
    await scene.provider.down();
    scene.test.controller.systemContext('test').services.identityProvider.forget();
    await page.goto(`${scene.test.url}/sign-in`);
    await toProvider();
    await page.getByRole('alert').getByText('The identity provider does not answer').waitFor();
    await page.getByLabel('Email').fill(ROOT.email);
    await page.getByLabel('Password').fill(ROOT.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await atPage('Overview');
  });
});
