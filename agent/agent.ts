import type { Clock } from '../reconcilers/engine/clock.ts';
import type { AgentConfig } from './config.ts';
import { coalesce } from './link/coalesce.ts';
import { type HeartbeatReason, HeartbeatSchedule, sendHeartbeat } from './link/heartbeat.ts';
import { LogFlusher, sendLogs } from './link/log-flusher.ts';
import { Poller, type PollOutcome } from './link/poll.ts';
import { PushChannel } from './link/push.ts';
import type { Logger } from './log.ts';
import { deploymentMode, runningAs } from './report/deployment.ts';
import { HeartbeatBuilder } from './report/heartbeat-body.ts';
import { readHostMetrics } from './report/host-metrics.ts';
import { serveMetrics } from './report/metrics-endpoint.ts';
import { Scraper } from './report/scraper.ts';
import { SelfMetrics } from './report/self-metrics.ts';
import type { DataDirectory } from './supervise/directories.ts';
import { stopOrphans } from './supervise/orphans.ts';
import { Supervisor } from './supervise/supervisor.ts';
import { AGENT_VERSION } from './version.ts';

export interface AgentParts {
  config: AgentConfig;
  directory: DataDirectory;
  nodeToken: string;
  /** Asked once; a heartbeat that is due before the answer goes without. */
  engineVersion: Promise<string>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
}

/** Scrapes that are not back by then are used by the next heartbeat. */
const SCRAPE_WAIT_MS = 250;
const SHORTEST_POLL_MS = 500;
const LONGEST_POLL_MS = 86_400_000;
const HINT_PERIOD_MS = 60_000;
const LAST_WORD_MS = 2_000;
/** Share of the poll period by which single polls are moved, so that nodes started together drift apart. */
const POLL_JITTER = 0.1;

/** One node: follows the controller's desired state and tells it what is so. */
export class Agent {
  readonly #parts: AgentParts;
  readonly #poller: Poller;
  readonly #push: PushChannel;
  readonly #supervisor: Supervisor;
  readonly #heartbeats: HeartbeatSchedule;
  readonly #logs: LogFlusher;
  readonly #builder = new HeartbeatBuilder();
  readonly #scraper: Scraper;
  readonly #metrics = new SelfMetrics();
  readonly #pollNow: () => void;
  readonly #mode = deploymentMode();
  readonly #user = runningAs();
  #engineVersion = '';
  #intervalMs: number;
  #cancelTick = () => {};
  #pushed = false;
  #firstPoll = true;
  #quietUntil = 0;
  #hintAt = Number.NEGATIVE_INFINITY;
  #revision: number | undefined;
  #askedRevision: number | undefined;
  #lastReason = '';
  #stopping = false;
  #orphansStopped: Promise<void> = Promise.resolve();
  #closeMetrics = () => {};

