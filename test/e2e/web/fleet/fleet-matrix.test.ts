/** The matrix of nodes and pipelines as a person uses it, with thousands of nodes. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { patient } from '../../../support/harness/patience.ts';
import { writeLargeFleet } from '../../../support/scenes/large-fleet.ts';
import { beyondAPhone, settles, violationsInBothSchemes, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const NODES = 5_000;
const PIPELINES = 50;

describe('the matrix of a large fleet', function () {
  this.timeout(240_000);
  let session: SiteSession;
  let page: Page;
  let errors: string[];

  before(async () => {
    session = await openSite();
    const { site } = session;
    await writeLargeFleet(site.db, {
      environmentId: site.environmentId,
      nodes: NODES,
      pipelines: PIPELINES,
    });
    const api = await site.api();
    for (const region of ['r0', 'r1']) {
      await api.mutate('nodeGroup.create', {
        environmentId: site.environmentId,
        name: `region ${region}`,
        criteria: { region },
      });
    }
    page = session.page;
    errors = watchForErrors(page);
  });
  after(() => session?.close());
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));

  const grid = (): Locator => page.getByRole('grid', { name: 'What runs where' });
  const open = async (query = ''): Promise<void> => {
    await page.goto(session.at(`fleet?view=matrix${query}`));
    await grid().getByRole('link').first().waitFor();
  };
  /** What the active cell says, as a screen reader hears it. */
  const active = (): Promise<string> =>
    page.evaluate<string>(`(() => {
      const id = document.querySelector('[role=grid]').getAttribute('aria-activedescendant');
      const cell = id && document.getElementById(id);
      if (!cell) return 'none';
      return (cell.getAttribute('aria-label') ?? cell.querySelector('a')?.getAttribute('aria-label') ?? cell.textContent).trim();
    })()`);

  it('holds only what is in sight of 5,000 nodes and 50 pipelines', async () => {
    await open();
    await grid().getByRole('link', { name: 'stream-01 on node-0001: running' }).waitFor();
    expect(await grid().getAttribute('aria-rowcount')).to.equal(String(NODES + 1));
    expect(await grid().getAttribute('aria-colcount')).to.equal(String(PIPELINES + 1));
    expect(await grid().getByRole('row').count()).to.be.below(60);
    await page.getByText('5,000 nodes, 50 pipelines').waitFor();
  });

  it('says under each pipeline on how many of the nodes that should run it it does', async () => {
    await open();
    // A controller that has just begun to listen takes no node for silent yet.
    await page.getByText('3 problems').waitFor({ timeout: patient(60_000) });
    const head = grid().getByRole('columnheader').filter({ hasText: 'stream-07' });
    await settles(async () => (await head.innerText()).replace(/\s+/g, ' '), 'stream-07 4998 of 5000');
  });

  it('leads to one problem after the other by a key and by a button, and round the end', async () => {
    await open();
    await page.getByText('3 problems').waitFor({ timeout: patient(60_000) });
    await page.keyboard.press('n');
    await settles(active, 'stream-07 on node-1234: crashed');
    await page.keyboard.press('n');
    await settles(active, 'node-2500, not heard');
    await page.getByRole('button', { name: 'Next problem' }).click();
    await settles(active, 'stream-42 on node-4321: running, runs v2, should run v3');
    await page.keyboard.press('n');
    await settles(active, 'stream-07 on node-1234: crashed');
    await page.keyboard.press('p');
    await settles(active, 'stream-42 on node-4321: running, runs v2, should run v3');
  });

  it('is walked by the arrows, by pages and to its ends, and Enter opens what is active', async () => {
    await open();
    await grid().focus();
    await settles(active, 'node-0001');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await settles(active, 'stream-02 on node-0002: running');
    await page.keyboard.press('Control+End');
    await settles(active, 'stream-50 on node-5000: running');
    await page.keyboard.press('Home');
    await settles(active, 'node-5000');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Control+Home');
    await settles(active, 'node-0001');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'node-0001', level: 1 }).waitFor();
    await page.goBack();
    await grid().waitFor();
  });

  it('is narrowed by name, label, health and pipeline, and the address keeps that', async () => {
    await open();
    await page.getByRole('searchbox', { name: 'Filter nodes' }).fill('region=r2 node-00');
    await page.getByText('25 nodes, 50 pipelines').waitFor();
    await page.getByRole('searchbox', { name: 'Filter pipelines' }).fill('stream-1');
    await page.getByText('25 nodes, 10 pipelines').waitFor();
    await page.waitForURL(/pipeline=stream-1/);
    await page.reload();
    await page.getByText('25 nodes, 10 pipelines').waitFor();
    await open();
    await page.getByRole('combobox', { name: 'Health' }).selectOption('Unreachable');
    await page.getByText('1 node, 50 pipelines').waitFor();
    await open('&show=differs');
    await page.getByText('3 nodes, 50 pipelines').waitFor();
  });

  it('stands by group where that is asked for, each with its nodes and problems', async () => {
    await open('&by=group');
    await grid().getByRole('rowheader', { name: 'region r0 1,250 nodes, 1 with a problem' }).waitFor();
    await grid().focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'region r0', level: 1 }).waitFor();
  });

  it('has no violation that axe-core finds, and fits a phone', async () => {
    const found: string[] = [];
    for (const query of ['', '&by=group', '&show=differs']) {
      await open(query);
      found.push(...(await violationsInBothSchemes(page, `matrix ${query}`)));
      found.push(...(await beyondAPhone(page, `matrix ${query}`)));
    }
    expect(found, found.join('\n')).to.deep.equal([]);
  });
});
