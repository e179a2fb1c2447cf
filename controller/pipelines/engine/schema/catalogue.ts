/** The components of the controller's engine, read from its own schema, and read again when the executable changes. */
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { messageOf, notFound } from '../../../platform/operation/errors.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import { engineName, engineSchema } from '../engine-command.ts';
import type { Schema } from './form-schema.ts';
import { KNOWN_COMPONENTS } from './known-components.ts';
import { OptionSchema } from './option-checks.ts';
import { anyOptions, type ComponentKind, type KnownComponent } from './schema-components.ts';

const READ_MS = 20_000;
/** An engine that could not be asked is asked again after so long. */
const RETRY_MS = 30_000;

export interface Catalogue {
  /** Its name and version. */
  engine: string;
  /** Why options are not known; null where they are. */
  detail: string | null;
  components: KnownComponent[];
}

export interface CatalogueReader {
  catalogue(): Promise<Catalogue>;
  /** The schema of the options of a type. NOT_FOUND for a type that the engine has not. */
  componentSchema(
    kind: ComponentKind,
    type: string,
  ): Promise<{ engine: string; detail: string | null; schema: Record<string, unknown> }>;
  /** What checks the options of components by its schema. Null where there is no engine, or none that could be asked. */
  optionSchema(): Promise<{ engine: string; schema: OptionSchema } | null>;
  stop(): void;
}

interface ReadSchema {
  components: { component: KnownComponent; schema: string }[];
  options: Schema;
}

interface Loaded extends Catalogue {
  /** JSON text by kind and type. */
  schemas: Map<string, string>;
  options: OptionSchema | null;
}

interface Known {
  /** What the executable was when it was asked. */
  identity: string;
  /** Milliseconds of `performance.now()`. Until then it is believed; null for as long as the executable is the same. */
  until: number | null;
  loaded: Promise<Loaded>;
}

const keyOf = (kind: ComponentKind, type: string) => `${kind} ${type}`;

export function createCatalogueReader(options: { engineBin: string | null; log: Logger }): CatalogueReader {
  const { engineBin, log } = options;
  const workers = new Set<Worker>();
  let known: Known | null = null;

  async function load(bin: string, mine: { until: number | null }): Promise<Loaded> {
    try {
      const engine = await engineName(bin);
      const { components: found, options } = await read(await engineSchema(bin));
      const schemas = new Map(
        found.map(({ component, schema }) => [keyOf(component.kind, component.type), schema]),
      );
      return {
        engine,
        detail: null,
        components: found.map(({ component }) => component),
        schemas,
        options: new OptionSchema(options),
      };
    } catch (error) {
      mine.until = performance.now() + RETRY_MS;
      const reason = (messageOf(error).split('\n')[0] ?? '').slice(0, 300);
      log.warn({ reason, engine: bin }, 'the engine could not be asked for its schema');
      return without(`The engine could not be asked for its components: ${reason}`);
    }
  }

  function read(schema: Buffer): Promise<ReadSchema> {
    const worker = new Worker(new URL('./schema-worker.ts', import.meta.url), {
      name: 'engine-schema',
      workerData: schema,
      env: {},
    });
    workers.add(worker);
    return new Promise<ReadSchema>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('reading its schema took too long')), READ_MS);
      late.unref();
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => {
        clearTimeout(late);
        reject(new Error('its schema could not be read'));
      });
    }).finally(() => {
      workers.delete(worker);
      return worker.terminate();
    });
  }

  async function current(): Promise<Loaded> {
    if (engineBin === null) return without('There is no engine on the controller to ask');
    const identity = await identityOf(engineBin);
    const isGood = known?.identity === identity && (known.until === null || performance.now() < known.until);
    if (known && isGood) return known.loaded;
    const fresh: Known = { identity, until: null, loaded: Promise.resolve(without('')) };
    fresh.loaded = load(engineBin, fresh);
    known = fresh;
    return fresh.loaded;
  }

  return {
    async catalogue() {
      const { engine, detail, components } = await current();
      return { engine, detail, components };
    },
    async componentSchema(kind, type) {
      const { engine, detail, schemas } = await current();
      const schema = schemas.get(keyOf(kind, type));
      if (schema === undefined) throw notFound(`The ${kind.toLowerCase()} type in ${engine}`);
      return { engine, detail, schema: JSON.parse(schema) as Record<string, unknown> };
    },
    async optionSchema() {
      const { engine, options: schema } = await current();
      return schema && { engine, schema };
    },
    stop() {
      for (const worker of workers) void worker.terminate();
    },
  };
}

async function identityOf(bin: string): Promise<string> {
  const found = await stat(bin).catch(() => null);
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : 'none';
}

function without(reason: string): Loaded {
  return {
    engine: 'no engine',
    detail: `${reason}. These are components that Vector has; their options are not known here`,
    components: [...KNOWN_COMPONENTS],
    schemas: new Map(
      KNOWN_COMPONENTS.map((component) => [keyOf(component.kind, component.type), anyOptions(component)]),
    ),
    options: null,
  };
}
