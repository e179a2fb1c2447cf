/** The audit log in the browser: who did what, found by filters, unfolded to what changed, and taken away as a file. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../../support/harness/until.ts';
import { settles, slowDown } from '../browser.ts';
import { partsOf, useSite } from '../use-site.ts';

describe('the audit page', function () {
  this.timeout(240_000);
  const session = useSite();
  const { isUsable } = partsOf(session);
  let page: Page;

  before(async () => {
    page = session.page;
    const api = await session.site.api();
    const { environmentId, teamId } = session.site;
    await api.mutate('environment.update', { id: environmentId, name: 'test bench' });
    const { id } = await api.mutate<{ id: string }>('secret.create', {
      ...{ environmentId, name: 'db-password', value: 'never shown' },
    });
    await api.mutate('secret.delete', { environmentId, id });
    await api.mutate('pipeline.create', { environmentId, name: 'orders' });
    for (let n = 0; n < 60; n++)
      await api.mutate('userPreference.set', { key: `columns-${n}`, value: 'some' });
    const { id: other } = await api.mutate<{ id: string }>('environment.create', {
      name: 'next door',
      teamId,
    });
    await api.mutate('secret.create', { environmentId: other, name: 'elsewhere', value: 'never shown' });
    await numbered();
  });

  const numbered = () =>
    until(async () => (await session.site.db('audit_log').whereNull('seq')).length === 0, {
      what: 'numbers',
    });
  const rows = (on = page): Locator =>
    on
      .getByRole('table', { name: 'Events, newest first' })
      .getByRole('row')
      .filter({ has: on.getByRole('button', { name: /:/ }) });
  const row = (text: string | RegExp, on = page): Locator => rows(on).filter({ hasText: text });

  it('is reached by the rail and by keys, tells the newest first, and reads on to the beginning', async () => {
    await page.goto(session.at('overview'));
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await page.goto(session.at('overview'));
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
    await settles(
      async () => (await rows().first().textContent())?.includes('Secret elsewhere created'),
      true,
    );
    await until(
      async () => {
        await page.mouse.wheel(0, 4_000);
        return page.getByText(/events: there is nothing older/).isVisible();
      },
      { what: 'the beginning', timeoutMs: 20_000 },
    );
    await row('Team Ours created').waitFor();
  });

  it('is filtered by who, what, where and when, and the address holds it', async () => {
    await page.goto(session.at('audit'));
    const filters = page.getByRole('search', { name: 'Filter the audit log' });
    await filters.getByLabel('Action').selectOption({ label: 'Secret created' });
    await row('Secret db-password created').waitFor();
    await settles(() => rows().count(), 2);
    await filters.getByLabel('Where').selectOption({ label: 'next door' });
    await settles(() => rows().count(), 1);
    await filters.getByLabel('Who').selectOption({ label: 'Git' });
    await page.getByRole('heading', { name: 'No event fits' }).waitFor();
    expect(new URL(page.url()).search).to.match(/action=secret.created.*in=.*who=type%3Agit/);
    await page.reload();
    await page.getByRole('heading', { name: 'No event fits' }).waitFor();
    expect(await filters.getByLabel('Who').inputValue()).to.equal('type:git');
    await filters.getByRole('button', { name: 'Clear the filters' }).click();
    await row('Secret elsewhere created').waitFor();

    await filters.getByLabel('What it was done to').selectOption({ label: 'Pipeline' });
    await settles(() => rows().count(), 1);
    // On a machine where drawing takes its time: what was cleared does not come back with what is typed next.
    const atFullSpeed = await slowDown(page, 25);
    await filters.getByRole('button', { name: 'Clear the filters' }).click();
    await page.keyboard.press('/');
    await page.keyboard.type('DB-pass');
    await settles(() => rows().count(), 2);
    await atFullSpeed();
    await filters.getByLabel('to', { exact: true }).fill('2020-01-01');
    await page.getByRole('heading', { name: 'No event fits' }).waitFor();
  });

  it('unfolds an event to what it was before, and gives an address that leads to it', async () => {
    await page.goto(session.at('audit?action=environment.updated'));
    const toggle = row('Environment test bench updated').getByRole('button');
    const columns = () =>
      page.locator('thead th:visible').evaluateAll((cells) => cells.map((cell) => cell.clientWidth));
    // As narrow as that, some of the columns are hidden.
    await page.setViewportSize({ width: 1280, height: 900 });
    await toggle.waitFor();
    const folded = await columns();
    await toggle.click();
    await settles(() => toggle.getAttribute('aria-expanded'), 'true');
    expect(await columns(), 'columns moved').to.deep.equal(folded);
    await page.setViewportSize({ width: 1440, height: 900 });
    const changes = page.getByRole('list', { name: 'What changed' });
    await changes.getByText('staging', { exact: true }).waitFor();
    await changes.getByText('test bench', { exact: true }).waitFor();
    const event = await session.site.db('audit_log').where({ action: 'environment.updated' }).first();
    await page.getByText(event.hash.slice(0, 12)).waitFor();
    await page.getByRole('link', { name: `#${event.seq}` }).click();
    await page.getByText(`From event #${event.seq} on`).waitFor();
    await page.reload();
    await changes.waitFor();
    await isUsable('an unfolded event');
    await page.getByRole('link', { name: 'Show the newest' }).click();
    await page.getByText('From event').waitFor({ state: 'hidden' });
  });

  it('shows what happens meanwhile, is walked by keys, and leads to what is still there', async () => {
    await page.goto(session.at('audit?q=orders'));
    await settles(() => rows().count(), 1);
    const api = await session.site.api();
    const { environmentId } = session.site;
    await api.mutate('pipeline.create', { environmentId, name: 'later-orders' });
    await row('Pipeline later-orders created').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByText('pipeline.created').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('pipeline.created').waitFor({ state: 'hidden' });
    await row('Pipeline orders created').getByRole('link').click();
    await page.getByRole('heading', { name: 'orders', level: 1 }).waitFor();
  });

  it('is taken away as a file, as it is filtered', async () => {
    await page.goto(session.at('audit?action=secret.deleted'));
    await settles(() => rows().count(), 1);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).to.match(/^audit-.*\.csv$/);
    const text = await readFile(await file.path(), 'utf8');
    expect(text.trimEnd().split('\r\n')).to.have.length(2);
    expect(text).to.include('secret.deleted').and.include('db-password');
  });
});
