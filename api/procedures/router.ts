/** Every procedure by its name. */
import {
  accessOperations as access,
  serviceAccountOperations as serviceAccounts,
} from '../../controller/access/index.ts';
import { alertOperations as alerts } from '../../controller/alerts/index.ts';
import { certificateOperations as certificates } from '../../controller/certificates/index.ts';
import { dashboardOperations as dashboard } from '../../controller/dashboard/index.ts';
import { environmentOperations as environments } from '../../controller/environments/index.ts';
import {
  agentUpdateOperations as agentUpdates,
  fleetOperations as fleet,
  nodeGroupEditing as groupEditing,
  matrixOperations as matrix,
  nodeGroupOperations as nodeGroups,
  nodeOperations as nodes,
} from '../../controller/fleet/index.ts';
import {
  gitSyncOperations as gitSync,
  gitSyncApprovals,
  gitSyncDrift,
  gitSyncForge,
  gitSyncHolds,
  gitSyncPlanning,
  gitSyncRetries,
  gitSyncToGit,
  gitSyncWords,
} from '../../controller/git-sync/index.ts';
import { logOperations as logs } from '../../controller/logs/index.ts';
import {
  pipelineDependencyOperations as pipelineDependencies,
  pipelineGroupOperations as pipelineGroups,
} from '../../controller/pipeline-order/index.ts';
import {
  pipelineDeploying as deploying,
  pipelineEditing as editing,
  pipelineGraphs as graphs,
  pipelineOperations as pipelines,
  rolloutViews,
  sharedComponentOperations as sharedComponents,
  stagedRollouts,
} from '../../controller/pipelines/index.ts';
import { engineOperations as engine, vrlOperations as vrl } from '../../controller/playground/index.ts';
import {
  filterPresetOperations as filterPresets,
  userPreferenceOperations as userPreferences,
} from '../../controller/preferences/index.ts';
import {
  promotionDeciding,
  promotionInitiating,
  promotionOperations as promotions,
} from '../../controller/promotions/index.ts';
import {
  pullRequestChanging,
  pullRequestEnding,
  pullRequestOperations as pullRequests,
} from '../../controller/pull-requests/index.ts';
import { releaseOperations as releases } from '../../controller/releases/index.ts';
import { sampleOperations as samples, tapOperations as taps } from '../../controller/samples/index.ts';
import { secretOperations as secrets } from '../../controller/secrets/index.ts';
import { snippetOperations as snippets } from '../../controller/snippets/index.ts';
import { teamOperations as teams } from '../../controller/teams/index.ts';
import { templateOperations as templates } from '../../controller/templates/index.ts';
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
    update: m(environments.update),
    delete: m(environments.remove),
    generateEnrollmentToken: m(environments.generateEnrollmentToken),
    revokeEnrollmentToken: m(environments.revokeEnrollmentToken),
  }),
  secret: router({
    list: q(secrets.list),
    create: m(secrets.create),
    register: m(secrets.register),
    update: m(secrets.update),
    delete: m(secrets.remove),
  }),
  certificate: router({
    list: q(certificates.list),
    upload: m(certificates.upload),
    delete: m(certificates.remove),
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
    create: m(editing.create),
    update: m(editing.update),
    delete: m(editing.remove),
    restore: m(editing.restore),
    clone: m(editing.clone),
    promote: m(editing.promote),
    saveGraph: m(graphs.saveGraph),
    renderGraph: m(graphs.renderGraph),
    readYaml: m(graphs.readYaml),
    versions: q(pipelines.versions),
    getVersion: q(pipelines.getVersion),
    compareVersions: q(pipelines.compareVersions),
    createVersion: m(deploying.createVersion),
    rollback: m(deploying.rollback),
    deploymentStatus: q(pipelines.deploymentStatus),
    logs: q(logs.pipelineLogs),
    requestSamples: m(samples.requestSamples),
    sampleResult: q(samples.sampleResult),
    eventSchemas: q(samples.eventSchemas),
    startTap: m(taps.startTap),
    stopTap: m(taps.stopTap),
  }),
  deploy: router({
    preview: q(pipelines.preview),
    agent: m(deploying.deployAgent),
    undeploy: m(deploying.undeploy),
    environmentInfo: q(pipelines.environmentInfo),
  }),
  stagedRollout: router({
    create: m(stagedRollouts.create),
    broaden: m(stagedRollouts.broaden),
    rollback: m(stagedRollouts.rollback),
    getActive: q(rolloutViews.getActive),
    list: q(rolloutViews.list),
  }),
  sharedComponent: router({
    list: q(sharedComponents.list),
    getById: q(sharedComponents.getById),
    create: m(sharedComponents.create),
    createFromNode: m(sharedComponents.createFromNode),
    update: m(sharedComponents.update),
    delete: m(sharedComponents.remove),
    acceptUpdate: m(sharedComponents.acceptUpdate),
    acceptUpdateBulk: m(sharedComponents.acceptUpdateBulk),
    unlink: m(sharedComponents.unlink),
    linkExisting: m(sharedComponents.linkExisting),
  }),
  validator: router({ validate: m(pipelines.validate) }),
  fleet: router({
    list: q(fleet.list),
    get: q(fleet.get),
    listWithPipelineStatus: q(fleet.listWithPipelineStatus),
    matrix: q(matrix.read),
    nodeLogs: q(logs.nodeLogs),
    create: m(nodes.create),
    update: m(nodes.update),
    delete: m(nodes.remove),
    revokeNode: m(nodes.revokeNode),
    setMaintenance: m(fleet.setMaintenance),
    triggerAgentUpdate: m(agentUpdates.triggerAgentUpdate),
    cancelAgentUpdate: m(agentUpdates.cancelAgentUpdate),
    restartAgent: m(agentUpdates.restartAgent),
  }),
  nodeGroup: router({
    list: q(nodeGroups.list),
    create: m(groupEditing.create),
    update: m(groupEditing.update),
    delete: m(groupEditing.remove),
    groupHealthStats: q(nodeGroups.groupHealthStats),
    nodesInGroup: q(nodeGroups.nodesInGroup),
  }),
  alert: router({
    listRules: q(alerts.listRules),
    createRule: m(alerts.createRule),
    updateRule: m(alerts.updateRule),
    deleteRule: m(alerts.deleteRule),
  }),
  pipelineGroup: router({
    list: q(pipelineGroups.list),
    create: m(pipelineGroups.create),
    update: m(pipelineGroups.update),
    delete: m(pipelineGroups.remove),
  }),
  pipelineDependency: router({
    list: q(pipelineDependencies.list),
    listCandidates: q(pipelineDependencies.listCandidates),
    deployWarnings: q(pipelineDependencies.deployWarnings),
    undeployWarnings: q(pipelineDependencies.undeployWarnings),
    graph: q(pipelineDependencies.graph),
    add: m(pipelineDependencies.add),
    remove: m(pipelineDependencies.remove),
  }),
  dashboard: router({
    stats: q(dashboard.stats),
    recentPipelines: q(dashboard.recentPipelines),
    recentAudit: q(dashboard.recentAudit),
    nodeCards: q(dashboard.nodeCards),
    pipelineCards: q(dashboard.pipelineCards),
    operationalOverview: q(dashboard.operationalOverview),
  }),
  template: router({
    list: q(templates.list),
    get: q(templates.get),
    create: m(templates.create),
    delete: m(templates.remove),
  }),
  engine: router({ catalogue: q(engine.catalogue), componentSchema: q(engine.componentSchema) }),
  vrl: router({ test: m(vrl.test) }),
  vrlSnippet: router({
    list: q(snippets.list),
    create: m(snippets.create),
    update: m(snippets.update),
    delete: m(snippets.remove),
  }),
  filterPreset: router({
    list: q(filterPresets.list),
    create: m(filterPresets.create),
    update: m(filterPresets.update),
    delete: m(filterPresets.remove),
    setDefault: m(filterPresets.setDefault),
    clearDefault: m(filterPresets.clearDefault),
  }),
  settings: router({ checkVersion: q(releases.checkVersion) }),
  userPreference: router({
    get: q(userPreferences.get),
    set: m(userPreferences.set),
    delete: m(userPreferences.remove),
  }),
  gitSync: router({
    status: q(gitSync.status),
    jobs: q(gitSync.jobs),
    importErrors: q(gitSync.importErrors),
    plan: q(gitSyncPlanning.plan),
    export: q(gitSyncToGit.exportManifests),
    syncNow: m(gitSync.syncNow),
    configure: m(gitSync.configure),
    checkForge: m(gitSyncForge.checkForge),
    approvePlan: m(gitSyncApprovals.approvePlan),
    suspend: m(gitSyncWords.suspend),
    resume: m(gitSyncWords.resume),
    adopt: m(gitSyncWords.adopt),
    confirmPrune: m(gitSyncWords.confirmPrune),
    hold: m(gitSyncHolds.hold),
    holds: q(gitSyncHolds.holds),
    releaseHold: m(gitSyncHolds.releaseHold),
    drift: q(gitSyncDrift.drift),
    retryJob: m(gitSyncRetries.retryJob),
    retryAllFailed: m(gitSyncRetries.retryAllFailed),
  }),
  promotion: router({
    preflight: q(promotions.preflight),
    diffPreview: q(promotions.diffPreview),
    initiate: m(promotionInitiating.initiate),
    approve: m(promotionDeciding.approve),
    reject: m(promotionDeciding.reject),
    cancel: m(promotionDeciding.cancel),
    history: q(promotions.history),
    list: q(promotions.list),
    get: q(promotions.get),
    content: q(promotions.content),
  }),
  pullRequest: router({
    list: q(pullRequests.list),
    get: q(pullRequests.get),
    diff: q(pullRequests.diff),
    plan: q(pullRequests.plan),
    open: m(pullRequestChanging.open),
    edit: m(pullRequestChanging.edit),
    comment: m(pullRequestChanging.comment),
    review: m(pullRequestChanging.review),
    merge: m(pullRequestEnding.merge),
    close: m(pullRequestEnding.close),
    reopen: m(pullRequestEnding.reopen),
    refresh: m(pullRequestEnding.refresh),
  }),
});

export type AppRouter = typeof appRouter;
