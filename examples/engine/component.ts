import type { Options, Values } from './config/options.ts';
import type { Batch, DataType } from './event.ts';
import type { Logger } from './log.ts';
import type { ComponentMetrics } from './telemetry/component-metrics.ts';
import type { Registry } from './telemetry/registry.ts';
import type { WhenFull } from './topology/channel.ts';
import type { VrlProgram, VrlSource } from './vrl/program.ts';

/** Names of the well-known fields of a log event, from `log_schema`. */
export interface LogSchema {
  message: string;
  timestamp: string;
  host: string;
  sourceType: string;
  metadata: string;
}

/** What components may know of the rest of the configuration. */
export interface Globals {
  dataDir: string;
  /** A name of a time zone, or `local`. */
  timezone: string;
  hostname: string;
  logSchema: LogSchema;
}

export interface ComponentContext {
  log: Logger;
  metrics: ComponentMetrics;
  globals: Globals;
}

export interface SourceContext extends ComponentContext {
  id: string;
  registry: Registry;
  /** Aborted when the source shall stop; it then returns from `run` after its last `send`. */
  signal: AbortSignal;
  /** Hands a batch on; settles when there is room for the next one. */
  send(batch: Batch): Promise<void>;
}

/**
 * What Vector finds only when it builds the component, as error texts: not with the configuration's files, so
 * `validate --no-environment` passes over it in sources and sinks.
 */
export type Check = (globals: Globals) => string[];

/** A source whose options were read and are good. */
export interface Source {
  output: DataType;
  /** Ports and the like that two components cannot share, as in `tcp 127.0.0.1:9598`. */
  resources?: string[];
  check?: Check;
  /** Runs until there is nothing more to read or the signal aborts. A throw ends the process. */
  run(context: SourceContext): Promise<void>;
}

/** Takes one batch and gives what leaves by each port; `_default` is the port without a name. */
export type Process = (batch: Batch) => Map<string, Batch>;

export interface Transform {
  /** Named outputs, `_default` where the transform has one without a name. */
  ports: string[];
  /** What it takes and gives; everything where this is left out. Other events are not handed to it. */
  accepts?: readonly DataType[];
  programs: VrlSource[];
  check?: Check;
  start(context: ComponentContext, programs: VrlProgram[]): Process;
}

export interface RunningSink {
  /** Writes a batch; a sink that drops events it cannot write gives back their number. A throw ends the process. */
  write(batch: Batch): Promise<number | undefined> | undefined;
  /** Set where events leave later than `write` settles: such a sink counts itself what it has sent. */
  countsSent?: true;
  /** Writes out what is held and lets go of files and ports. */
  close(): Promise<void>;
}

export interface Sink {
  accepts: readonly DataType[];
  /** Ports and the like that two components cannot share, as in `tcp 127.0.0.1:9598`. */
  resources: string[];
  check?: Check;
  /** Asks the other end at `uri` whether it is well, and throws with the reason if not. */
  checkHealth?(uri: string): Promise<void>;
  /** Settles when the sink is ready. A throw ends the process, with exit code 0 as Vector does. */
  start(context: ComponentContext): Promise<RunningSink>;
}

/** A type of component: its description, and how one is made from its options. */
export interface ComponentType<C, O extends Options = Options> {
  /** Its name for people. */
  title: string;
  about: string;
  options: O;
  /** Options that Vector has and this engine has not. */
  lacking?: readonly string[];
  /** Set where Vector passes over options that it does not know. */
  ignoresUnknown?: true;
  /** `path` is where the component is, for errors. Throws ConfigError. It gets values only: no option is read unseen. */
  configure(values: Values<O>, globals: Globals, path: string): C;
}

/** Ties the type of the values to the options. */
export const component = <C, O extends Options>(type: ComponentType<C, O>): ComponentType<C, O> => type;

export interface BufferOptions {
  maxEvents: number;
  whenFull: WhenFull;
}

export const DEFAULT_OUTPUT = '_default';
