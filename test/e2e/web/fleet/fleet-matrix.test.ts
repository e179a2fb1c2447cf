/** The matrix of nodes and pipelines as a person uses it, with more of both than are in sight. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { patient } from '../../../support/harness/patience.ts';
import { writeLargeFleet } from '../../../support/scenes/large-fleet.ts';
import { expectUsable, settles, watchForErrors } from '../browser.ts';
import { openSite, type SiteSession } from '../site-session.ts';

const NODES = 400;
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
      odd: { crashed: 123, silent: 250, behind: 320 },
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
  const isUsable = (where: string) => expectUsable(page, where);
  /** What the active cell says, as a screen reader hears it. */
  const active = (): Promise<string> =>
    page.evaluate<string>(`(() => {
      const id = document.querySelector('[role=grid]').getAttribute('aria-activedescendant');
      const cell = id && document.getElementById(id);
      if (!cell) return 'none';
      return (cell.getAttribute('aria-label') ?? cell.querySelector('a')?.getAttribute('aria-label') ?? cell.textContent).trim();
    })()`);

  it('holds only what is in sight, with the count of each pipeline, and leads round all problems by a key and a button', async () => {
    await open();
    await grid().getByRole('link', { name: 'stream-01 on node-0001: running' }).waitFor();
    expect(await grid().getAttribute('aria-rowcount')).to.equal(String(NODES + 1));
    expect(await grid().getAttribute('aria-colcount')).to.equal(String(PIPELINES + 1));
    expect(await grid().getByRole('row').count()).to.be.below(60);
    await page.getByText('400 nodes, 50 pipelines').waitFor();
    // A controller that has just begun to listen takes no node for silent yet.
    await page.getByText('3 problems').waitFor({ timeout: patient(60_000) });
    const head = grid().getByRole('columnheader').filter({ hasText: 'stream-07' });
    await settles(async () => (await head.innerText()).replace(/\s+/g, ' '), 'stream-07 398 of 400');
    await isUsable('the matrix');
    await page.keyboard.press('n');
    await settles(active, 'stream-07 on node-0123: crashed');
    await page.keyboard.press('n');
    await settles(active, 'node-0250, not heard');
    await page.getByRole('button', { name: 'Next problem' }).click();
    await settles(active, 'stream-42 on node-0320: running, runs v2, should run v3');
    await page.keyboard.press('n');
    await settles(active, 'stream-07 on node-0123: crashed');
    await page.keyboard.press('p');
    await settles(active, 'stream-42 on node-0320: running, runs v2, should run v3');
  });

  it('is walked by the arrows, by pages and to its ends, and Enter opens what is active', async () => {
    await page.keyboard.press('Control+Home');
    await settles(active, 'node-0001');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await settles(active, 'stream-02 on node-0002: running');
    await page.keyboard.press('Control+End');
    await settles(active, 'stream-50 on node-0400: running');
    await page.keyboard.press('Home');
    await settles(active, 'node-0400');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Control+Home');
    await settles(active, 'node-0001');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'node-0001', level: 1 }).waitFor();
    await page.goBack();
    await grid().waitFor();
  });

  it('is narrowed by name, label, health and pipeline, which the address keeps', async () => {
    const nodes = page.getByRole('searchbox', { name: 'Filter nodes' });
    await nodes.fill('region=r2 node-00');
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
    await grid().getByRole('rowheader', { name: 'region r0 100 nodes, 1 with a problem' }).waitFor();
    await isUsable('the matrix by group');
    await grid().focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'region r0', level: 1 }).waitFor();
  });
});
