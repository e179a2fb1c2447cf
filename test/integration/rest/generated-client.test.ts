/** A client that a public generator makes from the description: its types compile, and it works against a controller. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { send } from '../../support/clients/http.ts';
import { openApiTools } from '../../support/clients/openapi-tools.ts';
import { draftPipeline, makeKey } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

/** What somebody would write who knows nothing but the description. */
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const [, , baseUrl = '', key = '', name = ''] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
const told: Record<string, unknown> = {};

const list = await client.GET('/api/v1/pipelines');
const found = list.data?.pipelines.find((one) => one.name === name);
if (!found) throw new Error(\`no pipeline \${name}: \${list.error?.error}\`);
const draft: boolean = found.isDraft;
told.draft = draft;

const deployed = await client.POST('/api/v1/pipelines/{id}/deploy', {
  params: { path: { id: found.id }, header: { 'Idempotency-Key': 'generated-1' } },
  body: { changelog: 'by a generated client' },
});
// With 202 the answer is the branch on which git holds the change; this pipeline is none of git's.
const versionOf = (answer: typeof deployed.data) =>
  answer && 'versionNumber' in answer ? answer.versionNumber : undefined;
const number: number | undefined = versionOf(deployed.data);
told.version = number;

const again = await client.POST('/api/v1/pipelines/{id}/deploy', {
  params: { path: { id: found.id }, header: { 'Idempotency-Key': 'generated-1' } },
  body: { changelog: 'by a generated client' },
});
told.again = [versionOf(again.data), again.response.headers.get('Idempotent-Replayed')];

const details = await client.GET('/api/v1/pipelines/{id}', { params: { path: { id: found.id } } });
told.gate = details.data?.pipeline.gate.map((segment) => segment.point);

const nodes = await client.GET('/api/v1/nodes', { params: { query: { label: ['region:eu', 'tier:edge'] } } });
told.nodes = nodes.data?.nodes.length;

const page = await client.GET('/api/v1/audit', { params: { query: { limit: 1 } } });
told.audit = [page.data?.events.length, typeof page.data?.cursor];

const stranger = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer svc_wrong' } });
const refused = await stranger.GET('/api/v1/pipelines');
const sentence: string | undefined = refused.error?.error;
told.refused = [refused.response.status, typeof sentence];

const wrong = { params: { path: { id: found.id } }, body: { changelog: 7 } };
// @ts-expect-error: the description says that a changelog is a text.
void (() => client.POST('/api/v1/pipelines/{id}/deploy', wrong));

console.log(JSON.stringify(told));
`;

const CONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    outDir: 'out',
  },
  files: ['program.ts'],
};

const run = promisify(execFile);

describe('a client made by a public generator', function () {
  this.timeout(120_000);
  this.slow(20_000);
  const test = useController();
  let folder: string;

  before(() => {
    // Below the packages of the generator, so that the program finds them.
    folder = join(openApiTools(), 'node_modules/.cache', `client-${process.pid}`);
    mkdirSync(folder, { recursive: true });
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('compiles, lists, deploys once, and is told of a wrong key', async () => {
    const root = await test.root();
    const { environmentId } = await testEnvironment(root);
    const id = await draftPipeline(root, environmentId, 'orders');
    const { key } = await makeKey(root, environmentId);
    const { text } = await send(`${test.url}/api/v1/openapi.json`);
    writeFileSync(join(folder, 'openapi.json'), text);
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));

    const tool = (name: string, ...args: string[]) =>
      run(process.execPath, [join(openApiTools(), 'node_modules', name), ...args], { cwd: folder }).catch(
        (error: { stdout?: string; stderr?: string }) => {
          throw new Error(`${name}: ${error.stdout ?? ''}${error.stderr ?? ''}`);
        },
      );
    const generated = await tool('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'schema.d.ts');
    expect(generated.stderr, 'a warning').to.equal('');
    await tool('typescript/bin/tsc', '-p', 'tsconfig.json');
    const { stdout } = await run(process.execPath, [join(folder, 'out/program.js'), test.url, key, 'orders']);

    expect(JSON.parse(stdout)).to.deep.equal({
      draft: true,
      version: 1,
      again: [1, 'true'],
      gate: ['git', 'accepted', 'delivered', 'running'],
      nodes: 0,
      audit: [1, 'string'],
      refused: [401, 'string'],
    });
    const versions = await root.query<{ changelog: string }[]>('pipeline.versions', { pipelineId: id });
    expect(versions.map(({ changelog }) => changelog)).to.deep.equal(['by a generated client']);
  });
});
