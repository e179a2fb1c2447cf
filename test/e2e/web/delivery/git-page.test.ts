/** The git page: what git wants, what is, why they differ, and what people say to the loop. */

import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { ApiClient } from '../../../../controller/demo/client.ts';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { GitClient } from '../../../support/clients/git-client.ts';
import { idleManifest, namedPipeline, untilRunning } from '../../../support/fixtures/pipelines.ts';
import { patient } from '../../../support/harness/patience.ts';
import { until } from '../../../support/harness/until.ts';
import { beyondAPhone, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const rule = (name: string, threshold: number, metadata = '') => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name}${metadata} }
spec: { metric: cpu_usage, condition: gt, threshold: ${threshold}, durationSeconds: 60 }
`;

const group = (region: string) => `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: edges }
spec: { criteria: { region: ${region} } }
`;

const LONG_REASON = 'INC-42: a reason that goes over more than one line on the screen of a phone';

const RULE = 'staging/alerts/cpu.yaml';

describe('the git page', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let git: GitClient;
  let api: ApiClient;
  let page: Page;
  let errors: string[];

  const environmentId = (): string => session.site.environmentId;
  const status = () => api.query<GitSyncStatus>('gitSync.status', { environmentId: environmentId() });
  const configure = (change: object) =>
    api.mutate('gitSync.configure', { environmentId: environmentId(), mode: 'sync', ...change });
  const open = (tab = '') => page.goto(session.at(tab ? `git?tab=${tab}` : 'git'));
  const list = (name: string): Locator => page.getByRole('list', { name, exact: true });
  const item = (name: string, text: string): Locator =>
    list(name).getByRole('listitem').filter({ hasText: text }).first();
  const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name });
  const wrong = (text: string): Locator => item('Wrong now', text);
  const note = (text: string | RegExp): Locator =>
    page.getByRole('status', { name: 'Notes' }).getByText(text).last();

  const found: string[] = [];
  const look = async (where: string): Promise<void> => {
    found.push(...(await violationsInBothSchemes(page, where)), ...(await beyondAPhone(page, where)));
  };

  async function push(files: Record<string, string | null>, message: string): Promise<void> {
    await git.commit(files, message);
    const pushed = await git.push();
    expect(pushed.code, pushed.stderr).to.equal(0);
  }
  async function reason(name: string, expected: string): Promise<void> {
    let seen: string | undefined;
    await until(
      async () => {
        const { manifests } = await status();
        seen = manifests
          .find((manifest) => manifest.name === name)
          ?.conditions.find(({ type }) => type === 'Applied')?.reason;
        return seen === expected;
      },
      { what: () => `${name} to be ${expected}; it is ${seen}`, timeoutMs: 20_000, everyMs: 50 },
    );
  }

  before(async () => {
    session = await openSite();
    page = session.page;
    errors = watchForErrors(page);
    api = await session.site.api();
    await session.site.agent();
    git = new GitClient(session.site.cloneUrl());
    await git.clone();
    await push(
      {
        'staging/orders.yaml': idleManifest('orders', 'one'),
        [RULE]: rule('Busy CPU', 90),
        'staging/edges.yaml': group('eu'),
      },
      'Add orders and a rule',
    );
    const { id } = await namedPipeline(api, environmentId(), 'orders');
    await untilRunning(api, id, 1);
  });
  after(async () => {
    await git?.remove();
    await session?.close();
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  it('says in the first screenful what is bound to what, and that nothing is wrong', async () => {
    await open();
    await page.getByRole('group', { name: 'Gate of staging' }).waitFor();
    await page.getByText('What git wants is what was accepted.').waitFor();
    const facts = page.getByRole('main');
    for (const name of ['Branch', 'Folder', 'Mode', 'Last look', 'Next look', 'Newest commit'])
      await facts.getByRole('term').filter({ hasText: name }).waitFor();
    await page.getByText('Add orders and a rule').first().waitFor();
  });

  it('keeps tab and filter in the address, and leads from a line to the pass that read it', async () => {
    await page.getByLabel('Filter manifests').fill('alertrule');
    await settles(
      () =>
        list('Manifests')
          .getByRole('button', { name: /^Conditions of/ })
          .count(),
      1,
    );
    await page.waitForURL(/q=alertrule/);
    await page.reload();
    await item('Manifests', 'Busy CPU').waitFor();
    await item('Manifests', 'Busy CPU')
      .getByRole('link', { name: `${RULE}:1` })
      .click();
    await page.waitForURL(/tab=passes/);
    await list('Last passes').getByText('Add orders and a rule').first().waitFor();
    await look('git, passes');
    await page.goBack();
    await item('Manifests', 'Busy CPU').waitFor();
    await page.getByRole('tab', { name: 'Drift' }).click();
    await page.waitForURL(/tab=drift/);
    await page.getByRole('heading', { name: 'Nothing differs' }).waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await item('Drift', 'orders').getByText('Same everywhere').waitFor();
    await page.getByLabel('Filter objects').fill('alertrule');
    await settles(() => item('Drift', 'orders').count(), 0);
    await item('Drift', 'Busy CPU').waitFor();
    await page.getByLabel('Filter objects').fill('');
    await settles(
      async () => (await item('Drift', 'orders').getByRole('term').allTextContents()).join(', '),
      'Last applied, Git now, Database now, Nodes now',
    );
  });

  it('tells of a refused manifest among what is wrong, with the way to its place', async () => {
    await push({ 'staging/bad.yaml': idleManifest('bad').replace('sinks:', 'sink:') }, 'Add a bad one');
    await open('plan');
    await wrong('1 problem in manifests').getByRole('link', { name: 'See where' }).click();
    await list('Import errors')
      .getByText(/bad\.yaml:\d+/)
      .waitFor();
    await push({ 'staging/bad.yaml': null }, 'Take it away');
    await list('Wrong now').waitFor({ state: 'detached' });
  });

  it('plans what another branch would change: fields, engine config, nodes', async () => {
    await git.run('checkout', '--quiet', '-b', 'faster');
    await writeFile(
      `${git.folder}/staging/orders.yaml`,
      idleManifest('orders', 'two').replace('interval: 1', 'interval: 2'),
    );
    await git.run('commit', '--quiet', '--all', '--message', 'Slower');
    expect((await git.run('push', 'origin', 'faster')).code).to.equal(0);
    await git.run('checkout', '--quiet', 'main');
    await open('plan');
    await page.getByRole('heading', { name: 'Nothing to do' }).waitFor();
    await page.getByLabel('Plan another branch').fill('faster');
    await page.getByRole('button', { name: 'Plan it' }).click();
    await page.waitForURL(/ref=faster/);
    await page.getByRole('heading', { name: 'Plan of faster' }).waitFor();
    const fields = list('Fields of Pipeline orders');
    await fields.getByText('/spec/description').or(fields.getByText('/description')).first().waitFor();
    await page.getByRole('region', { name: 'Engine config of orders' }).getByText('interval: 2').waitFor();
    await page
      .getByText(/It touches 1 node: restarts on 1/)
      .first()
      .waitFor();
    await look('git, plan');
    expect(await page.getByRole('button', { name: 'Approve…' }).count(), 'of another branch').to.equal(0);
    await page.getByLabel('Plan another branch').fill('nowhere');
    await page.getByRole('button', { name: 'Plan it' }).click();
    await page.getByRole('alert').getByText('The plan of nowhere could not be shown').waitFor();
    await page.getByRole('button', { name: 'Back to main' }).click();
    await page.getByRole('heading', { name: 'Nothing to do' }).waitFor();
  });

  it('shows the plan that a guard holds, and applies it once an ADMIN approved exactly that', async () => {
    await push({ 'staging/spare.yaml': idleManifest('spare') }, 'Add a spare one');
    await reason('spare', 'Applied');
    await configure({ policy: { maxDeletes: 0 } });
    await push({ 'staging/spare.yaml': null }, 'Take the spare one away');
    await open();
    await wrong('A plan waits for an ADMIN').getByRole('link', { name: 'Look at the plan' }).click();
    await list('Guards').getByText('Most deletions', { exact: true }).waitFor();
    await item('Deleted', 'spare').waitFor();
    await settles(() => wrong('A plan waits').getByRole('link').count(), 0, 'a link to the page itself');
    const approve = page.getByRole('button', { name: 'Approve…' });
    const form = dialog(/^Approve plan [0-9a-f]{8}$/);
    await approve.focus();
    await page.keyboard.press('Enter');
    await form.waitFor();
    await page.keyboard.press('Escape');
    await settles(() => page.evaluate<string>('document.activeElement.textContent.trim()'), 'Approve…');
    await page.keyboard.press('Enter');
    await form.getByText('1 object is deleted: spare.').waitFor();
    await form.getByRole('button', { name: 'Approve and apply it' }).click();
    await form.waitFor({ state: 'hidden' });
    await list('Wrong now').waitFor({ state: 'detached' });
    await until(async () => !(await status()).manifests.some(({ name }) => name === 'spare'), {
      what: 'spare to be gone',
    });
    await configure({ policy: { maxDeletes: 10 } });
  });

  it('holds and releases, with who and why', async () => {
    await open();
    await page.getByRole('button', { name: 'Conditions of Pipeline orders' }).click();
    await look('git, a manifest');
    await page.getByRole('button', { name: 'Hold… orders' }).click();
    const form = dialog('Hold pipeline orders');
    await form.getByLabel('Why').fill(LONG_REASON);
    await form.getByRole('button', { name: 'Hold it' }).click();
    await form.waitFor({ state: 'hidden' });
    await reason('orders', 'Held');
    await wrong('1 object is held').getByRole('link', { name: 'See the holds' }).click();
    await item('Held', 'orders').getByText(`${LONG_REASON}.`).waitFor();
    await look('git, holds');
    await item('Held', 'orders').getByText('holds', { exact: true }).waitFor();
    await item('Held', 'orders').getByRole('button', { name: 'Release orders' }).click();
    await reason('orders', 'Applied');
    await page.getByRole('heading', { name: 'Nothing is held or suspended' }).waitFor();
  });

  it('suspends one object and the whole loop, and resumes them', async () => {
    await open('holds');
    await page.getByRole('button', { name: 'Suspend…' }).click();
    let form = dialog('Suspend');
    await form.getByLabel('What git is to leave alone').selectOption('alert rule Busy CPU');
    await form.getByLabel('Why').fill('Being tried');
    await form.getByRole('button', { name: 'Suspend', exact: true }).click();
    await item('Suspended', 'Busy CPU').getByText('Being tried.').waitFor();
    await item('Suspended', 'Busy CPU').getByRole('button', { name: 'Resume Busy CPU' }).click();
    await list('Suspended').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Suspend…' }).click();
    form = dialog('Suspend');
    await form.getByRole('button', { name: 'Suspend', exact: true }).click();
    await wrong('The loop is suspended').getByRole('button', { name: 'Resume' }).waitFor();
    await settles(() => page.getByRole('button', { name: 'Sync now' }).isDisabled(), true);
    await item('Suspended', 'The whole loop').waitFor();
    expect(await list('Suspended').getByRole('listitem').count(), 'each object as well').to.equal(1);
    expect(await list('Wrong now').getByRole('listitem').count()).to.equal(1);
    await wrong('The loop is suspended').getByRole('button', { name: 'Resume' }).click();
    await list('Wrong now').waitFor({ state: 'detached' });
  });

  it('adopts an object of the UI whose name a manifest has', async () => {
    const { id } = await api.mutate<{ id: string }>('alert.createRule', {
      environmentId: environmentId(),
      teamId: session.site.teamId,
      name: 'By hand',
      metric: 'cpu_usage',
      condition: 'gt',
      threshold: 50,
      durationSeconds: 60,
    });
    const confirm = ', annotations: { headgate/prune: confirm }';
    await push({ 'staging/alerts/hand.yaml': rule('By hand', 60, confirm) }, 'Describe it');
    await open();
    await wrong('1 manifest has the name of something that the UI owns')
      .getByRole('button', { name: 'Adopt…' })
      .click();
    await dialog('Adopt alert rule By hand').getByRole('button', { name: 'Let git take it over' }).click();
    await reason('By hand', 'Applied');
    const { manifests } = await status();
    expect(manifests.find(({ name }) => name === 'By hand')?.objectId).to.equal(id);
    await list('Wrong now').waitFor({ state: 'detached' });
  });

  it('lets an ADMIN delete what left git and was to be confirmed', async () => {
    await push({ 'staging/alerts/hand.yaml': null }, 'Take it away');
    await open();
    await wrong('1 object left git and waits to be deleted')
      .getByRole('link', { name: 'See what waits' })
      .click();
    await item('Waiting to be deleted', 'By hand').getByRole('button', { name: 'Delete… By hand' }).click();
    await dialog('Delete alert rule By hand').getByRole('button', { name: 'Delete it' }).click();
    await list('Waiting to be deleted').waitFor({ state: 'detached' });
    await list('Wrong now').waitFor({ state: 'detached' });
  });

  it('shows drift in four columns where nothing is healed, and keeps or puts back what is', async () => {
    await configure({ policy: { selfHeal: false } });
    await session.site.db('alert_rules').where({ name: 'Busy CPU' }).update({ threshold: 11 });
    await api.mutate('gitSync.syncNow', { environmentId: environmentId() });
    await reason('Busy CPU', 'Drifted');
    await open();
    await wrong('1 object was changed past git').getByRole('link', { name: 'See the drift' }).click();
    const row = item('Drift', 'Busy CPU');
    await row.getByText('Changed past git').waitFor();
    await row.getByText('it is left so').waitFor();
    await row.getByText('differs', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Keep what is: hold… Busy CPU' }).waitFor();
    await look('git, drift');
    await configure({ policy: { selfHeal: true } });
    await reason('Busy CPU', 'Applied');
    await page.getByRole('heading', { name: 'Nothing differs' }).waitFor();
  });

  it('gives the place of what it describes instead of buttons, where edits are refused', async () => {
    await page.goto(session.at('fleet?view=groups'));
    await page.getByRole('link', { name: 'In git at staging/edges.yaml:1' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Change|Delete) / }).count()).to.equal(0);
  });

  it('says before an edit that it becomes a pull request, and after it which one', async () => {
    await configure({ policy: { uiEdits: 'propose' } });
    await page.goto(session.at('alerts?tab=rules'));
    await page.getByRole('button', { name: 'Change Busy CPU' }).click();
    const form = dialog('Change Busy CPU');
    await form.getByText(/becomes a pull request: nothing changes here before it is merged/).waitFor();
    await form.getByLabel('Threshold, per cent').fill('77');
    await form.getByRole('button', { name: 'Save the rule' }).click();
    await note(/^Proposed as pull request #1/).waitFor();
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.waitForURL(/\/promotions\/1$/);
    await page.getByRole('heading', { name: /^#1 / }).waitFor();
    await list('Fields of AlertRule Busy CPU')
      .getByText('77')
      .waitFor({ timeout: patient(30_000) });
  });

  it('commits an edit in the name of whoever made it, and shows it come back', async () => {
    await configure({ policy: { uiEdits: 'commit' } });
    await page.goto(session.at('fleet?view=groups'));
    await page.getByRole('button', { name: 'Change edges' }).click();
    const form = dialog('Change edges');
    await form.getByText(/becomes a commit in your name/).waitFor();
    await form.getByRole('textbox', { name: 'Value of pair 1' }).fill('asia');
    await form.getByRole('button', { name: 'Save the group' }).click();
    await note(/^Committed as [0-9a-f]{7} to staging\/edges\.yaml:1/).waitFor();
    await page.getByRole('table', { name: 'Groups' }).getByText('asia').first().waitFor();
    await git.run('pull', '--quiet', 'origin', 'main');
    await configure({ policy: { uiEdits: 'refuse' } });
  });

  it('stops what git describes and holds it, and says so on its page', async () => {
    const { id } = await namedPipeline(api, environmentId(), 'orders');
    await page.goto(session.at(`pipelines/${id}`));
    await page.getByRole('button', { name: 'Actions on orders' }).click();
    await page.getByRole('menuitem', { name: 'Undeploy and hold…' }).click();
    const form = dialog('Undeploy orders and hold it');
    await form.getByLabel('Why').fill('It floods the index');
    await form.getByRole('button', { name: 'Undeploy orders and hold it' }).click();
    await form.waitFor({ state: 'hidden' });
    await page.getByText('Git’s version is held', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Look at the hold' }).click();
    await item('Held', 'orders').getByText('It floods the index.').waitFor();
    await item('Held', 'orders').getByRole('button', { name: 'Release orders' }).click();
    await reason('orders', 'Applied');
    await untilRunning(
      api,
      id,
      (await namedPipeline(api, environmentId(), 'orders')).deployedVersionNumber ?? 1,
    );
  });

  it('rolls back what git describes, and holds the version that git has', async () => {
    const { id, deployedVersionNumber } = await namedPipeline(api, environmentId(), 'orders');
    await push(
      { 'staging/orders.yaml': idleManifest('orders', 'rolled').replace('interval: 1', 'interval: 7') },
      'Too slow',
    );
    await until(
      async () =>
        (await namedPipeline(api, environmentId(), 'orders')).deployedVersionNumber !== deployedVersionNumber,
      { what: 'the next version' },
    );
    await page.goto(session.at(`pipelines/${id}?tab=versions`));
    await page.getByRole('button', { name: `Roll back to version ${deployedVersionNumber}` }).click();
    const form = dialog(`Roll orders back to version ${deployedVersionNumber}`);
    await form.getByText('the version that git has now is held').waitFor();
    await form
      .getByRole('button', { name: `Roll back to version ${deployedVersionNumber} and hold git’s` })
      .click();
    await reason('orders', 'Held');
    await page
      .getByRole('region', { name: 'Gate' })
      .getByRole('group', { name: 'Gate of orders' })
      .getByRole('link', { name: /accepted.*held/ })
      .waitFor();
    await push({ 'staging/orders.yaml': idleManifest('orders', 'one') }, 'As it was');
    await reason('orders', 'Applied');
    await open('holds');
    await item('Held', 'orders').getByText('passed by').waitFor();
    await item('Held', 'orders').getByRole('button', { name: 'Release orders' }).click();
    await page.getByRole('heading', { name: 'Nothing is held or suspended' }).waitFor();
  });

  it('turns a drawing of what git describes into a pull request, and shows what is there again', async () => {
    await configure({ policy: { uiEdits: 'propose' } });
    const { id } = await namedPipeline(api, environmentId(), 'orders');
    await page.goto(session.at(`pipelines/${id}?tab=settings`));
    await page.getByText('What you change here becomes a pull request').waitFor();
    await page.goto(session.at(`pipelines/${id}/edit?component=ticks`));
    await page.getByText('What you change here becomes a pull request').waitFor();
    await page.getByRole('button', { name: 'Duplicate' }).first().click();
    await page.getByText('Unsaved changes').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await note(/^Proposed as pull request #\d/).waitFor();
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    await configure({ policy: { uiEdits: 'refuse' } });
    // The form of the policy begins with what the page knows.
    await page.getByText('What you change here becomes a pull request').waitFor({ state: 'detached' });
  });

  it('sets the policy, and shows what a manifest tightens of it', async () => {
    await push(
      {
        'staging/environment.yaml':
          'apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: staging }\nspec: { guards: { maxDeletes: 3 } }\n',
      },
      'Tighten',
    );
    await open('settings');
    await page.getByText('Tightened in git to: 3').waitFor();
    const save = page.getByRole('button', { name: 'Save the policy' });
    await look('git, settings');
    expect(await save.isDisabled()).to.equal(true);
    await page.getByLabel('Most deletions, %').fill('101');
    await page.getByText('A whole number up to 100, or nothing.').waitFor();
    await page.getByLabel('Most deletions, %').fill('20');
    await save.click();
    await note('The policy is saved').waitFor();
    expect((await status()).policy?.binding.maxDeletePercent).to.equal(20);
  });

  it('shows everything to a VIEWER and lets them change nothing, with the reason', async () => {
    const viewer = await session.as('VIEWER');
    await viewer.goto(session.at('git'));
    await viewer.getByRole('list', { name: 'Manifests', exact: true }).waitFor();
    expect(await viewer.getByRole('button', { name: 'Sync now' }).isDisabled()).to.equal(true);
    for (const [tab, ready] of [
      ['drift', viewer.getByRole('heading', { name: 'Nothing differs' })],
      ['holds', viewer.getByRole('heading', { name: 'Nothing is held or suspended' })],
      ['settings', viewer.getByText('This needs ADMIN').or(viewer.getByText('Changes need ADMIN')).first()],
    ] as const) {
      await viewer.goto(session.at(`git?tab=${tab}`));
      await ready.waitFor();
      for (const button of await viewer
        .getByRole('main')
        .getByRole('button', { name: /^(Hold|Suspend|Save|Unbind|Release|Retry|Approve|Bind)/ })
        .all())
        expect(await button.isDisabled(), `${tab}: ${await button.textContent()}`).to.equal(true);
    }
    await viewer.context().close();
  });

  it('goes by keyboard, and from the palette to plan, drift and holds', async () => {
    await open();
    await page.getByRole('tab', { name: 'Now' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=plan/);
    for (const [text, url] of [
      ['drift of staging', /tab=drift/],
      ['holds and pauses', /tab=holds/],
      ['plan of staging', /tab=plan/],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to anything' }).fill(text);
      await page.keyboard.press('Enter');
      await page.waitForURL(url);
    }
  });

  it('unbinds after it said what goes over to the UI, and binds again', async () => {
    await open('settings');
    await page.getByRole('button', { name: 'Unbind', exact: true }).click();
    const form = dialog('Unbind staging from git');
    await form
      .getByText(/1 pipeline, 1 alert rule that git owns here? ?go over to the UI|go over to the UI/)
      .waitFor();
    expect(await form.getByRole('button', { name: 'Unbind' }).isDisabled()).to.equal(true);
    await form.getByLabel('Type staging to confirm').fill('staging');
    await form.getByRole('button', { name: 'Unbind' }).click();
    await form.waitFor({ state: 'hidden' });
    await until(async () => (await namedPipeline(api, environmentId(), 'orders')).managedBy === 'ui', {
      what: 'orders to belong to the UI',
    });
    await page.getByRole('radio', { name: 'Sync' }).check();
    await page.getByRole('button', { name: 'Save the binding' }).click();
    await note(/^staging is bound/).waitFor();
    expect((await status()).mode).to.equal('sync');
  });

  it('can be used by everybody, in both schemes and on a phone', () => {
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
