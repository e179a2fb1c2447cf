/** Checking a folder, for the commands that do it. */
import { openFolder, SHARED_PATHS } from '../../reconcilers/without-server/folder.ts';
import type { Validation } from '../../reconcilers/without-server/validate.ts';
import { readEngineBin } from '../config.ts';
import { createLogger } from '../platform/runtime/logger.ts';
import {
  EXIT,
  type ExitCode,
  FORMAT_OPTION,
  type Io,
  type OptionSpec,
  type ParsedOptions,
} from './command.ts';
import type { Report } from './format/report.ts';

/** Each starts a process of the engine. */
const ENGINE_LIMIT = 24;

export const FOLDER_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  path: {
    value: '<folder>',
    repeated: true,
    help: 'of an environment, from the root of the repository; may be repeated',
  },
  shared: { value: '<folder>', repeated: true, help: 'that $file may reach beside it [shared, tests]' },
  engine: {
    value: '<when>',
    oneOf: ['auto', 'all', 'none'],
    help: `whether the engine is asked: auto, for up to ${ENGINE_LIMIT} pipelines; all; none`,
  },
  'allow-outside': {
    help: 'a name that is not in the tree may be that of an object which git does not hold',
  },
  format: FORMAT_OPTION,
};

export async function checked(given: ParsedOptions, io: Io): Promise<Validation> {
  const folder = openFolder(given.positionals[0] ?? io.cwd, given.values('path'));
  const shared = given.values('shared');
  const engineBin = given.value('engine') === 'none' ? null : readEngineBin(io.env);
  // Late, so that help and wrong arguments are answered at once.
  const [{ validateFolder }, { createEngineChecks }] = await Promise.all([
    import('../../reconcilers/without-server/validate.ts'),
    import('../pipelines/engine/index.ts'),
  ]);
  const engine = createEngineChecks({ engineBin, log: createLogger('silent') });
  try {
    return await validateFolder(folder, {
      sharedPaths: shared.length > 0 ? shared : SHARED_PATHS,
      engine,
      engineBin,
      engineLimit: given.value('engine') === 'all' ? Number.POSITIVE_INFINITY : ENGINE_LIMIT,
      allowOutside: given.flag('allow-outside'),
      now: Date.now(),
      signal: new AbortController().signal,
    });
  } finally {
    await engine.stop();
  }
}

export const exitOf = ({ suites }: Report): ExitCode =>
  suites.some(({ cases }) => cases.some(({ outcome }) => outcome === 'failed')) ? EXIT.findings : EXIT.fine;
