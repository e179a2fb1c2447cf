import { type ComponentContext, DEFAULT_OUTPUT, type RunningSink } from '../component.ts';
import type { Compiled, SinkNode, SourceNode, TransformNode } from '../config/compile.ts';
import type { Input } from '../config/graph.ts';
import type { Batch } from '../event.ts';
import type { Logger } from '../log.ts';
import { bufferMetrics } from '../telemetry/buffer-metrics.ts';
import { ComponentMetrics } from '../telemetry/component-metrics.ts';
import type { Registry } from '../telemetry/registry.ts';
import type { VrlProgram } from '../vrl/program.ts';
import { Channel } from './channel.ts';
import { LoadGauges } from './load-gauges.ts';
import { Output } from './output.ts';
import type { TapPoint } from './tap-point.ts';

const TRANSFORM_BUFFER_EVENTS = 1000;

export interface TopologyOptions {
  compiled: Compiled;
  programs: Map<string, VrlProgram[]>;
  registry: Registry;
  log: Logger;
}

/**
 * The running graph. Every component is a loop of its own; bounded channels lie between them.
 * It ends from the front: sources return, channels run empty, sinks write out what they hold.
 */
export class Topology {
  /** Settles when all components have ended; rejects with the first failure of one. */
  readonly finished: Promise<void>;
  readonly #stop: AbortController;
  readonly #builder: Builder;

  private constructor(stop: AbortController, builder: Builder, finished: Promise<void>) {
    this.#stop = stop;
    this.#builder = builder;
    this.finished = finished;
  }

  /** Starts sinks first, so that nothing flows before there is a place for it. Throws if a sink cannot start. */
  static async start(options: TopologyOptions): Promise<Topology> {
    const { compiled } = options;
    const stop = new AbortController();
    const builder = new Builder(options);
    for (const node of [...compiled.sources, ...compiled.transforms]) builder.addOutputs(node);
    const sinks = await Promise.all(
      compiled.sinks.map((node) => builder.reporting(node, builder.startSink(node))),
    );
    const loops = [
      ...sinks.map((run, index) => ({ node: compiled.sinks[index]!, run })),
      ...compiled.transforms.map((node) => ({ node, run: builder.startTransform(node) })),
      ...compiled.sources.map((node) => ({ node, run: () => builder.runSource(node, stop.signal) })),
    ].map(({ node, run }) => builder.supervise(node, run));
    const finished = Promise.all(loops)
      .then(() => {})
      .finally(() => builder.loads.stop());
    return new Topology(stop, builder, finished);
  }

  /** Ends the sources; `finished` settles once all that was read has been written. */
  stop(): void {
    this.#stop.abort();
  }

  /** Where events can be looked at on their way: every output of every component. */
  get tapPoints(): TapPoint[] {
    return this.#builder.tapPoints();
  }

  /** Ids of the components that have not ended, sorted. */
  get running(): string[] {
    return this.#builder.running;
  }
}

class Builder {
  readonly loads: LoadGauges;
  readonly #options: TopologyOptions;
  readonly #outputs = new Map<string, Map<string, Output>>();
  readonly #contexts = new Map<string, ComponentContext>();
  /** Ids of the components that have not ended. */
  readonly #running = new Set<string>();

  constructor(options: TopologyOptions) {
    this.#options = options;
    this.loads = new LoadGauges();
  }

  addOutputs(node: SourceNode | TransformNode): void {
    const kind = 'inputs' in node ? 'transform' : 'source';
    const { metrics } = this.#context(node.id, kind, node.type);
    const ports = 'inputs' in node ? node.definition.ports : [DEFAULT_OUTPUT];
    this.#outputs.set(node.id, new Map(ports.map((port) => [port, new Output(metrics.sent(port))])));
  }

