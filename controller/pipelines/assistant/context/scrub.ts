/**
 * What takes secrets out of every text before it is sent to a provider: the values of the environment's secrets wherever they
 * stand, credentials that were typed into programs, and in data the values behind keys that samples are redacted by.
 */
import { effectiveRedactKeys, findEnvironment } from '../../../fleet/environments/index.ts';
import { createRedactor } from '../../../fleet/samples/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { readSecrets } from '../../../secrets/index.ts';
import { credentialsIn, maskTyped } from './typed-credentials.ts';

export interface Scrubber {
  /** Configs and what the checks say: values of secrets go, and what looks like a typed credential. */
  values(text: string): string;
  /** Logs, errors and events: values behind redacted keys go too. */
  data(text: string): string;
}

/** In the place of a value of a secret. */
export const SCRUBBED = '[secret]';
/** Shorter ones would blank ordinary words. */
const SHORTEST = 4;
/** Of one line of a value that has several: `}` or `true` may stand anywhere. */
const SHORTEST_LINE = 8;

export async function createScrubber(ctx: Context, environmentId: string): Promise<Scrubber> {
  const environment = await findEnvironment(ctx.db, environmentId);
  const redactor = createRedactor(effectiveRedactKeys(environment?.redactKeys ?? null));
  const secrets = await readSecrets(ctx.db, ctx.services.keyring, environmentId);
  const forms: string[] = [];
  for (const [variable, open] of secrets) {
    try {
      forms.push(...formsOf(open()));
    } catch (error) {
      ctx.log.warn({ environmentId, variable, reason: messageOf(error) }, 'a secret does not open');
    }
  }
  const blank = blankForms(forms);
  const values = (text: string) => maskTyped(blank(text));
  return { values, data: (text) => values(redactor.text(text)) };
}

/** As a value looks in a text, in JSON, in a URL and in base64; of several lines each one. */
export function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const parts = [
    value,
    value.trim(),
    ...(lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : []),
  ];
  return parts
    .filter((part) => part.length >= SHORTEST)
    .flatMap((part) => [
      part,
      JSON.stringify(part).slice(1, -1),
      encodeURIComponent(part.toWellFormed()),
      ...(part.length >= SHORTEST_LINE ? [Buffer.from(part).toString('base64').replace(/=+$/, '')] : []),
    ]);
}

/**
 * Takes credentials out that were typed into programs, wherever they stand: a program that ran may write them into an error, a
 * log or an event. Those of fewer than 8 characters stay, which may be ordinary words.
 */
export const blankTyped = (programs: readonly string[]): ((text: string) => string) =>
  blankForms(
    programs
      .flatMap(credentialsIn)
      .filter((credential) => credential.length >= SHORTEST_LINE)
      .flatMap(formsOf),
  );

export function blankForms(forms: readonly string[]): (text: string) => string {
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) =>
    longestFirst.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, SCRUBBED) : rest), text);
}
