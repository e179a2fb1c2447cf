/** The reads of the UI. `topics` names the live events after which the answer must be looked at again. */
import { alertRulesQueries } from './alert-rules.ts';
import { environmentsQueries } from './environments.ts';
import { fleetQueries } from './fleet.ts';
import { gitQueries } from './git.ts';
import { installationQueries } from './installation.ts';
import { libraryQueries } from './library.ts';
import { overviewQueries } from './overview.ts';
import { peopleQueries } from './people.ts';
import { pipelinesQueries } from './pipelines.ts';

export { type LiveMeta, live } from './live.ts';

export const queries = {
  ...overviewQueries,
  ...peopleQueries,
  ...installationQueries,
  ...environmentsQueries,
  ...pipelinesQueries,
  ...libraryQueries,
  ...fleetQueries,
  ...alertRulesQueries,
  ...gitQueries,
};
