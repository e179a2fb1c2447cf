import type { Clock } from '../reconcilers/engine/clock.ts';
import type { ConfigResponse } from '../schemas/agent/protocol.ts';
import type { AgentConfig } from './config.ts';
import { coalesce } from './link/coalesce.ts';
import { type HeartbeatReason, HeartbeatSchedule, sendHeartbeat } from './link/heartbeat.ts';
import { LogFlusher, sendLogs } from './link/log-flusher.ts';
import { Poller, type PollOutcome } from './link/poll.ts';
import { PushChannel } from './link/push.ts';
import type { KnownPushMessage } from './link/push-message.ts';
import { TokenFile } from './link/token-file.ts';
import type { Logger } from './log.ts';
import { Observer } from './observe/observer.ts';
import { PollInterval } from './poll-interval.ts';
import { deploymentMode, runningAs } from './report/deployment.ts';
import { EngineComponents } from './report/engine-inventory.ts';
import { HeartbeatBuilder } from './report/heartbeat-body.ts';
import { readHostMetrics } from './report/host-metrics.ts';
import { serveMetrics } from './report/metrics-endpoint.ts';
import { Scraper } from './report/scraper.ts';
import { SelfMetrics } from './report/self-metrics.ts';
import type { DataDirectory } from './supervise/directories.ts';
import { stopOrphans } from './supervise/orphans.ts';
import { Supervisor } from './supervise/supervisor.ts';
import type { Action } from './update/order.ts';
import { Updates } from './update/updates.ts';
import { AGENT_VERSION } from './version.ts';

export interface AgentParts {
  config: AgentConfig;
  directory: DataDirectory;
  nodeToken: string;
  /** Where this program was started from; undefined where it is not one executable. */
  executable: string | undefined;
  /** Asked once; a heartbeat that is due before the answer goes without. */
  engineVersion: Promise<string>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
}

/** Scrapes that are not back by then are used by the next heartbeat. */
const SCRAPE_WAIT_MS = 250;
/** Killed processes are gone at once, but for one that the system holds. */
const TAPS_WAIT_MS = 1_000;
const HINT_PERIOD_MS = 60_000;
const LAST_WORD_MS = 2_000;
const DRAIN_REPORT_MS = 5_000;
/** Share of the poll period by which single polls are moved, so that nodes started together drift apart. */
const POLL_JITTER = 0.1;

/** One node: follows the controller's desired state and tells it what is so. */
export class Agent {
  readonly #parts: AgentParts;
  readonly #poller: Poller;
  readonly #tokenFile: TokenFile;
  readonly #push: PushChannel;
  readonly #supervisor: Supervisor;
  readonly #heartbeats: HeartbeatSchedule;
  readonly #logs: LogFlusher;
  readonly #observer: Observer;
  readonly #builder = new HeartbeatBuilder();
  readonly #scraper: Scraper;
  readonly #updates: Updates;
  readonly #components: EngineComponents;
  readonly #metrics = new SelfMetrics();
  readonly #pollNow: () => void;
  readonly #mode = deploymentMode();
  readonly #user = runningAs();
  #engineVersion = '';
  readonly #interval: PollInterval;
  #cancelTick = () => {};
  #pushed = false;
  #firstPoll = true;
  #quietUntil = 0;
  #hintAt = Number.NEGATIVE_INFINITY;
  #revision: number | undefined;
  #askedRevision: number | undefined;
  #lastReason = '';
  #stopping = false;
  #ended: Promise<void> | undefined;
  #newest: ConfigResponse | undefined;
  #orphansStopped: Promise<void> | undefined;
  #closeMetrics = () => {};