  tapPoints(): TapPoint[] {
    const { sources, transforms, sinks } = this.#options.compiled;
    const readers = [...transforms, ...sinks];
    return [...sources, ...transforms].flatMap((node) =>
      [...this.#outputs.get(node.id)!].map(([port, output]) => ({
        name: port === DEFAULT_OUTPUT ? node.id : `${node.id}.${port}`,
        component: {
          component_id: node.id,
          component_kind: 'inputs' in node ? ('transform' as const) : ('source' as const),
          component_type: node.type,
        },
        readers: readers
          .filter(({ inputs }) => inputs.some((input) => input.id === node.id && input.port === port))
          .map(({ id }) => id),
        output,
      })),
    );
  }

  async runSource(node: SourceNode, signal: AbortSignal): Promise<void> {
    const context = this.#context(node.id, 'source', node.type);
    const [output] = [...this.#outputs.get(node.id)!.values()];
    try {
      await node.definition.run({
        ...context,
        id: node.id,
        registry: this.#options.registry,
        signal,
        send: (batch) => {
          context.metrics.received(batch);
          return output!.send(batch);
        },
      });
    } finally {
      output!.close();
    }
  }

  startTransform(node: TransformNode): () => Promise<void> {
    const context = this.#context(node.id, 'transform', node.type);
    const channel = this.#connect(node.inputs, new Channel(TRANSFORM_BUFFER_EVENTS));
    const { accepts } = node.definition;
    const process = node.definition.start(context, this.#options.programs.get(node.id) ?? []);
    const outputs = this.#outputs.get(node.id)!;
    const load = this.loads.add(context.metrics, true);
    return async () => {
      try {
        for (;;) {
          const next = await load.idle(channel.receive());
          if (!next) return;
          if (accepts && !accepts.includes(next.batch.kind)) continue;
          context.metrics.received(next.batch);
          const results = process(next.batch);
          load.latency(performance.now() - next.sentAt);
          for (const [port, batch] of results) await outputs.get(port)?.send(batch);
        }
      } finally {
        for (const output of outputs.values()) output.close();
      }
    };
  }

  async startSink(node: SinkNode): Promise<() => Promise<void>> {
    const context = this.#context(node.id, 'sink', node.type);
    const { maxEvents, whenFull } = node.buffer;
    const buffer = bufferMetrics(context.metrics, maxEvents);
    const channel = this.#connect(node.inputs, new Channel(maxEvents, whenFull, buffer));
    const sent = context.metrics.sent();
    const load = this.loads.add(context.metrics, false);
    const sink: RunningSink = await node.definition.start(context);
    const write = async (batch: Batch) => {
      context.metrics.received(batch);
      const dropped = (await sink.write(batch)) ?? 0;
      if (!sink.countsSent) sent(batch, batch.events.length - dropped);
    };
    return async () => {
      try {
        for (;;) {
          const next = await load.idle(channel.receive());
          if (!next) return;
          if (node.definition.accepts.includes(next.batch.kind)) await write(next.batch);
        }
      } finally {
        await sink.close();
      }
    };
  }

  get running(): string[] {
    return [...this.#running].sort();
  }

  /** Runs a component to its end. */
  async supervise(node: { id: string }, run: () => Promise<void>): Promise<void> {
    this.#running.add(node.id);
    try {
      await this.reporting(node, run());
    } finally {
      this.#running.delete(node.id);
    }
  }

  /** Logs in the component's name why it failed. */
  async reporting<T>({ id }: { id: string }, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const { log } = this.#contexts.get(id)!;
      log.error((error as Error).message);
      log
        .child('headgate_engine::topology')
        .error("An error occurred that Vector couldn't handle: the task completed with an error.");
      throw error;
    }
  }

  #connect(inputs: readonly Input[], channel: Channel): Channel {
    for (const { id, port } of inputs) this.#outputs.get(id)?.get(port)?.connect(channel);
    return channel;
  }

  #context(id: string, kind: 'source' | 'transform' | 'sink', type: string): ComponentContext {
    const known = this.#contexts.get(id);
    if (known) return known;
    const { compiled, registry, log } = this.#options;
    const context = {
      log: log.child(`headgate_engine::${kind}s::${type}`, { kind, id, type }),
      metrics: new ComponentMetrics(registry, { id, kind, type }),
      globals: compiled.settings.globals,
    };
    this.#contexts.set(id, context);
    return context;
  }
}
