/** Every procedure by its name. */
import {
  accessOperations as access,
  serviceAccountOperations as serviceAccounts,
} from '../../controller/access/index.ts';
import { alertOperations as alerts } from '../../controller/alerts/index.ts';
import { environmentOperations as environments } from '../../controller/environments/index.ts';
import { fleetOperations as fleet, nodeGroupOperations as nodeGroups } from '../../controller/fleet/index.ts';
import { gitSyncOperations as gitSync } from '../../controller/git-sync/index.ts';
import { logOperations as logs } from '../../controller/logs/index.ts';
import { pipelineOperations as pipelines } from '../../controller/pipelines/index.ts';
import { secretOperations as secrets } from '../../controller/secrets/index.ts';
import { teamOperations as teams } from '../../controller/teams/index.ts';
import { m, q, router } from '../trpc.ts';

export const appRouter = router({
  user: router({
    me: q(access.me),
    listTokens: q(access.listTokens),
    createToken: m(access.createToken),
    deleteToken: m(access.deleteToken),
  }),
  team: router({ list: q(teams.list), create: m(teams.create) }),
  environment: router({
    list: q(environments.list),
    get: q(environments.get),
    create: m(environments.create),
    generateEnrollmentToken: m(environments.generateEnrollmentToken),
  }),
  secret: router({
    list: q(secrets.list),
    create: m(secrets.create),
    update: m(secrets.update),
    delete: m(secrets.remove),
  }),
  serviceAccount: router({
    list: q(serviceAccounts.list),
    create: m(serviceAccounts.create),
    revoke: m(serviceAccounts.revoke),
    delete: m(serviceAccounts.remove),
  }),
  pipeline: router({
    list: q(pipelines.list),
    get: q(pipelines.get),
    versions: q(pipelines.versions),
    getVersion: q(pipelines.getVersion),
    deploymentStatus: q(pipelines.deploymentStatus),
    logs: q(logs.pipelineLogs),
  }),
  deploy: router({ preview: q(pipelines.preview), environmentInfo: q(pipelines.environmentInfo) }),
  fleet: router({
    list: q(fleet.list),
    get: q(fleet.get),
    listWithPipelineStatus: q(fleet.listWithPipelineStatus),
    nodeLogs: q(logs.nodeLogs),
  }),
  nodeGroup: router({
    list: q(nodeGroups.list),
    groupHealthStats: q(nodeGroups.groupHealthStats),
    nodesInGroup: q(nodeGroups.nodesInGroup),
  }),
  alert: router({ listRules: q(alerts.listRules) }),
  gitSync: router({
    status: q(gitSync.status),
    jobs: q(gitSync.jobs),
    importErrors: q(gitSync.importErrors),
    syncNow: m(gitSync.syncNow),
    configure: m(gitSync.configure),
  }),
});

export type AppRouter = typeof appRouter;
