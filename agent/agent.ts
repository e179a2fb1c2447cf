import type { ConfigResponse, HeartbeatResponse } from '../schemas/agent/protocol.ts';
import { atMost } from './at-most.ts';
import type { AgentDeps, DeploymentMode } from './deps.ts';
import { type HeartbeatReason, HeartbeatSchedule } from './link/heartbeat-schedule.ts';
import { LogFlusher, sendLogs } from './link/log-flusher.ts';
import { Poller } from './link/poll.ts';
import { PollLoop } from './link/poll-loop.ts';
import { PushChannel } from './link/push.ts';
import type { KnownPushMessage } from './link/push-message.ts';
import { RejectedTokenHint } from './link/rejected-token-hint.ts';
import { TokenFile } from './link/token-file.ts';
import { Observer } from './observe/observer.ts';
import { PollInterval } from './poll-interval.ts';
import { deploymentMode } from './report/deployment-mode.ts';
import { EngineComponents } from './report/engine-inventory.ts';
import { HeartbeatSender } from './report/heartbeat-sender.ts';
import { serveMetrics } from './report/metrics-endpoint.ts';
import { NodeDescription } from './report/node-description.ts';
import { Scraper } from './report/scraper.ts';
import { SelfMetrics } from './report/self-metrics.ts';
import { DesiredState } from './supervise/desired-state.ts';
import type { DataDirectory } from './supervise/files/data-directory.ts';
import type { Pipeline } from './supervise/lifecycle/pipeline.ts';
import { Supervisor } from './supervise/supervisor.ts';
import type { Action } from './update/update-order.ts';
import { Updates } from './update/updates.ts';

export interface AgentParts extends AgentDeps {
  directory: DataDirectory;
  nodeToken: string;
  /** The first answer; a heartbeat that is due before it goes without. `EngineComponents` asks later executables. */
  engineVersion: Promise<string>;
}

/** Scrapes that are not back by then are used by the next heartbeat. */
const SCRAPE_WAIT_MS = 250;
/** Killed processes are gone at once, but for one that the system holds. */
const TAPS_WAIT_MS = 1_000;
/** For the heartbeat and the log lines at the end of the agent. */
const LAST_REQUEST_MS = 2_000;

/** One node: follows the controller's desired state and reports what runs. */
export class Agent {
  readonly #parts: AgentParts;
  readonly #polls: PollLoop;
  readonly #push: PushChannel;
  readonly #supervisor: Supervisor;
  readonly #desired: DesiredState;
  readonly #hint: RejectedTokenHint;
  readonly #schedule: HeartbeatSchedule;
  readonly #heartbeats: HeartbeatSender;
  readonly #logs: LogFlusher;
  readonly #observer: Observer;
  readonly #scraper: Scraper;
  readonly #updates: Updates;
  readonly #components: EngineComponents;
  readonly #metrics = new SelfMetrics();
  readonly #mode: DeploymentMode;
  readonly #interval: PollInterval;
  #engineVersion = '';
  #isFirstPoll = true;
  #revision: number | undefined;
  #requestedRevision: number | undefined;
  #stopping = false;
  #ended: Promise<void> | undefined;
  #closeMetrics = () => {};

