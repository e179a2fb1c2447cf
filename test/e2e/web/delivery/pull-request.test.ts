/** The review of a pull request: what it shows, what may be done, and what is refused with which words. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { patient } from '../../../support/harness/patience.ts';
import { GiteaServer } from '../../../support/servers/forges/index.ts';
import { beyondAPhone, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openPromotionScene, PLANNED_MS, type PromotionScene, testedManifest } from './promotion-scene.ts';

const FILE = 'production/orders.yaml';

describe('the review of a pull request', function () {
  this.timeout(240_000);
  let scene: PromotionScene;
  /** Of the one who opens them: the super admin. */
  let page: Page;
  let reviewer: Page;
  let errors: string[];
  let forge: GiteaServer;
  const found: string[] = [];

  const fits = async (of: Page, where: string): Promise<void> => {
    found.push(...(await beyondAPhone(of, where)));
  };
  const look = async (of: Page, where: string): Promise<void> => {
    found.push(...(await violationsInBothSchemes(of, where)));
    await fits(of, where);
  };
  const open = async (of: Page, number: number): Promise<void> => {
    await of.goto(scene.at(`promotions/${number}`));
    await of.getByRole('heading', { name: new RegExp(`^#${number} `), level: 1 }).waitFor();
  };
  const button = (of: Page, name: string): Locator => of.getByRole('button', { name, exact: true });
  const conflict = (of: Page): Locator =>
    of.getByRole('status').filter({ hasText: 'It conflicts with main in 1 file' });
  const checks = (of: Page, word: string): Promise<void> =>
    of
      .getByRole('list', { name: 'Checks' })
      .getByText(word)
      .first()
      .waitFor({ timeout: patient(PLANNED_MS) });
  const orders = (description: string): string => testedManifest('orders', description);

  before(async () => {
    forge = await new GiteaServer().listen();
    scene = await openPromotionScene({ runsInStaging: false });
    page = scene.session.page;
    errors = watchForErrors(page);
    reviewer = await scene.session.as('EDITOR');
    await scene.push({ [FILE]: orders('as it is') }, 'Add orders to production');
  });
  after(async () => {
    await scene?.close();
    await forge?.stop();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('is opened for a branch from a dialog, which shows what the server refuses', async () => {
    await scene.pushBranch(
      'calmer',
      { [FILE]: orders('calmer'), 'production/notes.txt': 'Why: it floods\n' },
      'Calmer',
    );
    await page.goto(scene.at('promotions?new=1'));
    const dialog = page.getByRole('dialog', { name: 'Open a pull request' });
    await dialog.getByLabel('Branch').fill('nowhere');
    await dialog.getByLabel('Title').fill('Calm the orders down');
    await look(page, 'opening a pull request');
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/nowhere/)
      .waitFor();
    await dialog.getByLabel('Branch').fill('calmer');
    await dialog.getByLabel('Description').fill('## Why\n\n- it **floods** the index\n- see `orders`');
    await dialog.getByRole('button', { name: 'Open it' }).click();
    await page.waitForURL(/\/promotions\/1$/);
    await page.getByRole('heading', { name: '#1 Calm the orders down', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Description' }).getByText('floods', { exact: true }).waitFor();
    await checks(page, 'Passes');
  });

  it('says to its author in plain sight why nothing can be approved or merged', async () => {
    const refusals = page.getByRole('list', { name: 'What cannot be done now' });
    await refusals.getByText(/Merge: .*0 of 1 approvals/).waitFor();
    await refusals.getByText(/Review: .*somebody else has to review it/).waitFor();
    for (const name of ['Approve…', 'Ask for changes…', 'Merge…'])
      expect(await button(page, name).isDisabled(), name).to.equal(true);
    expect(await button(page, 'Bring in main').count(), 'nothing conflicts').to.equal(0);
    await page.keyboard.press('m');
    await page.keyboard.press('a');
    expect(await page.getByRole('dialog').count(), 'by keyboard').to.equal(0);
  });

  it('walks the files by keyboard, and keeps the file in the address', async () => {
    await open(reviewer, 1);
    const head = reviewer.getByRole('region', { name: FILE, exact: true }).getByRole('button').first();
    const hasFocus = () => head.evaluate((element) => element === element.ownerDocument.activeElement);
    const files = reviewer.getByRole('list', { name: 'Changed files' });
    await files.getByRole('button', { name: /notes\.txt/ }).waitFor();
    await reviewer.getByRole('heading', { level: 1 }).click();
    await reviewer.keyboard.press('n');
    await reviewer.waitForURL(/file=production%2Fnotes\.txt/);
    await reviewer.keyboard.press('n');
    await reviewer.waitForURL(/file=production%2Forders\.yaml/);
    await settles(hasFocus, true);
    await reviewer.keyboard.press('Enter');
    expect(await head.getAttribute('aria-expanded')).to.equal('false');
    await reviewer.keyboard.press('p');
    await reviewer.waitForURL(/notes\.txt/);
    await reviewer.goto(scene.at('promotions'));
    await reviewer.goto(scene.at(`promotions/1?file=${encodeURIComponent(FILE)}`));
    await settles(hasFocus, true);
    await reviewer.keyboard.press('?');
    await reviewer
      .getByRole('dialog', { name: 'Keyboard shortcuts' })
      .getByText('Approve a pull request')
      .waitFor();
    await reviewer.keyboard.press('Escape');
  });

  it('shows on a phone one part at a time', async () => {
    await reviewer.setViewportSize({ width: 390, height: 844 });
    await button(reviewer, 'Plan').click();
    await reviewer.waitForURL(/part=plan/);
    const plan = reviewer.getByRole('region', { name: 'Plan for production' });
    await plan.getByText(/It touches 1 node: restarts on 1/).waitFor();
    await reviewer
      .getByRole('list', { name: 'Fields of Pipeline orders' })
      .getByText('calmer')
      .first()
      .waitFor();
    await fits(reviewer, 'the plan of a pull request');
    await button(reviewer, 'Conversation').click();
    await reviewer.getByRole('list', { name: 'Commits' }).getByText('Calmer').waitFor();
    await fits(reviewer, 'the conversation of a pull request');
    await reviewer.setViewportSize({ width: 1440, height: 900 });
  });

  it('is renamed and described anew by whoever may change it', async () => {
    await button(page, 'Change title and description').click();
    const dialog = page.getByRole('dialog', { name: 'Title and description of #1' });
    await dialog.getByLabel('Title').fill('Calm orders down');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('heading', { name: '#1 Calm orders down', level: 1 }).waitFor();
    await settles(
      () => button(page, 'Change title and description').evaluate((e) => e === e.ownerDocument.activeElement),
      true,
      'the focus to be back',
    );
  });

  it('tells the author live that changes are wanted, with the words for it', async () => {
    await button(reviewer, 'Ask for changes…').click();
    const dialog = reviewer.getByRole('dialog', { name: 'Ask for changes of #1' });
    expect(await dialog.getByRole('button', { name: 'Ask for changes' }).isDisabled()).to.equal(true);
    await dialog.getByLabel('What is to change').fill('Say **how much** calmer.');
    await dialog.getByRole('button', { name: 'Ask for changes' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const talk = page.getByRole('list', { name: 'Conversation' });
    await talk.getByText('Changes wanted').waitFor();
    await talk.getByText('how much', { exact: true }).waitFor();
    await page
      .getByRole('list', { name: 'What cannot be done now' })
      .getByText(/has asked for changes/)
      .waitFor();
  });

  it('shows a conflict with its files, and refuses to join what does not go together', async () => {
    await scene.push({ [FILE]: orders('busier') }, 'Busier');
    const banner = conflict(page);
    await banner.waitFor({ timeout: patient(PLANNED_MS) });
    await banner.getByRole('list', { name: 'Files in conflict' }).getByText(FILE).waitFor();
    await checks(page, 'Fails');
    await look(page, 'a pull request in conflict');
    await button(page, 'Bring in main').click();
    await banner
      .getByRole('alert')
      .getByText(/orders\.yaml/)
      .waitFor();
  });

  it('says that new commits were pushed while one reads, takes no verdict of the old ones, and clears a conflict that they resolve', async () => {
    await conflict(reviewer).waitFor();
    const file = reviewer.getByRole('region', { name: FILE, exact: true });
    await file.getByText('calmer').first().waitFor();
    await button(reviewer, 'Approve…').click();
    const dialog = reviewer.getByRole('dialog', { name: 'Approve #1' });
    await scene.git.run('checkout', '--quiet', 'calmer');
    await scene.git.run('merge', '--quiet', 'main');
    await writeFile(join(scene.git.folder, FILE), orders('calmer than busier'));
    await scene.git.run('commit', '--quiet', '--all', '--message', 'Join them');
    expect((await scene.git.run('push', 'origin', 'calmer')).code).to.equal(0);
    await scene.git.run('checkout', '--quiet', 'main');
    await dialog
      .getByText(/New commits were pushed while you read/)
      .waitFor({ timeout: patient(PLANNED_MS) });
    expect(await dialog.getByRole('button', { name: 'Approve' }).isDisabled()).to.equal(true);
    await look(reviewer, 'an approval that came too late');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await reviewer.getByText('New commits were pushed: look again').waitFor();
    expect(await file.getByText('than busier').count(), 'what is read stays').to.equal(0);
    await button(reviewer, 'Look again').click();
    await file.getByText('than busier').first().waitFor();
    expect(await reviewer.getByText('New commits were pushed: look again').count()).to.equal(0);
    await reviewer
      .getByRole('list', { name: 'Conversation' })
      .getByText('before the newest commits')
      .waitFor();
    await conflict(reviewer).waitFor({ state: 'detached', timeout: patient(PLANNED_MS) });
    await checks(reviewer, 'Passes');
  });

  it('shows a VIEWER everything and no action', async () => {
    const viewer = await scene.session.as('VIEWER');
    await open(viewer, 1);
    await viewer
      .getByRole('list', { name: 'What cannot be done now' })
      .getByText(/Your role here is VIEWER/)
      .waitFor();
    await viewer.getByRole('region', { name: FILE, exact: true }).waitFor();
    expect(
      await viewer
        .getByRole('main')
        .getByRole('button', { name: /^(Approve|Ask for|Merge|Close|Reopen|Change title|Bring in|Comment)/ })
        .count(),
    ).to.equal(0);
    expect(await viewer.getByLabel('Your comment').count()).to.equal(0);
    await viewer.keyboard.press('m');
    expect(await viewer.getByRole('dialog').count()).to.equal(0);
    await viewer.context().close();
  });

  it('is closed without being merged, and opened again', async () => {
    await button(page, 'Close…').click();
    const dialog = page.getByRole('dialog', { name: 'Close #1 without merging it' });
    await dialog.getByRole('button', { name: 'Close it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('list', { name: 'Way of pull request #1' }).getByText('closed').first().waitFor();
    expect(await button(page, 'Merge…').count()).to.equal(0);
    await button(page, 'Reopen').click();
    await button(page, 'Close…').waitFor();
  });

  it('says in the dialog why a merge is refused, and keeps what was chosen', async () => {
    await button(reviewer, 'Approve…').click();
    await reviewer
      .getByRole('dialog', { name: 'Approve #1' })
      .getByRole('button', { name: 'Approve' })
      .click();
    await settles(() => button(reviewer, 'Merge…').isDisabled(), false);
    await button(reviewer, 'Merge…').click();
    const dialog = reviewer.getByRole('dialog', { name: 'Merge #1 into main' });
    await dialog.getByRole('radio', { name: 'Rebase' }).check();
    await dialog.getByLabel('Type production to confirm').fill('production');
    // It holds a merge of main, which has no place on top of main.
    await dialog.getByRole('button', { name: 'Merge into main' }).click();
    await dialog.getByRole('alert').waitFor({ timeout: patient(PLANNED_MS) });
    expect(await dialog.getByRole('radio', { name: 'Rebase' }).isChecked()).to.equal(true);
    await dialog.getByRole('radio', { name: 'Merge' }).check();
    await dialog.getByRole('button', { name: 'Merge into main' }).click();
    await dialog.waitFor({ state: 'hidden', timeout: patient(PLANNED_MS) });
    await reviewer
      .getByRole('heading', { name: 'production runs what was merged' })
      .waitFor({ timeout: patient(PLANNED_MS) });
    await reviewer
      .getByRole('region', { name: FILE, exact: true })
      .getByText('calmer than busier')
      .first()
      .waitFor();
  });

  it('of a forge is read here, and reviewed and merged there', async () => {
    const { api, session, git } = scene;
    const { id } = await api.mutate<{ id: string }>('environment.create', {
      name: 'forged',
      teamId: session.site.teamId,
    });
    await scene.pushBranch('there', { 'forged/there.txt': 'there\n' }, 'There');
    const headSha = (await git.run('rev-parse', 'there')).stdout.trim();
    const { number } = forge.add({ title: 'From there', branch: 'there', headSha, body: 'Said **there**.' });
    const { username, password, origin, pathname } = new URL(session.site.cloneUrl());
    await api.mutate('gitSync.configure', {
      ...{ environmentId: id, mode: 'sync', path: 'forged', repositoryUrl: `${origin}${pathname}` },
      credentials: { type: 'basic', username, password },
      forge: { name: 'gitea', url: forge.url, project: forge.project, token: forge.token },
    });
    await page.goto(session.at('promotions', id));
    const table = page.getByRole('table', { name: 'Pull requests' });
    await table.getByRole('link', { name: /^Gitea #\d/ }).waitFor({ timeout: patient(PLANNED_MS) });
    expect(await button(page, 'Open a pull request').isDisabled()).to.equal(true);
    await table.getByRole('link', { name: /From there/ }).click();
    await page.getByRole('heading', { name: `#${number} From there`, level: 1 }).waitFor();
    const out = page.getByRole('link', { name: 'Review it on Gitea' });
    expect(await out.getAttribute('href')).to.include(`/pulls/${number}`);
    for (const name of ['Approve…', 'Merge…', 'Change title and description'])
      expect(await button(page, name).count(), name).to.equal(0);
    await page.getByText('Comments and reviews are read and written on Gitea.').waitFor();
    await page.getByRole('region', { name: 'forged/there.txt' }).waitFor();
    const [opened] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('o')]);
    expect(opened.url()).to.equal(await out.getAttribute('href'));
    await opened.close();
    await look(page, 'a pull request of a forge');
    await button(page, 'Merge when checks pass…').click();
    const dialog = page.getByRole('dialog', { name: `Merge #${number} when its checks pass` });
    await dialog.getByLabel('How').selectOption('squash');
    await look(page, 'merging when checks pass');
    await dialog.getByRole('button', { name: 'Merge when checks pass' }).click();
    await page.getByText('Gitea merges it by itself').waitFor();
    expect(forge.pulls[0]?.autoMerge).to.equal('squash');
    await button(page, 'Do not merge it by itself').click();
    await button(page, 'Merge when checks pass…').waitFor();
    expect(forge.pulls[0]?.autoMerge).to.equal(null);
    await button(page, 'Close…').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close it' }).click();
    await page
      .getByRole('list', { name: `Way of pull request #${number}` })
      .getByText('closed')
      .first()
      .waitFor();
    expect(forge.pulls[0]?.state).to.equal('closed');
  });

  it('can be used by everybody, in both schemes and on a phone', () => {
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
