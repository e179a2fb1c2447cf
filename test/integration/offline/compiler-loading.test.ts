/** Checks without a server load the compiler of VRL, which costs a second of CPU, only where manifests hold programs. */
import { expect } from 'chai';
import { createEngineChecks } from '../../../controller/pipelines/engine/index.ts';
import { openFolder, SHARED_PATHS } from '../../../reconcilers/without-server/folder.ts';
import { validateFolder } from '../../../reconcilers/without-server/validate.ts';
import { Files } from '../../support/clients/command.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { useEach } from '../../support/harness/use.ts';

const transformed = (transform: string) => `${idleManifest('one')}  transforms:
    checked: { inputs: [ticks], ${transform} }
`;

describe('the compiler of VRL in checks without a server', () => {
  const files = useEach(
    () => new Files(),
    (made) => made.remove(),
  );

  /** Programs that were asked for, in order, and the problems that were found. */
  async function check(manifest: string): Promise<{ asked: string[]; problems: string[] }> {
    files.write({ 'one.yaml': manifest });
    const engine = createEngineChecks({ engineBin: null, log: QUIET });
    const asked: string[] = [];
    try {
      const { environments } = await validateFolder(openFolder(files.folder, []), {
        ...{ sharedPaths: SHARED_PATHS, engineBin: null, engineLimit: 0, allowOutside: false },
        ...{ now: Date.now(), signal: new AbortController().signal },
        engine: {
          ...engine,
          compilePrograms(programs) {
            asked.push(...programs.map(({ source }) => source));
            return engine.compilePrograms(programs);
          },
        },
      });
      const problems = environments.flatMap(({ manifests }) =>
        manifests.flatMap((one) => one.problems.map(({ message }) => message)),
      );
      return { asked, problems };
    } finally {
      await engine.stop();
    }
  }

  it('is not loaded where there is no program', async () => {
    expect(await check(idleManifest('one'))).to.deep.equal({ asked: [], problems: [] });
  });

  for (const [transform, program] of [
    [`type: remap, source: '.a = 1'`, '.a = 1'],
    [`type: filter, condition: '.a == 1'`, '.a == 1'],
    [`type: route, route: { first: '.a == 1' }`, '.a == 1'],
  ] as const)
    it(`is loaded while files are read, and then asked, where there is a transform of ${transform}`, async () => {
      expect(await check(transformed(transform))).to.deep.equal({ asked: ['.', program], problems: [] });
    });
});