  constructor(parts: AgentParts) {
    this.#parts = parts;
    const { config, clock, log } = parts;
    this.#mode = parts.deploymentMode ?? deploymentMode();
    this.#interval = new PollInterval(config.pollIntervalMs, log);
    this.#scraper = new Scraper(log, clock);
    this.#schedule = new HeartbeatSchedule(clock, (reason) =>
      this.#guard('heartbeat', this.#sendHeartbeat(reason)),
    );
    this.#logs = this.#createLogFlusher();
    this.#supervisor = this.#createSupervisor();
    this.#desired = new DesiredState(this.#supervisor, parts.directory, clock, log);
    this.#hint = new RejectedTokenHint(parts.directory.token, clock, log);
    this.#observer = this.#createObserver();
    this.#components = this.#createComponents();
    this.#heartbeats = this.#createHeartbeatSender();
    this.#polls = this.#createPollLoop();
    this.#push = this.#createPushChannel();
    this.#updates = this.#createUpdates();
    this.#connectMetrics();
  }

  #createHeartbeatSender(): HeartbeatSender {
    const { config, nodeToken, clock, log } = this.#parts;
    const node = new NodeDescription({
      ...{ config, mode: this.#mode, interval: this.#interval, metrics: this.#metrics },
      components: this.#components,
      engineVersion: () => this.#engineVersion,
      updateError: () => this.#updates.error,
    });
    return new HeartbeatSender({
      ...{ url: config.url, token: nodeToken, scraper: this.#scraper, metrics: this.#metrics, clock, log },
      pipelines: () => this.#supervisor.list(),
      pollIntervalMs: () => this.#interval.ms,
      node: () => node.read(),
      onFailed: ({ status, retryAfterMs }) => {
        this.#hint.note(status);
        if (retryAfterMs) this.#schedule.pause(retryAfterMs);
      },
      onDelivered: (reply, stopped) => this.#heartbeatDelivered(reply, stopped),
    });
  }

  #createLogFlusher(): LogFlusher {
    const { config, nodeToken, clock, log } = this.#parts;
    return new LogFlusher({
      ...{ intervalMs: config.logFlushIntervalMs, clock, log },
      send: (entries, timeoutMs) => sendLogs(config.url, nodeToken, entries, timeoutMs),
    });
  }

  #createSupervisor(): Supervisor {
    const { config, directory, env, clock, log } = this.#parts;
    return new Supervisor({
      ...{ directory, portBase: config.portBase, engineBin: config.engineBin, env, clock, log },
      onChange: () => {
        this.#schedule.request('status');
        this.#observer.pipelinesChanged();
      },
      onLine: (pipeline) => this.#logs.note(pipeline),
    });
  }

  #createObserver(): Observer {
    const { config, nodeToken, env, clock, log } = this.#parts;
    return new Observer({
      ...{ url: config.url, token: nodeToken, engineBin: config.engineBin, env, clock, log },
      engineVersion: () => this.#engineVersion,
      find: (pipelineId) => this.#supervisor.find(pipelineId),
    });
  }

  #createComponents(): EngineComponents {
    const { config, env, clock, log } = this.#parts;
    return new EngineComponents({
      ...{ engineBin: config.engineBin, env, clock, log },
      onVersion: (banner) => {
        this.#engineVersion = banner;
      },
    });
  }

  #createPollLoop(): PollLoop {
    const { config, directory, nodeToken, clock, log } = this.#parts;
    const tokenFile = new TokenFile(directory, nodeToken, log);
    return new PollLoop({
      ...{ poller: new Poller(config.url, nodeToken), interval: this.#interval, metrics: this.#metrics },
      ...{ clock, log },
      onTimer: () => this.#scraper.scrape(this.#supervisor.list()),
      onAccepted: () => tokenFile.restore(),
      onConfig: (answer) => this.#configReceived(answer),
      onFailed: (status) => this.#hint.note(status),
      onEnd: (pushed) => {
        if (this.#isFirstPoll) this.#push.start();
        this.#isFirstPoll = false;
        this.#schedule.request(pushed ? 'push' : 'poll');
      },
    });
  }

  #createPushChannel(): PushChannel {
    const { config, nodeToken, clock, log } = this.#parts;
    return new PushChannel({
      ...{ fallbackUrl: `${config.url}/api/agent/push`, token: nodeToken, clock, log },
      onMessage: (message) => this.#handlePush(message),
      onReconnect: () => this.#polls.triggerByPush(),
    });
  }

  #createUpdates(): Updates {
    const { config, executable, execute, env, clock, log } = this.#parts;
    return new Updates({
      ...{ executable, execute, env, clock, log },
      inContainer: this.#mode === 'DOCKER',
      serviceUrl: config.url,
      publicKey: config.updateKey,
      allowDowngrade: config.allowDowngrade,
      stopAgent: () => this.#end(),
      onError: () => this.#schedule.request('status'),
    });
  }

  #connectMetrics(): void {
    const { clock } = this.#parts;
    const startedAt = clock.monotonic();
    this.#metrics.pushConnected = () => this.#push.connected;
    this.#metrics.pushReconnects = () => this.#push.reconnects;
    this.#metrics.pipelinesRunning = () => this.#supervisor.runningCount;
    this.#metrics.uptimeSeconds = () => (clock.monotonic() - startedAt) / 1000;
  }

  start(): void {
    const { config, engineVersion, log } = this.#parts;
    void engineVersion.then((banner) => {
      this.#engineVersion ||= banner;
      if (!this.#engineVersion)
        log.warn('engine not found or without a version: set SVC_ENGINE_BIN', { engine: config.engineBin });
    });
    if (config.metricsPort > 0) {
      const { metricsHost, metricsPort } = config;
      this.#closeMetrics = serveMetrics(metricsHost, metricsPort, () => this.#metrics.render(), log);
    }
    this.#polls.trigger();
  }

  /** Stops all engines, sends a last heartbeat if the controller listens, and leaves nothing running. */
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
    this.#desired.stop();
    this.#polls.stop();
    this.#push.stop();
    const tapsGone = this.#observer.stop();
    this.#schedule.stop();
    this.#components.stop();
    await this.#desired.stopOrphans();
    await this.#heartbeats.sendDuring(this.#supervisor.stopAll(), LAST_REQUEST_MS);
    await atMost(this.#parts.clock, TAPS_WAIT_MS, tapsGone);
    await Promise.all([this.#heartbeats.send(LAST_REQUEST_MS), this.#logs.stop(LAST_REQUEST_MS)]);
    this.#closeMetrics();
  }

  /** The user does not want to wait for engines to end in their own order. */
  killEngines(): void {
    this.#supervisor.killAll();
  }

  #handlePush(message: KnownPushMessage): void {
    if (message.type === 'poll_interval') this.#polls.setInterval(message.intervalMs);
    else if (message.type === 'action') this.#act(message);
    else if (message.type === 'config_changed') this.#polls.triggerByPush();
    else if (message.type === 'sample_request') this.#observer.sample([message]);
    else this.#observer.tap(message);
  }

  #act(message: Action): void {
    if (this.#stopping) return;
    if (message.action === 'restart') void this.#updates.restart();
    else void this.#updates.update(message.order);
  }

  #configReceived(config: ConfigResponse): void {
    this.#revision = config.configRevision;
    this.#push.setPrimaryUrl(config.pushUrl);
    this.#interval.set(config.pollIntervalMs);
    void this.#guard('config', this.#apply(config));
    this.#updates.confirm();
    if (config.pendingAction) void this.#updates.update(config.pendingAction);
    else this.#updates.forgetNext();
  }

  async #apply(config: ConfigResponse): Promise<void> {
    if (await this.#desired.apply(config)) this.#observer.sample(config.sampleRequests);
  }

  async #sendHeartbeat(reason: HeartbeatReason): Promise<void> {
    if (reason !== 'status') await atMost(this.#parts.clock, SCRAPE_WAIT_MS, this.#scraper.settled());
    await this.#heartbeats.send();
  }

  #heartbeatDelivered(reply: HeartbeatResponse, stopped: Pipeline[]): void {
    this.#updates.reported();
    if (!this.#stopping) this.#components.delivered(reply.sendEngineComponents === true);
    this.#supervisor.forget(stopped);
    this.#pollForRevision(reply.configRevision);
  }

  /** One extra poll a revision: where the answer does not have it, asking again would not help. */
  #pollForRevision(revision: number | undefined): void {
    if (this.#stopping || revision === undefined || this.#revision === undefined) return;
    if (revision === this.#revision || revision === this.#requestedRevision) return;
    this.#requestedRevision = revision;
    this.#polls.triggerByPush();
  }

  /** A fault of our own must not end the program that holds the engines. */
  async #guard(what: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#parts.log.error(`${what} failed unexpectedly`, { reason: String(error) });
    }
  }
}
