/** From opening the address to the table of pipelines, in a real browser that is signed in. */
import { launch, signIn } from '../../e2e/web/browser.ts';
import { findChromium } from '../../support/harness/chromium.ts';
import { startHeadgate } from '../../support/harness/headgate.ts';
import { median, ms, type Result, type Say } from '../result.ts';

const OPENINGS = 5;
const GOAL_MS = 1_000;
const WHAT = 'web UI: from opening the address to the table of pipelines';

export async function firstPage(say: Say): Promise<Result[]> {
  if (!findChromium()) {
    return [{ what: WHAT, goal: '< 1 s', measured: 'left out: there is no Chromium here', ok: null }];
  }
  say(`page: opening it ${OPENINGS} times …`);
  const headgate = await startHeadgate();
  const browser = await launch();
  try {
    const target = { ...headgate, remove: async () => undefined };
    const signedIn = await browser.newContext();
    await signIn(await signedIn.newPage(), target);
    const storageState = await signedIn.storageState();
    const cold: number[] = [];
    const warm: number[] = [];
    for (let opening = 0; opening < OPENINGS; opening += 1) {
      // A context of its own has an empty cache.
      const context = await browser.newContext({ storageState });
      for (const sample of [cold, warm]) {
        const page = await context.newPage();
        const startedAt = performance.now();
        await page.goto(`${headgate.url}/e/${headgate.environments.staging}/pipelines`, {
          waitUntil: 'commit',
        });
        await page.getByRole('table', { name: 'Pipelines' }).getByRole('link').first().waitFor();
        sample.push(performance.now() - startedAt);
        await page.close();
      }
      await context.close();
    }
    const line = (sample: readonly number[]) =>
      `median ${ms(median(sample))}, longest of ${OPENINGS} ${ms(Math.max(...sample))}`;
    return [
      { what: WHAT, goal: '< 1 s', measured: line(cold), ok: median(cold) < GOAL_MS },
      { what: '… with its files in the cache', goal: '', measured: line(warm), ok: null },
    ];
  } finally {
    await browser.close();
    await headgate.remove();
  }
}