  constructor(parts: AgentParts) {
    this.#parts = parts;
    const { config, directory, nodeToken, env, clock, log } = parts;
    this.#interval = new PollInterval(config.pollIntervalMs, log);
    this.#poller = new Poller(config.url, nodeToken);
    this.#tokenFile = new TokenFile(directory, nodeToken, log);
    this.#scraper = new Scraper(log, clock);
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
      onChange: () => {
        this.#heartbeats.request('status');
        this.#observer.pipelinesChanged();
      },
      onLine: (pipeline) => this.#logs.note(pipeline),
    });
    this.#observer = new Observer({
      url: config.url,
      token: nodeToken,
      engineBin: config.engineBin,
      env,
      engineVersion: () => this.#engineVersion,
      find: (pipelineId) => this.#supervisor.find(pipelineId),
      clock,
      log,
    });
    this.#components = new EngineComponents({
      engineBin: config.engineBin,
      env,
      clock,
      log,
      onVersion: (banner) => {
        if (banner) this.#engineVersion = banner;
      },
    });
    this.#push = new PushChannel({
      fallbackUrl: `${config.url}/api/agent/push`,
      token: nodeToken,
      clock,
      log,
      onMessage: (message) => this.#hear(message),
      onReconnect: () => this.#pollBecauseOfPush(),
    });
    this.#pollNow = coalesce(() => this.#guard('poll', this.#poll()));
    this.#updates = new Updates({
      executable: parts.executable,
      inContainer: this.#mode === 'DOCKER',
      serviceUrl: config.url,
      publicKey: config.updateKey,
      allowDowngrade: config.allowDowngrade,
      env,
      clock,
      log,
      leave: () => this.#end(),
      onError: () => this.#heartbeats.request('status'),
    });
    const startedAt = clock.monotonic();
    this.#metrics.pushConnected = () => this.#push.connected;
    this.#metrics.pushReconnects = () => this.#push.reconnects;
    this.#metrics.pipelinesRunning = () => this.#supervisor.runningCount;
    this.#metrics.uptimeSeconds = () => (clock.monotonic() - startedAt) / 1000;
  }

  start(): void {
    const { config, engineVersion, log } = this.#parts;
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
    this.#pollNow();
  }

  /** Stops all engines, tells the controller once more if it listens, and leaves nothing running. */
  stop(): Promise<void> {
    this.#updates.stop();
    return this.#end();
  }

  #end(): Promise<void> {
    this.#ended ??= this.#endAll();
    return this.#ended;
  }

  async #endAll(): Promise<void> {
    this.#stopping = true;
    this.#cancelTick();
    this.#push.stop();
    const tapsGone = this.#observer.stop();
    this.#heartbeats.stop();
    this.#components.stop();
    await this.#stopOrphans();
    await this.#stopEngines();
    await this.#atMost(TAPS_WAIT_MS, tapsGone);
    await Promise.all([this.#sendReport(LAST_WORD_MS), this.#logs.stop(LAST_WORD_MS)]);
    this.#closeMetrics();
  }

  /** Engines may take minutes to deliver what they hold: the controller hears of it meanwhile. */
  async #stopEngines(): Promise<void> {
    let ended = false;
    let cancel = () => {};
    const report = async () => {
      await this.#guard('heartbeat', this.#sendReport(LAST_WORD_MS));
      if (!ended) schedule();
    };
    const schedule = () => {
      cancel = this.#parts.clock.after(DRAIN_REPORT_MS, () => void report());
    };
    schedule();
    await this.#supervisor.stopAll();
    ended = true;
    cancel();
  }

  /** The user does not want to wait for engines to end in their own order. */
  killEngines(): void {
    this.#supervisor.killAll();
  }

  #hear(message: KnownPushMessage): void {
    if (message.type === 'poll_interval') this.#setInterval(message.intervalMs);
    else if (message.type === 'action') this.#act(message);
    else if (message.type === 'config_changed') this.#pollBecauseOfPush();
    else if (message.type === 'sample_request') this.#observer.sample([message]);
    else this.#observer.tap(message);
  }

  #act(message: Action): void {
    if (this.#stopping) return;
    if (message.action === 'restart') void this.#updates.restart();
    else void this.#updates.update(message.order);
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
        this.#pollSucceeded();
        return;
      case 'failed':
        this.#metrics.pollErrors += 1;
        this.#hint(outcome.status);
        if (outcome.reason !== this.#lastReason)
          log.warn('poll failed; pipelines go on as they are', { reason: outcome.reason });
        this.#lastReason = outcome.reason;
        return;
      case 'config':
        this.#pollSucceeded();
        this.#revision = outcome.config.configRevision;
        this.#push.setPrimaryUrl(outcome.config.pushUrl);
        this.#interval.set(outcome.config.pollIntervalMs);
        void this.#guard('config', this.#apply(outcome.config));
        this.#updates.confirm();
        if (outcome.config.pendingAction) void this.#updates.update(outcome.config.pendingAction);
    }
  }

  /** Polls and heartbeats do not wait for engines of an earlier run, which may take 30 s to end. */
  async #apply(config: ConfigResponse): Promise<void> {
    this.#newest = config;
    await this.#stopOrphans();
    if (this.#stopping || config !== this.#newest) return;
    this.#supervisor.apply(config.pipelines);
    this.#observer.sample(config.sampleRequests);
  }

  /**
   * Engines that a killed agent left run on until it is known what is to run in their place: without the controller
   * nobody could start them again, since their secrets are on no disk.
   */
  #stopOrphans(): Promise<void> {
    const { directory, clock, log } = this.#parts;
    this.#orphansStopped ??= stopOrphans(directory, clock, log);
    return this.#orphansStopped;
  }

  #pollSucceeded(): void {
    this.#tokenFile.restore();
    if (this.#lastReason) this.#parts.log.info('poll works again');
    this.#lastReason = '';
  }

  #setInterval(ms: number): void {
    if (!this.#interval.set(ms)) return;
    this.#parts.log.info('poll interval set by the controller', { ms: this.#interval.ms });
    this.#scheduleTick(undefined);
  }

  #scheduleTick(retryAfterMs: number | undefined): void {
    const { clock } = this.#parts;
    const drift = 1 + POLL_JITTER * (Math.random() - 0.5);
    const now = clock.monotonic();
    // Nodes that were sent away in one moment do not come back in one.
    if (retryAfterMs) this.#quietUntil = now + retryAfterMs * (1 + POLL_JITTER * Math.random());
    const waitMs = Math.max(this.#interval.ms * drift, this.#quietUntil - now);
    this.#cancelTick();
    if (!this.#stopping) this.#cancelTick = clock.after(waitMs, this.#pollNow);
  }

  async #heartbeat(reason: HeartbeatReason): Promise<void> {
    if (reason !== 'status') await this.#atMost(SCRAPE_WAIT_MS, this.#scraper.settled());
    await this.#sendReport();
  }

  async #atMost(ms: number, work: Promise<unknown>): Promise<void> {
    let cancel = () => {};
    const patience = new Promise<void>((done) => {
      cancel = this.#parts.clock.after(ms, done);
    });
    await Promise.race([work, patience]);
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
    const { body, delivered } = this.#builder.build(
      pipelines,
      (pipeline) => this.#scraper.latest(pipeline, this.#interval.ms),
      {
        hostMetrics: readHostMetrics(config.dataDir),
        agentVersion: AGENT_VERSION,
        engine: this.#components.report(),
        engineVersion: this.#engineVersion,
        deploymentMode: this.#mode,
        labels: config.labels,
        agentHealth: this.#metrics.health(),
        runningAs: this.#user,
        updateError: this.#updates.error,
        pollIntervalMs: Math.round(this.#interval.ms),
      },
    );
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
    this.#updates.reported();
    if (!this.#stopping) this.#components.delivered(outcome.reply.sendEngineComponents === true);
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
  #follow(revision: number | undefined): void {
    if (this.#stopping || revision === undefined || this.#revision === undefined) return;
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
