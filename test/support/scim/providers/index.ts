import { ENTRA } from './entra.ts';
import { OKTA } from './okta.ts';
import { JUMPCLOUD, ONELOGIN, PLAIN } from './others.ts';
import type { ProviderRun } from './run.ts';

export const PROVIDERS: readonly ProviderRun[] = [ENTRA, OKTA, ONELOGIN, JUMPCLOUD, PLAIN];
