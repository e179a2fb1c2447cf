/**
 * The contract of the procedure API as a table: kind (Q query, M mutation), least role (V viewer, E editor, A admin, SA super
 * admin) and fields of every procedure. `?` marks an optional field; what stands after the colon is its type, a text where
 * nothing does. A procedure may take further optional fields, and no other required ones.
 */
import { appRouter } from '../../../api/procedures/router.ts';

export interface ContractField {
  name: string;
  optional: boolean;
  /** `string`, `number`, `boolean`, `object`, `date`, `any`, `x|y` for an enumeration; `[]` for an array of them. */
  type: string;
}

export interface Contract {
  name: string;
  kind: 'query' | 'mutation';
  role: 'VIEWER' | 'EDITOR' | 'ADMIN' | 'SUPER_ADMIN';
  fields: ContractField[];
}

const TABLE = `
admin.assignToTeam M SA userId teamId role:VIEWER|EDITOR|ADMIN
admin.createUser M SA email name teamId? role?:VIEWER|EDITOR|ADMIN
admin.deleteUser M SA userId
admin.listTeams Q SA
admin.listUsers Q SA
admin.lockUser M SA userId
admin.removeFromTeam M SA userId teamId
admin.resetPassword M SA userId
admin.toggleSuperAdmin M SA userId isSuperAdmin:boolean
admin.unlockUser M SA userId
ai.getConversation Q V pipelineId
ai.getDebugConversation Q V pipelineId
ai.getVrlConversation Q V pipelineId componentKey
ai.markSuggestionsApplied M E pipelineId conversationId messageId suggestionIds:string[]
ai.markVrlSuggestionsApplied M E pipelineId conversationId messageId suggestionIds:string[]
ai.startNewConversation M E pipelineId
alert.createRule M E name environmentId pipelineId? metric:node_unreachable|cpu_usage|memory_usage|disk_usage|error_rate|discarded_rate|pipeline_crashed condition:gt|lt|eq threshold:number durationSeconds?:number teamId
alert.createWebhook M E environmentId url headers?:object hmacSecret?
alert.deleteRule M E id
alert.deleteWebhook M E id
alert.listEvents Q V environmentId limit?:number cursor?
alert.listRules Q V environmentId
alert.listWebhooks Q V environmentId
alert.testWebhook M E id
alert.updateRule M E id name? enabled?:boolean threshold?:number durationSeconds?:number
alert.updateWebhook M E id url? headers?:object|null hmacSecret?:string|null enabled?:boolean
analytics.costByEnvironment Q V environmentId range:1h|6h|1d|7d|30d
analytics.costByPipeline Q V environmentId range:1h|6h|1d|7d|30d
analytics.costByTeam Q V environmentId range:1h|6h|1d|7d|30d
analytics.costCsv Q V environmentId range:1h|6h|1d|7d|30d
analytics.costSummary Q V environmentId range:1h|6h|1d|7d|30d
analytics.costTimeSeries Q V environmentId range:1h|6h|1d|7d|30d groupBy?:pipeline|team
analytics.topPipelines Q V environmentId range:1h|6h|1d|7d|30d
anomaly.acknowledge M E environmentId anomalyId
anomaly.countByPipeline Q V environmentId
anomaly.dismiss M E environmentId anomalyId
anomaly.list Q V environmentId pipelineId? status?:open|acknowledged|dismissed limit?:number cursor?
anomaly.maxSeverityByPipeline Q V environmentId
audit.actions Q V
audit.entityTypes Q V
audit.list Q V action? userId? entityType? search? teamId? environmentId? startDate? endDate? cursor?
audit.users Q V
certificate.delete M E id environmentId
certificate.list Q V environmentId
certificate.upload M E environmentId name filename fileType:ca|cert|key dataBase64
costRecommendation.dismiss M E environmentId id
costRecommendation.getById Q V environmentId id
costRecommendation.list Q V environmentId status?:PENDING|DISMISSED|APPLIED limit?:number
costRecommendation.markApplied M E environmentId id
costRecommendation.summary Q V environmentId
costRecommendation.triggerAnalysis M A environmentId
dashboard.chartMetrics Q V environmentId nodeIds?:string[] pipelineIds?:string[] range?:1h|6h|1d|7d groupBy?:pipeline|node|aggregate
dashboard.nodeCards Q V
dashboard.operationalOverview Q V
dashboard.pipelineCards Q V environmentId
dashboard.recentAudit Q V
dashboard.recentPipelines Q V
dashboard.stats Q V environmentId
deploy.agent M E pipelineId changelog
deploy.environmentInfo Q V pipelineId
deploy.preview Q V pipelineId
deploy.undeploy M E pipelineId
environment.create M E name teamId
environment.delete M A id
environment.generateEnrollmentToken M A environmentId
environment.get Q V id
environment.list Q V teamId
environment.revokeEnrollmentToken M A environmentId
environment.update M E id name? secretBackend? secretBackendConfig?:any
filterPreset.clearDefault M E environmentId scope:pipeline_list|fleet_matrix
filterPreset.create M E environmentId name scope:pipeline_list|fleet_matrix filters:object isDefault?:boolean
filterPreset.delete M E environmentId id
filterPreset.list Q V environmentId scope:pipeline_list|fleet_matrix
filterPreset.setDefault M E environmentId id scope:pipeline_list|fleet_matrix
filterPreset.update M E environmentId id name? filters?:object
fleet.create M E name host apiPort?:number environmentId
fleet.delete M E id
fleet.get Q V id
fleet.list Q V environmentId
fleet.listWithPipelineStatus Q V environmentId
fleet.nodeLogs Q V nodeId cursor? limit?:number levels?:string[] pipelineId?
fleet.nodeMetrics Q V nodeId hours?:number
fleet.revokeNode M A id
fleet.triggerAgentUpdate M A nodeId targetVersion downloadUrl checksum
fleet.update M E id name?
gitSync.importErrors Q V environmentId limit?:number
gitSync.jobs Q V environmentId status?:pending|completed|failed limit?:number
gitSync.retryAllFailed M E environmentId
gitSync.retryJob M E jobId
gitSync.status Q V environmentId
metrics.getComponentLatencyHistory Q V pipelineId minutes?:number
metrics.getComponentMetrics Q V pipelineId minutes?:number
metrics.getLiveRates Q V environmentId
metrics.getNodePipelineRates Q V nodeId
metrics.getPipelineMetrics Q V pipelineId minutes?:number
migration.create M E teamId name platform:FLUENTD originalConfig
migration.delete M E id teamId
migration.generate M E id teamId environmentId pipelineName
migration.get Q V id teamId
migration.list Q V teamId
migration.parse M E id teamId
migration.retranslateBlock M E id teamId blockId
migration.translate M E id teamId
migration.updateBlockConfig M E id teamId blockId config:object
migration.validate M E id teamId
nodeGroup.create M A environmentId name criteria:object labelTemplate?:object requiredLabels?:string[]
nodeGroup.delete M A id
nodeGroup.groupHealthStats Q V environmentId
nodeGroup.list Q V environmentId
nodeGroup.nodesInGroup Q V groupId environmentId
nodeGroup.update M A id name? criteria?:object labelTemplate?:object requiredLabels?:string[]
pipeline.clone M E pipelineId
pipeline.create M E name description? environmentId
pipeline.createVersion M E pipelineId configYaml changelog?
pipeline.delete M E id
pipeline.deploymentStatus Q V pipelineId
pipeline.eventSchemas Q V pipelineId
pipeline.get Q V id
pipeline.getVersion Q V versionId
pipeline.list Q V environmentId
pipeline.logs Q V pipelineId cursor? limit?:number levels?:string[] nodeId? since?:date
pipeline.metrics Q V pipelineId hours?:number
pipeline.promote M E pipelineId targetEnvironmentId name?
pipeline.requestSamples M E pipelineId componentKeys:string[] limit?:number
pipeline.rollback M E pipelineId targetVersionId
pipeline.sampleResult Q V requestId
pipeline.saveGraph M E pipelineId nodes:object[] edges:object[] globalConfig?:object
pipeline.update M E id name? description?:string|null
pipeline.versions Q V pipelineId
pipelineDependency.add M E upstreamId downstreamId description?
pipelineDependency.deployWarnings Q V pipelineId
pipelineDependency.graph Q V environmentId
pipelineDependency.list Q V pipelineId
pipelineDependency.listCandidates Q V pipelineId environmentId
pipelineDependency.remove M E id
pipelineDependency.undeployWarnings Q V pipelineId
pipelineGroup.create M E environmentId name color? parentId?
pipelineGroup.delete M A id
pipelineGroup.list Q V environmentId
pipelineGroup.update M E id name? color? parentId?
promotion.approve M E requestId
promotion.cancel M E requestId
promotion.diffPreview Q V pipelineId
promotion.history Q V pipelineId
promotion.initiate M E pipelineId targetEnvironmentId name?
promotion.preflight Q V pipelineId targetEnvironmentId name?
promotion.reject M E requestId note?
secret.create M E environmentId name value
secret.delete M E id environmentId
secret.list Q V environmentId
secret.update M E id environmentId value
serviceAccount.create M A environmentId name description? permissions:(pipelines.read|pipelines.deploy|nodes.read|nodes.manage|secrets.read|secrets.manage|alerts.read|alerts.manage|audit.read)[] expiresInDays?:number
serviceAccount.delete M A id
serviceAccount.list Q A environmentId
serviceAccount.revoke M A id
settings.checkVersion Q V force?:boolean
settings.createBackup M SA
settings.deleteBackup M SA filename
settings.generateScimToken M SA
settings.get Q SA
settings.listBackups Q SA
settings.previewBackup Q SA filename
settings.restoreBackup M SA filename
settings.testOidc M SA issuer
settings.testS3Connection M SA bucket region prefix? accessKeyId secretAccessKey endpoint?
settings.updateAnomalyConfig M SA baselineWindowDays:number sigmaThreshold:number minStddevFloorPercent:number dedupWindowHours:number enabledMetrics
settings.updateBackupSchedule M SA enabled:boolean cron retentionCount:number
settings.updateFleet M SA pollIntervalMs:number unhealthyThreshold:number metricsRetentionDays?:number logsRetentionDays?:number
settings.updateOidc M SA issuer clientId clientSecret displayName? tokenEndpointAuthMethod?
settings.updateOidcRoleMapping M SA defaultRole:VIEWER|EDITOR|ADMIN groupsClaim? adminGroups? editorGroups?
settings.updateOidcTeamMappings M SA mappings:object[] defaultTeamId? defaultRole:VIEWER|EDITOR|ADMIN groupSyncEnabled:boolean groupsScope? groupsClaim?
settings.updateScim M SA enabled:boolean
settings.updateStorageBackend M SA backend:local|s3 bucket? region? prefix? accessKeyId? secretAccessKey? endpoint?
sharedComponent.acceptUpdate M E nodeId pipelineId
sharedComponent.acceptUpdateBulk M E pipelineId
sharedComponent.create M E environmentId name description? componentType kind:SOURCE|TRANSFORM|SINK config:object
sharedComponent.createFromNode M E nodeId pipelineId name description? environmentId
sharedComponent.delete M E id environmentId
sharedComponent.getById Q V id environmentId
sharedComponent.linkExisting M E nodeId pipelineId sharedComponentId
sharedComponent.list Q V environmentId
sharedComponent.unlink M E nodeId pipelineId
sharedComponent.update M E id environmentId name? description? config?:object
stagedRollout.broaden M E rolloutId
stagedRollout.create M E pipelineId canarySelector:object healthCheckWindowMinutes:number changelog
stagedRollout.getActive Q V pipelineId
stagedRollout.list Q V pipelineId
stagedRollout.rollback M E rolloutId
team.addMember M A teamId email role:VIEWER|EDITOR|ADMIN
team.create M SA name
team.delete M SA teamId
team.get Q V id
team.list Q V
team.lockMember M A teamId userId
team.myRole Q V
team.removeMember M A teamId userId
team.rename M A teamId name
team.resetMemberPassword M A teamId userId
team.teamRole Q V teamId
team.unlockMember M A teamId userId
team.updateMemberRole M A teamId userId role:VIEWER|EDITOR|ADMIN
team.updateRequireTwoFactor M A teamId requireTwoFactor:boolean
template.create M E name description category teamId nodes:object[] edges:object[]
template.delete M E id
template.get Q V id
template.list Q V teamId
user.changePassword M V currentPassword newPassword
user.disableTotp M V code
user.me Q V
user.setupTotp M V
user.updateProfile M V name
user.verifyAndEnableTotp M V code
userPreference.delete M V key
userPreference.get Q V
userPreference.set M V key value
validator.validate M V yaml
vrl.test M V source input
vrlSnippet.create M E teamId name description? category code
vrlSnippet.delete M E id
vrlSnippet.list Q V teamId
vrlSnippet.update M E id name? description? category? code?
webhookEndpoint.create M A teamId name url eventTypes:(node_unreachable|cpu_usage|memory_usage|disk_usage|error_rate|discarded_rate|pipeline_crashed)[] secret?
webhookEndpoint.delete M A id teamId
webhookEndpoint.list Q V teamId
webhookEndpoint.listDeliveries Q V webhookEndpointId teamId take?:number skip?:number
webhookEndpoint.testDelivery M A id teamId
webhookEndpoint.toggleEnabled M A id teamId
webhookEndpoint.update M A id teamId name? url? eventTypes?:(node_unreachable|cpu_usage|memory_usage|disk_usage|error_rate|discarded_rate|pipeline_crashed)[] secret?
`;

const ROLES = { V: 'VIEWER', E: 'EDITOR', A: 'ADMIN', SA: 'SUPER_ADMIN' } as const;

function read(line: string): Contract {
  const [name = '', kind, role = '', ...fields] = line.split(' ');
  return {
    name,
    kind: kind === 'Q' ? 'query' : 'mutation',
    role: ROLES[role as keyof typeof ROLES],
    fields: fields.map((field) => {
      const [, fieldName = '', optional, type = 'string'] = /^(\w+)(\??)(?::(.*))?$/.exec(field) ?? [];
      return { name: fieldName, optional: optional === '?', type };
    }),
  };
}

export const CONTRACT: ReadonlyMap<string, Contract> = new Map(
  TABLE.trim()
    .split('\n')
    .map(read)
    .map((contract) => [contract.name, contract]),
);

/** What a client takes each procedure for. One that changes nothing may come by POST where its input is large. */
export const PROCEDURE_KINDS: ReadonlyMap<string, 'query' | 'mutation'> = new Map(
  Object.entries<unknown>(appRouter._def.procedures).map(([name, procedure]) => [
    name,
    (procedure as { _def: { type: 'query' | 'mutation' } })._def.type,
  ]),
);
