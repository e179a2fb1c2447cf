/** Every check of manifests that needs no server, with the same code that a pass uses. */
import { tmpdir } from 'node:os';
import type { Context } from '../../controller/platform/operation/context.ts';
import type { TestResult } from '../../schemas/api/delivery/git-plan.ts';
import { findCyclesAmong } from '../git/plan/dependency-cycles.ts';
import { danglingAmong } from '../git/plan/references.ts';
import { KINDS } from '../kinds/index.ts';
import type { CheckContext } from '../kinds/kind.ts';
import {
  createScratch,
  createSourceCache,
  type Desired,
  type DesiredManifest,
  type Problem,
  readDesired,
  type Scratch,
  type ScratchFile,
} from '../source/index.ts';
import { type Folder, FolderError, filesOf } from './folder.ts';

export interface CheckedManifest {
  kind: string;
  name: string;
  path: string;
  line: number;
  problems: Problem[];
  /** What users should know although nothing is wrong. */
  notes: string[];
  /** The tests that ran: none where an earlier check failed. */
  tests: TestResult[];
  /** The number of tests in the manifest. */
  describedTests: number;
}

export interface CheckedEnvironment {
  /** Its folder, from the root of the repository. */
  path: string;
  manifests: CheckedManifest[];
  /** Problems of files, and of documents that are no manifests. */
  problems: Problem[];
}

export interface CheckedStage {
  stage: string;
  status: 'ran' | 'skipped';
  /** What ran, or why it did not. */
  detail: string;
}

export interface Validation {
  root: string;
  environments: CheckedEnvironment[];
  stages: CheckedStage[];
}

export interface ValidateOptions {
  sharedPaths: readonly string[];
  engine: Context['services']['engine'];
  /** The engine's executable; null where there is none. */
  engineBin: string | null;
  /** The engine checks each pipeline only up to this number of pipelines. */
  engineLimit: number;
  /** A name outside the tree may be that of an object in the database: it becomes a note instead of a problem. */
  allowOutside: boolean;
  /** Milliseconds since 1970. */
  now: number;
  signal: AbortSignal;
}

const PARALLEL_CHECKS = 8;
/** Faults that the engine confirms where it does not check each pipeline. */
const CONFIRMATIONS = 24;

type EngineUse = Pick<CheckContext, 'engine' | 'confirm'>;

const ENGINE_BIN = 'HEADGATE_ENGINE_BIN';

/** Only the server knows which secrets and certificates exist, so every well-formed name passes. */
class WellFormedNames extends Set<string> {
  override has(name: string): boolean {
    return /^SVC_SECRET_[A-Z0-9_]+$/.test(name) || name.startsWith('SVC_CERT_DIR/');
  }
}

/** @throws FolderError where the folder cannot be read. */
export async function validateFolder(folder: Folder, options: ValidateOptions): Promise<Validation> {
  const scratch = await scratchOf(folder, options);
  try {
    const cache = createSourceCache();
    const desired: Desired[] = [];
    for (const path of folder.paths) {
      const scope = { path, sharedPaths: options.sharedPaths };
      desired.push(await readDesired(scratch.repository, scratch.commit, scope, cache));
    }
    const pipelines = desired.flatMap(({ manifests }) => manifests.filter(({ kind }) => kind === 'Pipeline'));
    const engine = options.engineBin !== null && pipelines.length <= options.engineLimit;
    const hasSchema = (await options.engine.optionSchema()) !== null;
    let confirmations = CONFIRMATIONS;
    const engineUse = { engine, confirm: () => options.engineBin !== null && confirmations-- > 0 };
    const environments: CheckedEnvironment[] = [];
    for (const [index, path] of folder.paths.entries()) {
      const one = desired[index];
      if (one) environments.push(await checkEnvironment(path, one, engineUse, options));
    }
    return {
      root: folder.root,
      environments,
      stages: planRollouts(environments, pipelines.length, { engine, hasSchema }, options),
    };
  } finally {
    await scratch.remove();
  }
}

/** What manifests with VRL hold. Where a sign is missing, the compiler is loaded when the program comes. */
const SIGNS_OF_VRL = ['remap', 'condition', 'route'];

/** The compiler takes half a second to load, and does so while files are read; where there is no VRL it is not needed. */
function* loadingCompiler(
  files: Iterable<ScratchFile>,
  engine: ValidateOptions['engine'],
): Generator<ScratchFile> {
  let isLoading = false;
  for (const file of files) {
    if (!isLoading && SIGNS_OF_VRL.some((sign) => file.content.includes(sign))) {
      isLoading = true;
      void engine.compilePrograms([{ source: '.', purpose: 'program' }]);
    }
    yield file;
  }
}

