/**
 * Saves a picture of every page in both schemes at two widths into test/.artifacts/screenshots/.
 * Needs HEADGATE_URL, HEADGATE_EMAIL and HEADGATE_PASSWORD; HEADGATE_CHROMIUM may name another browser.
 */
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [1440, 390] as const;
const HEIGHT = 900;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Long enough for the first live samples, so that sparklines have something to show. */
const SETTLE_MS = 2_500;

const folder = fileURLToPath(new URL('../test/.artifacts/screenshots/', import.meta.url));

function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`Set ${name}: the pictures are taken of a running Headgate, for example of "make run".`);
  return value;
}

async function signIn(context: BrowserContext, base: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${base}/sign-in`);
  await page.getByLabel('Email').fill(required('HEADGATE_EMAIL'));
  await page.getByLabel('Password').fill(required('HEADGATE_PASSWORD'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
}

/** The first row's address, or null on an empty list. */
async function firstRow(page: Page, table: string): Promise<string | null> {
  const link = page.getByRole('table', { name: table }).getByRole('link').first();
  await link.waitFor({ timeout: 5_000 }).catch(() => undefined);
  return (await link.count()) > 0 ? link.getAttribute('href') : null;
}

async function addresses(page: Page, base: string): Promise<[name: string, path: string][]> {
  const env = new URL(page.url()).pathname.split('/').slice(0, 3).join('/');
  await page.goto(`${base}${env}/pipelines?sort=nodes`);
  const pipeline = await firstRow(page, 'Pipelines');
  await page.goto(`${base}${env}/fleet?sort=health`);
  const node = await firstRow(page, 'Nodes');
  await page.goto(`${base}${env}/fleet?view=groups`);
  const group = await firstRow(page, 'Groups');
  const list: [string, string][] = [
    'overview',
    'pipelines',
    'fleet',
    'git',
    'alerts',
    'secrets',
    'settings',
  ].map((name) => [name, `${env}/${name}`]);
  list.push(
    ['fleet-matrix', `${env}/fleet?view=matrix`],
    ['fleet-groups', `${env}/fleet?view=groups`],
    ['group', group ?? `${env}/fleet/groups/__ungrouped__`],
  );
  if (pipeline) {
    list.push(
      ['pipeline', pipeline],
      ['pipeline-logs', `${pipeline}?tab=logs`],
      ['pipeline-versions', `${pipeline}?tab=versions`],
      ['pipeline-config', `${pipeline}?tab=config`],
    );
  }
  if (node) list.push(['node', node]);
  return list;
}

async function takeAll(): Promise<void> {
  const base = required('HEADGATE_URL').replace(/\/$/, '');
  await mkdir(folder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.HEADGATE_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: FLAGS,
  });
  try {
    for (const colorScheme of SCHEMES) {
      for (const width of WIDTHS) {
        const context = await browser.newContext({ colorScheme, viewport: { width, height: HEIGHT } });
        const page = await signIn(context, base);
        for (const [name, path] of [...(await addresses(page, base)), ['sign-in', '/sign-in'] as const]) {
          await page.goto(base + path);
          await page.waitForTimeout(SETTLE_MS);
          // The window grows to the page's height, so that what is fixed to its edges stays there in the picture.
          const height = await page.evaluate(() => document.documentElement.scrollHeight);
          await page.setViewportSize({ width, height: Math.max(height, HEIGHT) });
          await page.screenshot({ path: `${folder}${name}-${colorScheme}-${width}.png` });
          await page.setViewportSize({ width, height: HEIGHT });
        }
        await context.close();
      }
    }
  } finally {
    await browser.close();
  }
}

await takeAll();
