import { ACCOUNTS } from './accounts.ts';
import { ENVIRONMENTS } from './environments.ts';
import { FLEET } from './fleet.ts';
import { LIBRARY } from './library.ts';
import { PIPELINES } from './pipelines.ts';
import type { Rows } from './row.ts';
import { SHARED_COMPONENTS } from './shared-components.ts';

/** Of every procedure. */
export const ROWS: Rows = {
  ...ACCOUNTS,
  ...ENVIRONMENTS,
  ...PIPELINES,
  ...SHARED_COMPONENTS,
  ...FLEET,
  ...LIBRARY,
};