async function scratchOf(folder: Folder, { sharedPaths, signal, engine }: ValidateOptions): Promise<Scratch> {
  try {
    return await createScratch(loadingCompiler(filesOf(folder, sharedPaths), engine), { signal });
  } catch (error) {
    if (error instanceof FolderError || !(error instanceof Error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const what =
      code === undefined ? error.message : `temporary files cannot be written to ${tmpdir()} (${code})`;
    const advice = code === undefined ? '' : '; make room there, or set TMPDIR to another folder';
    throw new FolderError(`the files cannot be read as a commit: ${what}${advice}`);
  }
}

async function checkEnvironment(
  path: string,
  desired: Desired,
  engineUse: EngineUse,
  options: ValidateOptions,
): Promise<CheckedEnvironment> {
  const dangling = await danglingAmong(desired, desired.manifests, async () => []);
  const circles = findCyclesAmong(desired.manifests);
  const checked = new Map<DesiredManifest, CheckedManifest>();
  const queue = desired.manifests[Symbol.iterator]();
  const worker = async () => {
    for (const manifest of queue)
      checked.set(
        manifest,
        await checkManifest(
          manifest,
          { dangling: dangling.get(manifest) ?? [], circles: circles.get(manifest) ?? [] },
          engineUse,
          options,
        ),
      );
  };
  await Promise.all(Array.from({ length: PARALLEL_CHECKS }, worker));
  const manifests = desired.manifests.flatMap((manifest) => checked.get(manifest) ?? []);
  return { path, manifests, problems: desired.problems };
}

async function checkManifest(
  manifest: DesiredManifest,
  { dangling, circles }: { dangling: readonly Problem[]; circles: readonly Problem[] },
  engineUse: EngineUse,
  { engine: checks, allowOutside, now, signal }: ValidateOptions,
): Promise<CheckedManifest> {
  const { kind, name, path, line } = manifest;
  const outside = allowOutside
    ? dangling.map(({ message }) => `${message}; it may be an object that git does not hold`)
    : [];
  const refused = allowOutside ? [] : dangling;
  const result = await KINDS.get(kind)?.check({ services: { engine: checks } }, manifest, {
    secrets: new WellFormedNames(),
    ...engineUse,
    ...{ now, nodeEngines: [], signal },
  });
  return {
    ...{ kind, name, path, line },
    problems: [...refused, ...circles, ...(result?.problems ?? [])],
    notes: [
      ...outside,
      ...(result?.notes ?? []),
      ...(result?.unknown ?? []).map((what) => `not known here: ${what}; the nodes' engine decides`),
    ],
    tests: result?.tests ?? [],
    describedTests: kind === 'Pipeline' ? (manifest as DesiredManifest<'Pipeline'>).spec.tests.length : 0,
  };
}

function planRollouts(
  environments: readonly CheckedEnvironment[],
  pipelines: number,
  { engine, hasSchema }: { engine: boolean; hasSchema: boolean },
  { engineBin, engineLimit, allowOutside }: ValidateOptions,
): CheckedStage[] {
  const ran = (stage: string, detail: string): CheckedStage => ({ stage, status: 'ran', detail });
  const skipped = (stage: string, detail: string): CheckedStage => ({ stage, status: 'skipped', detail });
  const tests = environments.flatMap(({ manifests }) => manifests.flatMap((one) => one.tests)).length;
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return [
    ran('parse, schema, identity', 'by the reader of the controller'),
    ran('references', allowOutside ? 'inside the tree; others are listed' : 'inside the tree'),
    ran('graph', `${count(pipelines, 'pipeline')}, and the order among them`),
    ran('secrets', 'placeholders are well-formed, no plain credentials'),
    hasSchema
      ? ran('options', 'by the schema of the engine')
      : skipped('options', 'there is no schema of an engine to check by'),
    ran('vrl', 'programs compile'),
    engine
      ? ran('engine', engineBin ?? '')
      : skipped(
          'engine',
          engineBin === null
            ? `there is none: put vector on the path, or set ${ENGINE_BIN}`
            : `more than ${engineLimit} pipelines; --engine all asks it about each`,
        ),
    ran('tests', count(tests, 'test')),
    skipped('secrets exist', 'only the server knows them; headgate plan asks it'),
    skipped('fleet', 'only the server knows the nodes; headgate plan asks it'),
    skipped('guards', 'only the server knows what is there now; headgate plan asks it'),
  ];
}
