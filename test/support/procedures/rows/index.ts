import { ACCOUNTS } from './accounts.ts';
import { ALERTS } from './alerts.ts';
import { AUDIT } from './audit.ts';
import { DIRECTORY } from './directory.ts';
import { ENVIRONMENTS } from './environments.ts';
import { FLEET } from './fleet.ts';
import { FORGES } from './forges.ts';
import { GIT_LABELS } from './git-words.ts';
import { LIBRARY } from './library.ts';
import { METRICS } from './metrics.ts';
import { NOTIFICATIONS } from './notifications.ts';
import { OWN_ACCOUNT } from './own-account.ts';
import { PEOPLE } from './people.ts';
import { PIPELINES } from './pipelines.ts';
import { PROMOTIONS } from './promotions.ts';
import { PULL_REQUESTS } from './pull-requests.ts';
import { ROLLOUTS } from './rollouts.ts';
import type { Rows } from './row.ts';
import { SAMPLES } from './samples.ts';
import { SHARED_COMPONENTS } from './shared-components.ts';
import { SINGLE_SIGN_ON } from './single-sign-on.ts';

/** Of every procedure. */
export const ROWS: Rows = {
  ...ACCOUNTS,
  ...ALERTS,
  ...OWN_ACCOUNT,
  ...AUDIT,
  ...DIRECTORY,
  ...ENVIRONMENTS,
  ...FORGES,
  ...GIT_LABELS,
  ...PEOPLE,
  ...PIPELINES,
  ...PROMOTIONS,
  ...PULL_REQUESTS,
  ...ROLLOUTS,
  ...SAMPLES,
  ...SHARED_COMPONENTS,
  ...SINGLE_SIGN_ON,
  ...FLEET,
  ...LIBRARY,
  ...METRICS,
  ...NOTIFICATIONS,
};
