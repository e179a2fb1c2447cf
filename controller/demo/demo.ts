/**
 * `headgate demo`, which `make run` calls: the controller, two environments bound to the embedded repository, and three
 * agents. Everything is set up through the API; what it needs to remember is kept, readable by its owner alone, in the
 * data directory.
 */

import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilSignal } from '../compose/signals.ts';
import { type Config, ConfigError, plainEnvironment, readConfig, readDemoConfig } from '../config.ts';
import { type Controller, startController } from '../main.ts';
import { createLogger } from '../platform/runtime/logger.ts';
import { type DemoAgent, endEarlierAgents, keepAgent } from './agents.ts';
import { type ApiClient, ProcedureError, signIn } from './client.ts';
import { seedExample } from './example-repository.ts';
import { enginePortBases, freePort } from './free-ports.ts';

/** Longer than any agent takes that can reach us. */
const ENROLLING_MS = 10_000;

const ROOT = join(import.meta.dirname, '../..');
const ENVIRONMENTS = ['staging', 'production'] as const;
type EnvironmentName = (typeof ENVIRONMENTS)[number];

interface DemoNode {
  /** Of its folder; of the node, where there are several in an environment. */
  name: string;
  environment: EnvironmentName;
  labels: Readonly<Record<string, string>>;
}

/** Two in production, so that a rollout has a canary and somebody to compare it with. */
const NODES: readonly DemoNode[] = [
  { name: 'staging', environment: 'staging', labels: {} },
  { name: 'production', environment: 'production', labels: { ring: '0' } },
  { name: 'production-2', environment: 'production', labels: { ring: '1' } },
];

interface DemoState {
  email: string;
  password: string;
  gitToken: string | null;
  teamId: string | null;
  environments: Partial<Record<EnvironmentName, string>>;
}

/** What somebody tries beside the example runs on this machine too. */
const LOOPBACK = ['127.0.0.0/8', '::1'];

export async function demo(): Promise<void> {
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const asked = untilSignal();
  const settings = readDemoConfig(process.env);
  const engine = engineOf(settings.engineBin);
  const agentBinary = built('headgate-agent');
  const base = readConfig(process.env);
  const state = await readState(base);
  const config: Config = {
    ...base,
    engineBin: engine.path,
    adminEmail: state.email,
    adminPassword: state.password,
    privateTargets: [...base.privateTargets, ...LOOPBACK],
  };

  const logFile = join(config.dataDir, 'controller.log');
  const controller = await startController(config, {
    progress: (step) => say(`  ${step} …`),
    log: createLogger(config.logLevel, await openLog(config.dataDir, logFile)),
    // A second one would take the agents from the first.
    alone: true,
    ownAgent: agentBinary,
  });
  const agents: DemoAgent[] = [];
  try {
    // Once all is there nobody signs in: the password was changed by then, let us hope, or a second factor is asked for.
    const wasSetUp = isSetUp(state, config.dataDir);
    const api = wasSetUp ? null : await signInTo(config, state);
    if (api) await prepare(api, controller, config, state, say);
    await endEarlierAgents(agentsDir(config.dataDir));
    let { metricsPort } = settings;
    const portBases = await enginePortBases(settings.portBase, NODES.length);
    for (const [index, { name, environment, labels }] of NODES.entries()) {
      metricsPort = await freePort(metricsPort);
      const dataDir = join(agentsDir(config.dataDir), name);
      const enrolls = api !== null && !isEnrolled(dataDir);
      if (enrolls) await nameNode(api, state, { name, environment });
      agents.push(
        await keepAgent(
          {
            name,
            binary: agentBinary,
            url: localUrl(config),
            token: enrolls ? await enrollmentToken(api, state, environment) : '',
            dataDir,
            engineBin: engine.path,
            portBase: portBases[index] ?? 0,
            metricsPort: metricsPort++,
            labels: labelText({ role: 'demo', environment, ...labels }),
            environment: plainEnvironment(process.env),
          },
          say,
        ),
      );
      if (enrolls && sharesItsHost(environment)) await untilEnrolled(dataDir);
    }
    say(table(controller, { ...state, wasSetUp }, engine.name, logFile));
    await asked;
    say('Stopping: agents and their engines, then the controller, then Postgres …');
  } finally {
    await Promise.all(agents.map((agent) => agent.stop()));
    await controller.stop();
  }
  say('Stopped.');
}

const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join();

const isEnrolled = (dataDir: string): boolean => existsSync(join(dataDir, 'node-token'));

const isSetUp = ({ gitToken, environments }: DemoState, dataDir: string): boolean =>
  gitToken !== null &&
  ENVIRONMENTS.every((name) => environments[name] !== undefined) &&
  NODES.every(({ name }) => isEnrolled(join(agentsDir(dataDir), name)));

async function signInTo(config: Config, { email, password }: DemoState): Promise<ApiClient> {
  try {
    return await signIn(localUrl(config), email, password);
  } catch (error) {
    if (!(error instanceof ProcedureError)) throw error;
    throw new ConfigError(
      `the example is not set up to its end, and that takes the password of ${email} that stands in ${stateFile(config.dataDir)}, without a second factor (${error.message}). Set them back, or start over with: make clean`,
    );
  }
}

const sharesItsHost = (environment: EnvironmentName): boolean =>
  NODES.filter((node) => node.environment === environment).length > 1;

