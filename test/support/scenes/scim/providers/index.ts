import { AUTHENTIK } from './authentik.ts';
import { ENTRA } from './entra.ts';
import { ENTRA_FLAGGED } from './entra-flagged.ts';
import { JUMPCLOUD } from './jumpcloud.ts';
import { OKTA } from './okta.ts';
import { OKTA_CATALOGUE } from './okta-catalogue.ts';
import { ONELOGIN } from './onelogin.ts';
import { PLAIN } from './plain.ts';
import type { ProviderRun } from './run.ts';

export const PROVIDERS: readonly ProviderRun[] = [
  ...[ENTRA, ENTRA_FLAGGED, OKTA, OKTA_CATALOGUE],
  ...[ONELOGIN, JUMPCLOUD, AUTHENTIK, PLAIN],
];
