/** People who sign in themselves, each in a browser of their own, with an authenticator where they have one. */
import { generateSync } from 'otplib';
import type { Locator, Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { createBus } from '../../../controller/platform/runtime/bus.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { BROWSER_WAIT_MS } from '../../support/harness/patience.ts';
import { makeUser, PASSWORD } from '../../support/users/person.ts';
import type { SiteSession } from './site-session.ts';

/** Only to speak: it is never started. */
const teller = createBus({ url: '', log: createLogger('error') });

export interface Somebody {
  id: string;
  email: string;
  password: string;
}

/** In the site's team with a role, or in none. */
export async function makePerson(
  { site }: SiteSession,
  name: string,
  more: { role?: 'VIEWER' | 'EDITOR' | 'ADMIN'; isSuperAdmin?: boolean } = {},
): Promise<Somebody> {
  const email = `${name}@example.org`;
  const id = await makeUser(site.db, {
    email,
    isSuperAdmin: more.isSuperAdmin ?? false,
    teams: more.role ? { [site.teamId]: more.role } : {},
  });
  // Nobody tells open pages of what a test writes past the controller.
  await teller.publish(site.db, { type: 'ui', environmentId: null, topics: ['teams'] });
  return { id, email, password: PASSWORD };
}

/** Not signed in. */
export async function openBrowser({ browser }: SiteSession): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(BROWSER_WAIT_MS);
  return context.newPage();
}

/** Fills in the form that is there; what follows is the caller's to wait for. */
export async function giveCredentials(page: Page, { email, password }: Omit<Somebody, 'id'>): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const STEP_S = 30;

/** Each code is good once, and the server takes those of the step before and after: `step` 1 is the next one. */
export const codeOf = (secret: string, step: -1 | 0 | 1 = 0): string =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) + step * STEP_S });

/** What a phone reads from the picture of a code: its modules, as they are drawn. */
export async function scan(picture: Locator): Promise<string> {
  const size = Number((await picture.getAttribute('viewBox'))?.split(' ')[2]);
  const drawn = (await picture.locator('path').getAttribute('d')) ?? '';
  const SCALE = 4;
  const width = size * SCALE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = Number(y) * SCALE; row < (Number(y) + 1) * SCALE; row += 1) {
      for (let column = Number(x) * SCALE; column < (Number(x) + 1) * SCALE; column += 1)
        data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
    }
  }
  return decodeQR({ width, height: width, data });
}

export const secretOf = (uri: string): string => new URL(uri).searchParams.get('secret') ?? '';

/** From the beginning to the backup codes, in the form that is open. Answers what the person has then. */
export async function setUpTwoFactor(on: Page | Locator): Promise<{ secret: string; backupCodes: string[] }> {
  await on.getByRole('button', { name: 'Show the code to scan' }).click();
  const secret = secretOf(await scan(on.getByRole('img', { name: /^QR code/ })));
  await on.getByLabel('Code', { exact: true }).fill(codeOf(secret));
  await on.getByRole('button', { name: 'Turn two-factor on' }).click();
  return { secret, backupCodes: await shownCodes(on) };
}

export async function shownCodes(on: Page | Locator): Promise<string[]> {
  const text = await on.getByRole('region', { name: 'the backup codes' }).locator('pre').innerText();
  return text.trim().split('\n');
}
