/**
 * Which operations are tools for agents, and in which lists they stand. Queries are tools by their router unless they are
 * left out here with a reason. A mutation is one where it can become a proposal to git, or where it is named here.
 */
export const TOOLSETS = {
  pipelines: {
    title: 'Pipelines: graphs, versions, deploys, rollouts, checks of configs and VRL',
    routers: [
      ...['pipeline', 'deploy', 'stagedRollout', 'pipelineDependency', 'pipelineGroup'],
      ...['sharedComponent', 'template', 'vrlSnippet', 'engine', 'validator', 'vrl'],
    ],
  },
  fleet: { title: 'Nodes, groups and environments', routers: ['fleet', 'nodeGroup', 'environment'] },
  git: {
    title: 'Git: status, plans, drift, pull requests, promotions',
    routers: ['gitSync', 'pullRequest', 'promotion'],
  },
  alerts: {
    title: 'Alerts, silences, anomalies and where alerts are sent',
    routers: ['alert', 'anomaly', 'webhookEndpoint'],
  },
  metrics: { title: 'Metrics and overviews', routers: ['metrics', 'dashboard'] },
  costs: { title: 'Volumes, costs and what would lower them', routers: ['analytics', 'costRecommendation'] },
  audit: { title: 'The audit log', routers: ['audit'] },
  secrets: {
    title: 'Names and times of secrets and certificates, never values',
    routers: ['secret', 'certificate'],
  },
  account: { title: 'The teams and the account of the token', routers: ['team', 'user'] },
} as const;
export type Toolset = keyof typeof TOOLSETS;

/** Router or operation to why an agent does not get it. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  admin: 'people administer the installation',
  settings: 'people administer the installation',
  stream: 'people administer the installation',
  backup: 'people administer the installation',
  backups: 'people administer the installation',
  serviceAccount: 'an agent neither sees nor makes keys',
  ai: 'an agent needs no other assistant',
  migration: 'a page walks a user through it',
  filterPreset: 'views of the UI',
  userPreference: 'views of the UI',
  'user.listSessions': 'how users sign in is their own',
  'user.listTokens': 'how users sign in is their own',
  'team.myRole': 'user_me and team_list have it',
  'team.teamRole': 'user_me and team_list have it',
  'analytics.costCsv': 'a file for a spreadsheet; analytics_cost_by_pipeline has its rows',
  'webhookEndpoint.preview': 'an example for a form',
  'pipeline.readYaml': 'a step of the graph editor',
  'pipelineDependency.listCandidates': 'choices of a form',
  'audit.entityTypes': 'choices of a form',
  'audit.users': 'choices of a form',
};

/** Mutations that change nothing that runs: any token with the role may use them. */
export const OBSERVING: ReadonlySet<string> = new Set(['pipeline.requestSamples']);

/**
 * Mutations that are tools for tokens that may change things at once. What one user decides about the work of another
 * (approvals, reviews, merges), deletions that cannot be undone, secrets and memberships stay with people.
 */
export const DIRECT: ReadonlySet<string> = new Set([
  ...['pipeline.create', 'pipeline.clone', 'pipeline.restore', 'pipeline.rollback'],
  ...['deploy.retryVersion', 'stagedRollout.create', 'stagedRollout.broaden', 'stagedRollout.rollback'],
  ...['alert.createRule', 'alert.createSilence', 'alert.acknowledgeEvent'],
  ...['anomaly.acknowledge', 'anomaly.dismiss', 'costRecommendation.dismiss'],
  ...['gitSync.syncNow', 'gitSync.retryJob', 'gitSync.retryAllFailed', 'fleet.setMaintenance'],
  ...[
    'pullRequest.comment',
    'pullRequest.edit',
    'pullRequest.refresh',
    'pullRequest.close',
    'promotion.cancel',
  ],
]);

/** The list without `?tools=`: enough to find out what runs, what is wrong and why, and to propose a change. */
export const CORE: ReadonlySet<string> = new Set([
  ...['user.me', 'team.list', 'environment.list', 'environment.get', 'dashboard.operationalOverview'],
  ...[
    'pipeline.list',
    'pipeline.get',
    'pipeline.versions',
    'pipeline.getVersion',
    'pipeline.compareVersions',
  ],
  ...['pipeline.logs', 'pipeline.metrics', 'pipeline.deploymentStatus', 'pipeline.eventSchemas'],
  ...['pipeline.requestSamples', 'pipeline.sampleResult', 'pipeline.renderGraph'],
  ...['deploy.preview', 'stagedRollout.list', 'validator.validate', 'vrl.test', 'engine.componentSchema'],
  ...['fleet.list', 'fleet.get', 'fleet.nodeLogs', 'fleet.nodeMetrics', 'nodeGroup.list'],
  ...['gitSync.status', 'gitSync.plan', 'gitSync.drift', 'gitSync.importErrors', 'gitSync.jobs'],
  ...['pullRequest.list', 'pullRequest.get', 'pullRequest.diff', 'pullRequest.plan', 'promotion.list'],
  ...[
    'alert.openEvents',
    'alert.listEvents',
    'alert.getEvent',
    'alert.listRules',
    'alert.previewRule',
    'anomaly.list',
  ],
  ...[
    'metrics.getComponentMetrics',
    'analytics.costSummary',
    'costRecommendation.list',
    'audit.list',
    'secret.list',
  ],
  // Proposals.
  ...['pipeline.saveGraph', 'pipeline.update', 'deploy.agent', 'deploy.undeploy', 'alert.updateRule'],
  ...['costRecommendation.apply', 'promotion.initiate'],
  // For tokens that may change things at once.
  ...['pipeline.create', 'pipeline.rollback', 'alert.acknowledgeEvent', 'gitSync.syncNow'],
]);
