/** A site and a browser for a suite: both start and stop in hooks, and what the page complains about fails the case. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { use } from '../../support/harness/use.ts';
import type { SiteOptions } from '../../support/scenes/site.ts';
import { expectUsable, watchForErrors } from './browser.ts';
import { openSite, type SiteSession } from './site-session.ts';

export function useSite(options: SiteOptions = {}): SiteSession {
  const session = use(
    () => openSite(options),
    (opened) => opened.close(),
  );
  let errors: string[] = [];
  before(() => {
    errors = watchForErrors(session.page);
  });
  afterEach(() => expect(errors.splice(0)).to.deep.equal([]));
  return session;
}

/** Parts of the page by the names that are read out. Another page is meant where it is given. */
export const partsOf = (shown: { page: Page }) => ({
  section: (name: string, on = shown.page): Locator => on.getByRole('region', { name, exact: true }),
  dialog: (name: string, on = shown.page): Locator => on.getByRole('dialog', { name }),
  table: (name: string, on = shown.page): Locator => on.getByRole('table', { name, exact: true }),
  note: (text: string | RegExp, on = shown.page): Promise<void> =>
    on.getByRole('status', { name: 'Notes' }).getByText(text).last().waitFor(),
  /** What axe-core finds in light and dark, and what a phone would cut off. */
  isUsable: (where: string, on = shown.page): Promise<void> => expectUsable(on, where),
});
