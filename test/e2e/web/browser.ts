/** A real browser in front of a real Headgate, as a person would use it. */

import axe, { type AxeResults, type RunOptions } from 'axe-core';
import { expect } from 'chai';
import { type Browser, type BrowserContext, chromium, type LaunchOptions, type Page } from 'playwright-core';
import { CHROMIUM_FLAGS, findChromium } from '../../support/harness/chromium.ts';
import { startHeadgate } from '../../support/harness/headgate.ts';
import { BROWSER_WAIT_MS, patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';
import { lookOnFailure } from '../../support/runner/failure-scene.ts';
import { closeAtEnd, keeping } from '../../support/runner/warm.ts';

export interface Target {
  url: string;
  adminEmail: string;
  adminPassword: string;
  environments: { staging: string; production: string };
  cloneUrl: string;
  /** Ends what was started for the test and removes its data. */
  remove(): Promise<void>;
}

const EVERY_RULE: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
/** A scheme changes colours and nothing else. */
const COLOUR_RULES: RunOptions = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

/** Of one rule on one page: the rest is mostly the same element in other rows. */
const MAX_ELEMENTS = 3;

/** How many times slower than this machine each page runs: what only holds on a fast one is found by that. */
const SLOWDOWN = Number(process.env.HEADGATE_TEST_SLOWDOWN ?? 1);

export async function launch(options: Pick<LaunchOptions, 'ignoreDefaultArgs'> = {}): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findChromium() ?? undefined,
    headless: true,
    args: CHROMIUM_FLAGS,
    ...options,
  });
  if (SLOWDOWN > 1)
    browser.on('context', (context) =>
      context.on('page', (page) => void slowDown(page, SLOWDOWN).catch(() => undefined)),
    );
  return browser;
}

let shared: Promise<Browser> | undefined;
closeAtEnd('browser', async () => {
  await (await shared)?.close();
  shared = undefined;
});

/** Of the text of a page that a failed case shows. */
const SCENE_CHARS = 4_000;

lookOnFailure('pages', async () => {
  const pages = (await shared)?.contexts().flatMap((context) => context.pages()) ?? [];
  const seen = pages.map(async (page) => {
    const text = await page.locator('body').ariaSnapshot({ timeout: 5_000 });
    return `  ${page.url()}\n${text.slice(0, SCENE_CHARS)}`;
  });
  return (await Promise.all(seen)).join('\n');
});

/** One for all files of a worker: each opens contexts of its own, and `closePages` closes them. */
export async function sharedBrowser(): Promise<Browser> {
  const running = await shared;
  if (running?.isConnected()) return running;
  shared = keeping(launch);
  return shared;
}

export const closePages = async (browser: Browser): Promise<void> => {
  await Promise.all(browser.contexts().map((context) => context.close()));
};

/** Makes a page draw as on a machine that is `times` slower; answers what ends it. */
export async function slowDown(page: Page, times: number): Promise<() => Promise<void>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: times });
  return () => devtools.detach();
}

/**
 * Starts one of its own; HEADGATE_URL with HEADGATE_EMAIL, HEADGATE_PASSWORD, HEADGATE_STAGING and HEADGATE_PRODUCTION
 * (ids of environments) names one that runs already.
 */
export async function openTarget(): Promise<Target> {
  const env = process.env;
  if (!env.HEADGATE_URL) return startHeadgate();
  return {
    url: env.HEADGATE_URL,
    adminEmail: env.HEADGATE_EMAIL ?? '',
    adminPassword: env.HEADGATE_PASSWORD ?? '',
    environments: { staging: env.HEADGATE_STAGING ?? '', production: env.HEADGATE_PRODUCTION ?? '' },
    cloneUrl: env.HEADGATE_CLONE_URL ?? '',
    remove: async () => undefined,
  };
}

/**
 * What a link of the open UI does. Answers once the page before is gone: until the next one is loaded, it stays. Its heading
 * or its place in the rail is another then. Pages of two objects of one name have both in common: then it answers after a
 * second. For tabs and filters of one page it answers once the browser has nothing left to do: they are drawn by then, but
 * for what they load.
 */
const FOLLOW = `(path) => {
  const heading = document.querySelector('h1');
  const before = heading?.textContent;
  const place = () =>
    [...document.querySelectorAll('.rail a')].map((link) => link.pathname + link.getAttribute('aria-current')).join();
  const placeBefore = place();
  const isOther = location.pathname !== path.split('?')[0];
  const deadline = performance.now() + ${patient(1_000)};
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate', { state: null }));
  return new Promise((done) => {
    if (!isOther) {
      requestIdleCallback(() => requestAnimationFrame(done), { timeout: ${patient(1_000)} });
      return;
    }
    const look = () => {
      const isGone = !heading?.isConnected || heading.textContent !== before || place() !== placeBefore;
      if (isGone || performance.now() > deadline) done();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}`;
/** What stays on a page that another address is opened in: a dialog, and the question whether to leave. */
const IS_BUSY = `Boolean(document.querySelector('[role=dialog], [role=alertdialog], [role=menu]'))`;

/**
 * Lets `page.goto` follow a link where the UI is open already: loading all of it again costs half a second of CPU. It loads
 * as a browser does from another origin, for the same address, and under a dialog.
 */
