/** The schema that the built engine prints, and what the controller makes of it. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { schemaDocument } from '../../../examples/engine/config/schema-document.ts';
import { Bench, engineBinary } from './support.ts';

describe("the engine's schema", function () {
  this.timeout(30_000);
  let bench: Bench;
  before(engineBinary);
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.dispose());

  it('is printed as one JSON document', async () => {
    const { code, stdout, stderr } = await bench.run(['generate-schema']);
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal(schemaDocument());
  });

  it('is written to a file that is not there yet', async () => {
    const path = bench.path('schema.json');
    const first = await bench.run(['generate-schema', '-o', path]);
    expect(first.code).to.equal(0);
    expect(first.stdout).to.equal(`Schema successfully written to "${path}"\n`);
    expect(JSON.parse(readFileSync(path, 'utf8'))).to.deep.equal(schemaDocument());

    const second = await bench.run(['generate-schema', `--output-path=${path}`]);
    expect(second.code).to.equal(73);
    expect(second.stderr).to.equal(`Error: Output file "${path}" already exists\n`);
    expect((await bench.run(['generate-schema', '-o', bench.path('none/schema.json')])).code).to.equal(74);
  });

  it('takes no other argument', async () => {
    const { code, stderr } = await bench.run(['generate-schema', 'pipeline.yaml']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^error: unexpected argument 'pipeline.yaml' found\n/);
  });

  describe('as the controller reads it', () => {
    let engine: Engine;
    before(async () => {
      engine = createEngineChecks({ engineBin: await engineBinary(), log: createLogger('silent') });
    });
    after(() => engine.stop());

    it('tells of every component', async () => {
      const { engine: name, detail, components } = await engine.catalogue();
      expect(name).to.equal('headgate-engine 0.1.0');
      expect(detail).to.equal(null);
      expect(components).to.have.length(16);
    });

    it('tells of the options of each', async () => {
      const { components } = await engine.catalogue();
      for (const { kind, type } of components) {
        const { schema } = await engine.componentSchema(kind, type);
        expect(schema).to.deep.include({ type: 'object', additionalProperties: false });
      }
    });
  });
});
