import { ACCOUNTS } from './accounts.ts';
import { ALERTS } from './alerts.ts';
import { ASSISTANT } from './assistant.ts';
import { AUDIT } from './audit.ts';
import { BACKUPS } from './backups.ts';
import { COSTS } from './costs.ts';
import { DIRECTORY } from './directory.ts';
import { ENVIRONMENTS } from './environments.ts';
import { FLEET } from './fleet.ts';
import { FORGES } from './forges.ts';
import { GIT_LABELS } from './git-words.ts';
import { LIBRARY } from './library.ts';
import { METRICS } from './metrics.ts';
import { MIGRATIONS } from './migrations.ts';
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
import { STREAMS } from './streams.ts';

/** By what the procedures are about; `test/integration/api/procedures/` has a file for each of these. */
export const ROW_GROUPS = {
  identity: {
    ...ACCOUNTS,
    ...BACKUPS,
    ...DIRECTORY,
    ...OWN_ACCOUNT,
    ...PEOPLE,
    ...SINGLE_SIGN_ON,
  },
  pipelines: {
    ...ASSISTANT,
    ...LIBRARY,
    ...MIGRATIONS,
    ...PIPELINES,
    ...SAMPLES,
    ...SHARED_COMPONENTS,
  },
  delivery: {
    ...ENVIRONMENTS,
    ...FORGES,
    ...GIT_LABELS,
    ...PROMOTIONS,
    ...PULL_REQUESTS,
    ...ROLLOUTS,
  },
  insight: {
    ...ALERTS,
    ...AUDIT,
    ...COSTS,
    ...FLEET,
    ...METRICS,
    ...NOTIFICATIONS,
    ...STREAMS,
  },
} satisfies Record<string, Rows>;

/** Of every procedure. */
export const ROWS: Rows = Object.assign({}, ...Object.values(ROW_GROUPS));