  constructor(parts: AgentParts) {
    this.#parts = parts;
    const { config, directory, nodeToken, env, clock, log } = parts;
    this.#intervalMs = config.pollIntervalMs;
    this.#poller = new Poller(config.url, nodeToken);
    this.#scraper = new Scraper(log);
    this.#heartbeats = new HeartbeatSchedule(clock, (reason) =>
      this.#guard('heartbeat', this.#heartbeat(reason)),
    );
    this.#logs = new LogFlusher({
      intervalMs: config.logFlushIntervalMs,
      clock,
      log,
      send: (entries, timeoutMs) => sendLogs(config.url, nodeToken, entries, timeoutMs),
    });
    this.#supervisor = new Supervisor({
      directory,
      portBase: config.portBase,
      engineBin: config.engineBin,
      env,
      clock,
      log,
      onChange: () => this.#heartbeats.request('status'),
      onLine: (pipeline) => this.#logs.note(pipeline),
    });
    this.#push = new PushChannel({
      fallbackUrl: `${config.url}/api/agent/push`,
      token: nodeToken,
      clock,
      log,
      onMessage: (message) => {
        if (message.type === 'poll_interval') this.#setInterval(message.intervalMs);
        else this.#pollBecauseOfPush();
      },
      onReconnect: () => this.#pollBecauseOfPush(),
    });
    this.#pollNow = coalesce(() => this.#guard('poll', this.#poll()));
    const startedAt = clock.monotonic();
    this.#metrics.pushConnected = () => this.#push.connected;
    this.#metrics.pushReconnects = () => this.#push.reconnects;
    this.#metrics.pipelinesRunning = () => this.#supervisor.runningCount;
    this.#metrics.uptimeSeconds = () => (clock.monotonic() - startedAt) / 1000;
  }

  start(): void {
    const { config, directory, engineVersion, clock, log } = this.#parts;
    void engineVersion.then((banner) => {
      this.#engineVersion = banner;
      if (!banner)
        log.warn('engine not found or without a version: set SVC_ENGINE_BIN', { engine: config.engineBin });
    });
    if (config.metricsPort > 0) {
      this.#closeMetrics = serveMetrics(
        config.metricsHost,
        config.metricsPort,
        () => this.#metrics.render(),
        log,
      );
    }
    this.#orphansStopped = stopOrphans(directory, clock, log);
    this.#pollNow();
  }

  /** Stops all engines, tells the controller once more if it listens, and leaves nothing running. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelTick();
    this.#push.stop();
    this.#heartbeats.stop();
    await this.#orphansStopped;
    await this.#supervisor.stopAll();
    await Promise.all([this.#sendReport(LAST_WORD_MS), this.#logs.stop(LAST_WORD_MS)]);
    this.#closeMetrics();
  }

  /** The user does not want to wait for engines to end in their own order. */
  killEngines(): void {
    this.#supervisor.killAll();
  }

  #pollBecauseOfPush(): void {
    if (this.#stopping || this.#parts.clock.monotonic() < this.#quietUntil) return;
    this.#pushed = true;
    this.#pollNow();
  }

  async #poll(): Promise<void> {
    const { clock } = this.#parts;
    const startedAt = clock.monotonic();
    // A poll that a push message asked for while the one before was being sent away: the tick comes in time.
    const tooSoon = this.#pushed && startedAt < this.#quietUntil;
    const pushed = this.#pushed;
    this.#pushed = false;
    if (this.#stopping || tooSoon) return;
    this.#cancelTick();
    if (!pushed) this.#scraper.scrape(this.#supervisor.list());
    const outcome = await this.#poller.poll();
    await this.#orphansStopped;
    if (this.#stopping) return;
    this.#take(outcome);
    this.#metrics.pollSeconds = (clock.monotonic() - startedAt) / 1000;
    this.#scheduleTick(outcome.type === 'failed' ? outcome.retryAfterMs : undefined);
    if (this.#firstPoll) this.#push.start();
    this.#firstPoll = false;
    this.#heartbeats.request(pushed ? 'push' : 'poll');
  }

  #take(outcome: PollOutcome): void {
    const { log } = this.#parts;
    switch (outcome.type) {
      case 'unchanged':
        this.#pollRecovered();
        return;
      case 'failed':
        this.#metrics.pollErrors += 1;
        this.#hint(outcome.status);
        if (outcome.reason !== this.#lastReason)
          log.warn('poll failed; pipelines go on as they are', { reason: outcome.reason });
        this.#lastReason = outcome.reason;
        return;
      case 'config':
        this.#pollRecovered();
        this.#revision = outcome.config.configRevision;
        this.#push.setPrimaryUrl(outcome.config.pushUrl);
        this.#intervalMs = boundInterval(outcome.config.pollIntervalMs) ?? this.#intervalMs;
        this.#supervisor.apply(outcome.config.pipelines);
    }
  }

  #pollRecovered(): void {
    if (this.#lastReason) this.#parts.log.info('poll works again');
    this.#lastReason = '';
  }

  #setInterval(ms: number): void {
    this.#intervalMs = boundInterval(ms) ?? this.#intervalMs;
    this.#parts.log.info('poll interval set by the controller', { ms: this.#intervalMs });
    this.#scheduleTick(undefined);
  }

  #scheduleTick(retryAfterMs: number | undefined): void {
    const { clock } = this.#parts;
    const drift = 1 + POLL_JITTER * (Math.random() - 0.5);
    const waitMs = Math.max(this.#intervalMs * drift, retryAfterMs ?? 0);
    if (retryAfterMs) this.#quietUntil = clock.monotonic() + retryAfterMs;
    this.#cancelTick();
    if (!this.#stopping) this.#cancelTick = clock.after(waitMs, this.#pollNow);
  }

  async #heartbeat(reason: HeartbeatReason): Promise<void> {
    if (reason !== 'status') await this.#scrapesOrPatience();
    await this.#sendReport();
  }

  async #scrapesOrPatience(): Promise<void> {
    let cancel = () => {};
    const patience = new Promise<void>((done) => {
      cancel = this.#parts.clock.after(SCRAPE_WAIT_MS, done);
    });
    await Promise.race([this.#scraper.settled(), patience]);
    cancel();
  }

  /** A fault of our own must not end the program that holds the engines: it is told, and the next tick tries again. */
  async #guard(what: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#parts.log.error(`${what} failed unexpectedly`, { reason: String(error) });
      if (what === 'poll') this.#scheduleTick(undefined);
    }
  }

  async #sendReport(timeoutMs?: number): Promise<void> {
    const { config, nodeToken, clock, log } = this.#parts;
    const pipelines = this.#supervisor.list();
    const stopped = pipelines.filter((pipeline) => pipeline.ended);
    const { body, delivered } = this.#builder.build(pipelines, (pipeline) => this.#scraper.latest(pipeline), {
      hostMetrics: readHostMetrics(config.dataDir),
      agentVersion: AGENT_VERSION,
      engineVersion: this.#engineVersion,
      deploymentMode: this.#mode,
      labels: config.labels,
      agentHealth: this.#metrics.health(),
      runningAs: this.#user,
      pollIntervalMs: Math.round(this.#intervalMs),
    });
    const startedAt = clock.monotonic();
    const outcome = await sendHeartbeat(config.url, nodeToken, body, timeoutMs);
    this.#metrics.heartbeatSeconds = (clock.monotonic() - startedAt) / 1000;
    if (outcome.type === 'failed') {
      this.#metrics.heartbeatErrors += 1;
      this.#hint(outcome.status);
      if (outcome.retryAfterMs) this.#heartbeats.pause(outcome.retryAfterMs);
      log.debug('heartbeat failed', { reason: outcome.reason });
      return;
    }
    delivered();
    this.#supervisor.forget(stopped);
    for (const { pipelineId, reason } of outcome.reply.rejected ?? []) {
      log.warn('the controller refused a part of the heartbeat', {
        pipeline: pipelineId.slice(0, 80),
        reason,
      });
    }
    this.#follow(outcome.reply.configRevision);
  }

  /** One extra poll a revision: one that the answer does not show need not be asked for again and again. */
  #follow(revision: number): void {
    if (this.#stopping || this.#revision === undefined) return;
    if (revision === this.#revision || revision === this.#askedRevision) return;
    this.#askedRevision = revision;
    this.#pollBecauseOfPush();
  }

  #hint(status: number | undefined): void {
    const now = this.#parts.clock.monotonic();
    if (status !== 401 || now < this.#hintAt + HINT_PERIOD_MS) return;
    this.#hintAt = now;
    this.#parts.log.error(
      'the controller refuses this node: if it was revoked, delete node-token and start again with a new SVC_TOKEN',
      {
        file: this.#parts.directory.token,
      },
    );
  }
}

function boundInterval(ms: number): number | undefined {
  return ms > 0 ? Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, ms)) : undefined;
}
