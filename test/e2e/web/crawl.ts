/** What visits every page that links lead to needs: when a page is drawn, where it leads, and what its policy was broken by. */
import type { Page, Request } from 'playwright-core';
import { until } from '../../support/harness/until.ts';

export interface Watched {
  /** Of the Content-Security-Policy. */
  violations: string[];
  /** Requests that have no answer yet, apart from streams. */
  waiting: Set<Request>;
}

/** Watches pages that are loaded from here on. */
export async function watchPolicy(page: Page): Promise<Watched> {
  const watched: Watched = { violations: [], waiting: new Set() };
  await page.exposeFunction('tellViolation', (text: string) => void watched.violations.push(text));
  await page.addInitScript(`
    addEventListener('securitypolicyviolation', (event) =>
      tellViolation([location.pathname + location.search, event.effectiveDirective, event.blockedURI,
        event.sourceFile + ':' + event.lineNumber, event.sample].join(' ')))`);
  page.on('request', (request) => {
    if (request.resourceType() !== 'eventsource') watched.waiting.add(request);
  });
  const done = (request: Request) => void watched.waiting.delete(request);
  page.on('requestfinished', done).on('requestfailed', done);
  return watched;
}

/** Nothing is loading, for so many frames that what comes next would have begun. */
const IS_DRAWN = `new Promise((done) => {
  const look = (frames) => {
    if (document.querySelector('[aria-busy=true], .skeleton') || !document.querySelector('h1')) done(false);
    else if (frames === 0) done(true);
    else requestAnimationFrame(() => look(frames - 1));
  };
  look(12);
})`;

export async function untilDrawn(page: Page, { waiting }: Watched, path: string): Promise<void> {
  const isDrawn = async () =>
    waiting.size === 0 && (await page.evaluate<boolean>(IS_DRAWN)) && waiting.size === 0;
  await until(isDrawn, { what: `${path} to have loaded` });
}

/** What makes another page of an address; the others narrow or sort what is on it. */
const OF_FORM = new Set(['tab', 'view', 'new', 'id', 'user', 'component', 'commit']);

/** An address without what tells one object from another. */
export function formOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  const given = [...searchParams].filter(([name]) => OF_FORM.has(name)).sort();
  const query = given
    .map(([name, value]) => (/^(tab|view)$/.test(name) ? `${name}=${value}` : name))
    .join('&');
  return pathname.replaceAll(/[0-9a-z]{26}/g, ':id') + (query && `?${query}`);
}

const NO_PAGES = /^\/(?:api|agent|git|schemas|docs)\//;

/** Every page that the one which is open leads to. */
export async function linksOf(page: Page): Promise<string[]> {
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href^="/"]')].map((link) => link.getAttribute('href'))`,
  );
  return links.filter((link) => !NO_PAGES.test(link));
}