export function followLinks(page: Page): Page {
  const load = page.goto.bind(page);
  page.goto = async (address, options) => {
    const [from, to] = [page.url(), address];
    const isOpen = from !== to && from !== 'about:blank' && new URL(from).origin === new URL(to).origin;
    const path = to.slice(new URL(to).origin.length);
    if (options || !isOpen || !/^\/e\//.test(path) || !/^\/e\//.test(new URL(from).pathname))
      return load(address, options);
    if (await page.evaluate<boolean>(IS_BUSY)) return load(address);
    await page.evaluate(`(${FOLLOW})(${JSON.stringify(path)})`);
    return null;
  };
  return page;
}

/** For `page.goto`, where a page has to begin as in a browser that was just opened. */
export const LOAD = { waitUntil: 'load' } as const;

export async function signIn(
  page: Page,
  target: Pick<Target, 'url' | 'adminEmail' | 'adminPassword'>,
): Promise<void> {
  await page.goto(`${target.url}/sign-in`);
  await page.getByLabel('Email').fill(target.adminEmail);
  await page.getByLabel('Password').fill(target.adminPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}

/** What the page complained about: script errors and refusals by the content security policy. */
export function watchForErrors(page: Page): string[] {
  const seen: string[] = [];
  page.on('pageerror', (error) => seen.push(error.message));
  page.on('console', (message) => {
    // A 401 or 404 that a test provokes is logged by the browser itself.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      seen.push(message.text());
  });
  return seen;
}

/** What lies on top of the page: a dialog or menu, and of several the last. The page itself where there is none. */
const TOPMOST = `[...document.querySelectorAll('[role=dialog], [role=menu]')].at(-1)`;

/**
 * What axe-core finds that a person could not use, each with its rule, place and elements; empty when all is well. Under a
 * dialog or menu the page is left out: it is hidden then, and checked without it.
 */
export async function violationsOf(page: Page, where: string, options = EVERY_RULE): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<Pick<AxeResults, 'violations'>>(
    // Without resultTypes it also writes a selector for each element that passed, which takes three times as long.
    `axe.run(${TOPMOST} ?? document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })})`,
  );
  return violations.map(({ id, nodes }) => {
    const elements = nodes
      .slice(0, MAX_ELEMENTS)
      .map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`);
    return `${where}: ${id} (${nodes.length})\n${elements.join('\n')}`;
  });
}

/** The page in light, then what the dark scheme may break of it, without another load. Leaves it in light, at its top. */
export async function violationsInBothSchemes(page: Page, where: string): Promise<string[]> {
  // What the top bar half covers of a page that is scrolled counts as too small a target.
  await page.evaluate('scrollTo(0, 0)');
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const light = await violationsOf(page, `${where}, light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await violationsOf(page, `${where}, dark`, COLOUR_RULES);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...light, ...dark];
}

/** What scrolls in a frame of its own may be wider. */
const FRAMES = '.logs, .graph, .chart, .matrix-frame, .command pre, .cm-scroller, .sr-only';

/**
 * What of the dialog or menu on top, or else of the page, lies beyond the right edge of a phone, and so cannot be read there.
 * Leaves the window as it was.
 */
export async function beyondAPhone(page: Page, where: string): Promise<string[]> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  let beyond: string[] = [];
  const fits = async (): Promise<boolean> => {
    beyond = await page.evaluate<string[]>(
      `[...(${TOPMOST} ?? document.querySelector('main')).querySelectorAll('*')]
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('${FRAMES}'))
        .slice(0, ${MAX_ELEMENTS})
        .map((each) => each.outerHTML.slice(0, 160))`,
    );
    return beyond.length === 0;
  };
  // Menus take their place a moment after the window has another size.
  await until(fits, { what: 'all to fit', everyMs: 20 }).catch(() => {});
  if (before) await page.setViewportSize(before);
  return beyond.map((element) => `${where}: beyond a phone's edge\n  ${element}`);
}

/** Fails with what axe-core finds in light and dark, and what a phone would cut off. */
export async function expectUsable(page: Page, where: string): Promise<void> {
  const found = await violationsInBothSchemes(page, where);
  found.push(...(await beyondAPhone(page, where)));
  expect(found, found.join('\n')).to.deep.equal([]);
}

export interface Session {
  target: Target;
  browser: Browser;
  context: BrowserContext;
  page: Page;
  close(): Promise<void>;
}

/** A signed-in page; `close` ends the browser and the Headgate that was started for it. */
export async function openSession(options: { colorScheme?: 'light' | 'dark' } = {}): Promise<Session> {
  const target = await openTarget();
  let browser: Browser | undefined;
  try {
    browser = await launch();
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      colorScheme: options.colorScheme ?? 'light',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    const page = await context.newPage();
    await signIn(page, target);
    const opened = browser;
    return {
      target,
      browser: opened,
      context,
      page,
      close: async () => {
        await opened.close();
        await target.remove();
      },
    };
  } catch (error) {
    await browser?.close();
    await target.remove();
    throw error;
  }
}

/** Waits until the page shows a value: what it is told at one moment it draws at another. */
export async function settles<T>(read: () => Promise<T>, value: T, what = ''): Promise<void> {
  let seen: T | undefined;
  await until(
    async () => {
      seen = await read();
      return seen === value;
    },
    { what: () => `${what || 'the page'} to come to ${String(value)}; it is ${String(seen)}`, everyMs: 50 },
  );
}

/** Waits until the page hears of changes: of what happens before, it knows by its own reads alone. */
export const untilLive = (page: Page): Promise<void> => page.getByText('Live', { exact: true }).waitFor();

/** Closes the dialog or menu on top by Escape. A menu hears the key once it has the focus, a dialog always. */
export async function closeByEscape(page: Page): Promise<void> {
  const heard = `[...document.querySelectorAll('[role=menu]')].every((menu) => menu.contains(document.activeElement))`;
  await until(() => page.evaluate<boolean>(heard), { what: 'the menu to have the focus' });
  await page.keyboard.press('Escape');
}
