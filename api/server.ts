/** The HTTP server: which route leads where. */
import type { Server } from 'node:http';
import Router from '@koa/router';
import type { Knex } from 'knex';
import Koa from 'koa';
import compress from 'koa-compress';
import type { MetricStore } from '../controller/insight/telemetry/index.ts';
import type { Services } from '../controller/platform/operation/context.ts';
import type { Execute } from '../controller/platform/operation/operation.ts';
import type { Lease } from '../controller/platform/runtime/lease.ts';
import type { Logger } from '../controller/platform/runtime/logger.ts';
import type { SelfMetrics } from '../controller/platform/runtime/self-metrics.ts';
import type { Clock } from '../reconcilers/loops/clock.ts';
import { publishedSchemas } from '../schemas/manifests/index.ts';
import { createNodeAuthentication } from './agent/authenticate.ts';
import { agentHotPath } from './agent/hot-path.ts';
import { type AgentParts, agentRoutes } from './agent/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { oidcRoutes } from './auth/oidc.ts';
import { authRoutes } from './auth/routes.ts';
import { type GitParts, gitRoutes } from './git/routes.ts';
import { webhookRoutes } from './git/webhook.ts';
import { createRequestHandler } from './handler.ts';
import { healthRoutes } from './http/health.ts';
import { createHttpServer } from './http/http-server.ts';
import { observeRequest, selfMetricsRoutes } from './http/self-metrics.ts';
import { webRoutes } from './http/static.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { metricsRoutes } from './metrics/routes.ts';
import { countAnonymous } from './middleware/anonymous-rate-limit.ts';
import { sameSiteOnly } from './middleware/foreign-site.ts';
import { plainQuery } from './middleware/query.ts';
import { createAddressReader, type RequestState, withRequest } from './middleware/request.ts';
import { openToEveryOrigin, securityHeaders } from './middleware/security-headers.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { procedureRoutes } from './procedures/routes.ts';
import { releaseRoutes } from './releases/routes.ts';
import { restRoutes } from './rest/routes.ts';
import { scimRoutes } from './scim/routes.ts';
import { createAssistantStreams } from './streams/assistant.ts';
import { createUiEvents } from './streams/events.ts';
import { tapRoutes } from './streams/taps.ts';

export interface ApiOptions {
  baseUrl: string;
  trustedProxies: readonly string[];
  /** The pool of requests, whose statements are cut off after a while. */
  db: Knex;
  /** The pool that requests cannot fill: for sessions and health. */
  essential: Knex;
  clock: Clock;
  log: Logger;
  services: Services;
  execute: Execute;
  lease: Lease;
  /** Whether the embedded database lacks space to store anything. */
  diskFull: () => boolean;
  /** Whether signals of other controllers arrive. */
  hearsOthers: () => boolean;
  agent: AgentParts;
  /** What of metrics lies in memory. */
  measures: MetricStore;
  /** Null where nobody has asked for what Headgate measures of itself. */
  selfMetrics: SelfMetrics | null;
  /** Opens `GET /metrics` here. */
  metricsToken: string | null;
  git: Omit<GitParts, 'db' | 'clock' | 'log' | 'uiUrl' | 'anonymousLimit'>;
  webDir: string;
}

export interface Api {
  server: Server;
  /** Ends open streams, so that the server can close. */
  closeStreams(): void;
}

export function createApi(options: ApiOptions): Api {
  const requests = createRequestHandler(options);
  const events = createUiEvents(requests);
  const assistant = createAssistantStreams(requests);
  const app = new Koa<RequestState>();
  app.silent = true;

  app.use(securityHeaders(options.baseUrl));
  const addressOf = createAddressReader(options.trustedProxies);
  const authenticate = createNodeAuthentication(options.agent.directory, addressOf);
  app.use(withRequest({ log: options.log, addressOf }));
  app.use(countAnonymous(requests.anonymousLimit));
  app.use(sameSiteOnly);
  app.use(plainQuery);
  app.use(agentRoutes(requests, options.agent, authenticate));
  app.use(
    gitRoutes({
      ...options.git,
      db: options.db,
      clock: options.clock,
      log: options.log,
      uiUrl: options.baseUrl,
      anonymousLimit: requests.anonymousLimit,
    }),
  );
  app.use(compress({ threshold: 1_024, br: false }));
  app.use(procedureRoutes(requests));
  app.use(openApiRoutes(requests));
  app.use(restRoutes(requests));
  app.use(scimRoutes(requests));
  app.use(mcpRoutes(requests));

  const router = new Router();
  authRoutes(router, requests);
  oidcRoutes(router, requests);
  healthRoutes(router, { ...options, db: options.essential });
  events.routes(router);
  assistant.routes(router);
  tapRoutes(router, requests, options.agent.taps);
  auditRoutes(router, requests);
  metricsRoutes(router, requests, options.measures);
  const { selfMetrics, metricsToken } = options;
  if (selfMetrics && metricsToken !== null)
    selfMetricsRoutes(router, requests, { metrics: selfMetrics, token: metricsToken });
  webhookRoutes(router, options);
  releaseRoutes(router, { releases: options.services.releases, baseUrl: options.baseUrl });
  schemaRoutes(router, options.baseUrl);
  app.use(router.routes());
  app.use(webRoutes(options.webDir));
  app.use((ctx) => {
    ctx.status = 404;
    ctx.body = { error: `Nothing is at ${ctx.method} ${ctx.path.slice(0, 200)}` };
  });
  app.on('error', (error) => options.log.debug({ err: error }, 'response failed'));

  const hotPath = agentHotPath(options.agent, authenticate, options.log);
  const rest = app.callback();
  const server = createHttpServer((request, response) => {
    if (selfMetrics) observeRequest(selfMetrics, request, response);
    if (!hotPath(request, response)) void rest(request, response);
  });
  return {
    server,
    closeStreams() {
      events.stop();
      assistant.stop();
      options.agent.taps.closeViewers();
      options.agent.push.stop();
    },
  };
}

/** For editors: `# yaml-language-server: $schema=…/schemas/v1/pipeline.json`. */
function schemaRoutes(router: Router, baseUrl: string): void {
  const schemas = publishedSchemas(baseUrl);
  router.get('/schemas/v1/:file', (ctx) => {
    const kind = String(ctx.params.file).replace(/\.json$/, '');
    const schema = Object.hasOwn(schemas, kind) ? schemas[kind] : undefined;
    if (!schema) {
      ctx.status = 404;
      ctx.body = {
        error: `There are: ${Object.keys(schemas)
          .map((kind) => `${kind}.json`)
          .join(', ')}`,
      };
      return;
    }
    openToEveryOrigin(ctx);
    ctx.set('Cache-Control', 'no-cache');
    ctx.type = 'application/schema+json';
    ctx.body = JSON.stringify(schema, null, 2);
  });
}
