import { ACCOUNTS } from './accounts.ts';
import { ENVIRONMENTS } from './environments.ts';
import { FLEET } from './fleet.ts';
import { FORGES } from './forges.ts';
import { GIT_WORDS } from './git-words.ts';
import { LIBRARY } from './library.ts';
import { PIPELINES } from './pipelines.ts';
import { PROMOTIONS } from './promotions.ts';
import { PULL_REQUESTS } from './pull-requests.ts';
import { ROLLOUTS } from './rollouts.ts';
import type { Rows } from './row.ts';
import { SAMPLES } from './samples.ts';
import { SHARED_COMPONENTS } from './shared-components.ts';

/** Of every procedure. */
export const ROWS: Rows = {
  ...ACCOUNTS,
  ...ENVIRONMENTS,
  ...FORGES,
  ...GIT_WORDS,
  ...PIPELINES,
  ...PROMOTIONS,
  ...PULL_REQUESTS,
  ...ROLLOUTS,
  ...SAMPLES,
  ...SHARED_COMPONENTS,
  ...FLEET,
  ...LIBRARY,
};
