/**
 * `node lint.mjs <openapi.json>`: what Redocly's `recommended-strict` and Spectral's `oas` rules find, as a JSON list of
 * sentences on standard output; an empty one when all is well.
 */
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

const source = readFileSync(process.argv[2], 'utf8');

const config = await createConfig({ extends: ['recommended-strict'] });
const redocly = await lintFromString({ source, absoluteRef: '/openapi.json', config });
const fromRedocly = redocly.map(
  ({ ruleId, severity, message, location }) =>
    `redocly ${severity} ${ruleId}: ${message} (${location[0]?.pointer})`,
);

const spectral = new spectralCore.Spectral();
// Every rule, but that one which wants an address to write to: whoever runs a Headgate gives none.
spectral.setRuleset({ extends: [[spectralRulesets.oas, 'all']], rules: { 'contact-properties': 'off' } });
const fromSpectral = (await spectral.run(source)).map(
  ({ code, message, path }) => `spectral ${code}: ${message} (${path.join('/')})`,
);

process.stdout.write(JSON.stringify([...fromRedocly, ...fromSpectral]));