/** A node takes the name of its host, and here several have one: the agent that enrolls next takes this name. */
async function nameNode(
  api: ApiClient,
  state: DemoState,
  { name, environment }: Pick<DemoNode, 'name' | 'environment'>,
): Promise<void> {
  if (!sharesItsHost(environment)) return;
  const environmentId = state.environments[environment];
  const nodes = await api.query<{ name: string }[]>('fleet.list', { environmentId });
  if (nodes.some((node) => node.name === name)) return;
  await api.mutate('fleet.create', { environmentId, name, host: hostname().slice(0, 253) || 'unknown' });
}

/** So that names and labels go together. An agent that takes longer is not waited for. */
async function untilEnrolled(dataDir: string): Promise<void> {
  const until = performance.now() + ENROLLING_MS;
  while (!isEnrolled(dataDir) && performance.now() < until) await sleep(20);
}

function engineOf(given: string | null): { path: string; name: string } {
  if (given) return { path: given, name: `${given}` };
  return { path: built('headgate-engine'), name: 'the reference engine (Vector is not installed)' };
}

function built(name: string): string {
  const path = join(ROOT, 'dist', name);
  if (!existsSync(path)) throw new ConfigError(`${path} is not built yet; run: make build`);
  return path;
}

/** The agents on this machine need no way round through a public address. */
const localUrl = (config: Config) => `http://127.0.0.1:${config.port}`;

async function openLog(dataDir: string, file: string): Promise<NodeJS.WritableStream> {
  await mkdir(dataDir, { recursive: true }).catch(() => {});
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  stream.on('error', () => {});
  return stream;
}

const agentsDir = (dataDir: string) => join(dataDir, 'agents');
const stateFile = (dataDir: string) => join(dataDir, 'demo.json');

async function readState(config: Config): Promise<DemoState> {
  const text = await readFile(stateFile(config.dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new ConfigError(`${stateFile(config.dataDir)} cannot be read (${error.code})`);
  });
  if (text !== null) return JSON.parse(text) as DemoState;
  return {
    email: config.adminEmail,
    password: config.adminPassword ?? randomBytes(9).toString('base64url'),
    gitToken: null,
    teamId: null,
    environments: {},
  };
}

async function writeState(config: Config, state: DemoState): Promise<void> {
  const file = stateFile(config.dataDir);
  await writeFile(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Does what is not done yet, so that a first start that was cut short goes on where it was. */
async function prepare(
  api: ApiClient,
  controller: Controller,
  config: Config,
  state: DemoState,
  say: (text: string) => void,
): Promise<void> {
  await writeState(config, state);
  if (state.teamId === null) {
    say('  Setting up the team, two environments and the config repository …');
    const teams = await api.query<{ id: string; name: string }[]>('team.list');
    state.teamId =
      teams.find((team) => team.name === 'Demo')?.id ??
      (await api.mutate<{ id: string }>('team.create', { name: 'Demo' })).id;
    await writeState(config, state);
  }
  await seedIfEmpty(controller, state.email);
  const there = await api.query<{ id: string; name: string; gitMode: string }[]>('environment.list', {
    teamId: state.teamId,
  });
  for (const name of ENVIRONMENTS) {
    const known = there.find((environment) => environment.name === name);
    const id =
      known?.id ??
      (await api.mutate<{ id: string }>('environment.create', { name, teamId: state.teamId })).id;
    if (!state.environments[name]) {
      await api.mutate('gitSync.configure', {
        environmentId: id,
        mode: 'sync',
        repositoryUrl: 'embedded',
        branch: 'main',
        path: `environments/${name}`,
      });
    }
    state.environments[name] = id;
  }
  state.gitToken ??= (await api.mutate<{ token: string }>('user.createToken', { name: 'make run' })).token;
  await writeState(config, state);
}

async function seedIfEmpty({ gitdir, url }: Controller, email: string): Promise<void> {
  if (existsSync(join(gitdir, 'refs/heads/main')) || existsSync(join(gitdir, 'packed-refs'))) return;
  await seedExample(gitdir, { name: 'Headgate', email }, url);
}

async function enrollmentToken(api: ApiClient, state: DemoState, name: EnvironmentName): Promise<string> {
  const environmentId = state.environments[name];
  const { token } = await api.mutate<{ token: string }>('environment.generateEnrollmentToken', {
    environmentId,
    maxUses: 10,
  });
  return token;
}

function table(
  controller: Controller,
  state: DemoState & { wasSetUp: boolean },
  engine: string,
  logFile: string,
): string {
  const clone = new URL(controller.cloneUrl);
  clone.username = 'git';
  clone.password = state.gitToken ?? '';
  const rows: [string, string][] = [
    ['Web UI', controller.url],
    [
      'Sign in',
      `${state.email}   password ${state.password}${state.wasSetUp ? ', unless you changed it' : ''}`,
    ],
    ['Clone', `git clone ${clone.href}`],
    ['Try first', 'edit environments/staging/pipelines/web-logs.yaml, commit, git push'],
    ['Engine', engine],
    ['Allows', `git servers, forges and stores on this machine (${LOOPBACK.join(', ')})`],
    ['Log', logFile],
    ['Stop', 'Ctrl-C (state is kept)'],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return `\nHeadgate is running.\n\n${rows.map(([name, value]) => `  ${name.padEnd(width)}   ${value}`).join('\n')}\n`;
}
