/** Every page that links lead to, under the Content-Security-Policy that it is served with. */
import { expect } from 'chai';
import type { Page, Request } from 'playwright-core';
import { type RunningHeadgate, startHeadgate } from '../../support/harness/headgate.ts';
import { BROWSER_WAIT_MS } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';
import { fillPages } from '../../support/scenes/full-site/pages.ts';
import { followLinks, launch, settles, signIn } from './browser.ts';

/** Pages of one form are visited this often. */
const OF_ONE_FORM = 1;
/** Opened by a button or a key, and found by no link. */
const MORE = [
  ...['pipelines?new=1', 'promotions?new=1', 'secrets?new=1', 'secrets?tab=certificates'],
  ...['alerts?tab=history', 'alerts?tab=rules&new=1', 'alerts?tab=silences&new=1'],
  ...['playground?tab=config', 'fleet?view=matrix', 'fleet?view=groups', 'git?tab=plan', 'git?tab=settings'],
  ...['library?tab=snippets', 'library?tab=shared', 'settings'],
  ...['environment', 'members', 'assistant', 'access', 'users', 'teams', 'sso', 'scim', 'server'].map(
    (tab) => `settings?tab=${tab}`,
  ),
];
const NO_PAGES = /^\/(?:api|agent|git|schemas|docs)\//;
/** Of a pipeline. */
const TABS = ['versions', 'config', 'logs', 'events', 'metrics', 'settings', 'dependencies', 'rollouts'];

interface Seen {
  violations: string[];
  errors: string[];
  /** Requests that have no answer yet, apart from streams. */
  waiting: Set<Request>;
}

async function watched(page: Page): Promise<Seen> {
  const seen: Seen = { violations: [], errors: [], waiting: new Set() };
  await page.exposeFunction('tellViolation', (text: string) => void seen.violations.push(text));
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', (event) =>
      tellViolation([location.pathname + location.search, event.effectiveDirective, event.blockedURI,
        event.sourceFile + ':' + event.lineNumber, event.sample].join(' ')))`);
  page.on('request', (request) => {
    if (request.resourceType() !== 'eventsource') seen.waiting.add(request);
  });
  const done = (request: Request) => void seen.waiting.delete(request);
  page.on('requestfinished', done).on('requestfailed', done);
  page.on('pageerror', (error) => seen.errors.push(`${page.url()}: ${error.message}`));
  return seen;
}

/** What brings styles of its own: editors, graphs, charts, dialogs. */
const KINDS = ['.cm-editor', '.react-flow', '.uplot', '[role=dialog]'];

/** Nothing is loading, for so many frames that what comes next would have begun. */
const isDrawn = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(`new Promise((done) => {
    const look = (frames) => {
      if (document.querySelector('[aria-busy=true], .skeleton') || !document.querySelector('h1'))
        done(false);
      else if (frames === 0) done(true);
      else requestAnimationFrame(() => look(frames - 1));
    };
    look(12);
  })`);

/** An address without what tells one object from another. */
const formOf = (path: string): string =>
  path.replace(/[0-9a-z]{26}/g, ':id').replace(/(?<=[?&](?!tab|view)\w+)=[^&#]*/g, '');

describe('the policy of the pages', function () {
  this.timeout(300_000);
  let headgate: RunningHeadgate;
  let browser: Awaited<ReturnType<typeof launch>>;
  let page: Page;
  let seen: Seen;

  before(async () => {
    headgate = await startHeadgate();
    await fillPages(headgate);
    browser = await launch();
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    page = followLinks(await context.newPage());
    seen = await watched(page);
    await signIn(page, headgate);
  });
  after(async () => {
    await browser?.close();
    await headgate?.remove();
  });

  it('is broken by no page, and breaks none', async () => {
    const home = `/e/${headgate.environments.staging}`;
    const waiting = [
      '/docs/api',
      ...MORE.map((path) => `${home}/${path}`),
      `${home}/overview`,
      `${home}/pipelines`,
    ];
    const visits = new Map<string, number>();
    const often = (path: string): boolean => {
      const form = formOf(path);
      visits.set(form, (visits.get(form) ?? 0) + 1);
      return (visits.get(form) ?? 0) > OF_ONE_FORM;
    };
    const visited: string[] = [];
    const met = new Set<string>();
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (often(path)) continue;
      visited.push(path);
      await page.goto(`${headgate.url}${path}`);
      await page.locator('main').first().waitFor();
      await until(async () => seen.waiting.size === 0 && (await isDrawn(page)) && seen.waiting.size === 0, {
        what: `${path} to have loaded`,
      });
      const kinds = await page.evaluate<string[]>(
        `${JSON.stringify(KINDS)}.filter((kind) => document.querySelector(kind))`,
      );
      for (const kind of kinds) met.add(kind);
      const links = await page.evaluate<string[]>(
        `[...document.querySelectorAll('a[href^="/"]')].map((link) => link.getAttribute('href'))`,
      );
      waiting.push(...links.filter((link) => !NO_PAGES.test(link)));
      if (/\/pipelines\/[^/?]+$/.test(path)) {
        waiting.push(`${path}/edit`);
        for (const tab of TABS) waiting.push(`${path}?tab=${tab}`);
      }
    }
    expect(visited.length).to.be.greaterThan(30);
    expect([...met].sort()).to.deep.equal([...KINDS].sort());
    expect(seen.violations).to.deep.equal([]);
    expect(seen.errors).to.deep.equal([]);
  });

  it('is not broken by dialogs, menus and code that is edited', async () => {
    await page.goto(`${headgate.url}/e/${headgate.environments.staging}/playground`);
    const editor = page.getByRole('textbox').first();
    await editor.click();
    await page.keyboard.type('.level = up');
    await page.keyboard.press('Control+Space');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${headgate.url}/e/${headgate.environments.staging}/secrets`);
    await page.getByRole('button', { name: 'Add a secret' }).click();
    await page.getByRole('dialog', { name: 'Add a secret' }).waitFor();
    // What keeps the page behind it from scrolling is a style of its own, which comes a moment after the dialog.
    const isHeld = () =>
      page.evaluate<boolean>(`getComputedStyle(document.body).overflow.includes('hidden')`);
    await settles(isHeld, true, 'whether the page behind is held');
    expect(seen.violations).to.deep.equal([]);
  });

  it('keeps out a style, a script and markup that it was not served with', async () => {
    await page.goto(`${headgate.url}/sign-in`);
    const broken = await page.evaluate<string[]>(`(async () => {
      const broken = [];
      addEventListener('securitypolicyviolation', (event) => broken.push(event.effectiveDirective));
      const style = document.createElement('style');
      style.textContent = 'body { background: red }';
      document.head.append(style);
      try { document.createElement('div').innerHTML = '<img src=x>'; } catch { broken.push('refused markup'); }
      const script = document.createElement('script');
      try { script.src = 'https://elsewhere.example/x.js'; } catch { broken.push('refused script'); }
      await fetch('https://elsewhere.example/').catch(() => {});
      await new Promise((done) => setTimeout(done, 200));
      return [...new Set(broken)].sort();
    })()`);
    expect(broken).to.include.members(['connect-src', 'refused markup', 'refused script', 'style-src-elem']);
  });
});
