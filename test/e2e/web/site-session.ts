/** A browser in front of a `headgate serve` with nothing in it but what a test puts there, and people of every role. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { ROOT } from '../../support/harness/controller.ts';
import { BROWSER_WAIT_MS } from '../../support/harness/patience.ts';
import { type Site, type SiteOptions, startSite } from '../../support/scenes/site.ts';
import { makeUser, PASSWORD } from '../../support/users/person.ts';
import { closePages, followLinks, sharedBrowser } from './browser.ts';

export interface SiteSession {
  site: Site;
  url: string;
  browser: Browser;
  /** Of the super admin. */
  page: Page;
  /** The address of a page of an environment, of the site's own unless another is named. */
  at(path: string, environmentId?: string): string;
  /** A browser of its own for somebody with that role in the site's team. */
  as(role: 'VIEWER' | 'EDITOR' | 'ADMIN'): Promise<Page>;
  /** Another browser of the super admin. */
  another(): Promise<Page>;
  close(): Promise<void>;
}

export async function openSite(options: SiteOptions = {}): Promise<SiteSession> {
  const site = await startSite({ inProcess: true, ...options });
  // Mutations are taken from the controller's own origin, which it calls localhost.
  const url = site.controller.url.replace('127.0.0.1', 'localhost');
  const browser = await sharedBrowser();
  const close = async (): Promise<void> => {
    await closePages(browser);
    await site.remove();
  };
  const enter = async (email: string, password: string): Promise<Page> => {
    const context: BrowserContext = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    // By request: the form has its own tests, and each page that is loaded costs as much as a test.
    const signedIn = await context.request.post(`${url}/api/auth/sign-in`, { data: { email, password } });
    if (!signedIn.ok()) throw new Error(`${email} cannot sign in: ${await signedIn.text()}`);
    return followLinks(await context.newPage());
  };
  try {
    return {
      site,
      url,
      browser,
      page: await enter(ROOT.email, ROOT.password),
      at: (path, environmentId = site.environmentId) => `${url}/e/${environmentId}/${path}`,
      async as(role) {
        const email = `${role.toLowerCase()}@example.org`;
        await makeUser(site.db, { email, teams: { [site.teamId]: role } });
        return enter(email, PASSWORD);
      },
      another: () => enter(ROOT.email, ROOT.password),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
