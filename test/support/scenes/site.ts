/**
 * Headgate as an operator sets it up, apart from the demo: `headgate serve` as processes of their own on one database and
 * one data directory, a team with an environment bound to the repository, and agents beside them.
 */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../../controller/database/connect.ts';
import { databaseUrl } from '../../../controller/database/embedded/connection.ts';
import { type ApiClient, signIn } from '../../../controller/demo/client.ts';
import type { FleetSettings } from '../../../controller/fleet/settings/index.ts';
import { writeSetting } from '../../../controller/platform/runtime/settings-store.ts';
import type { NodeSummary } from '../../../schemas/api/fleet/fleet.ts';
import { type NodeAgent, startNodeAgent } from '../agents/node-agent.ts';
import { withCredentials } from '../clients/git-client.ts';
import { ROOT } from '../harness/controller.ts';
import { temporaryDataDir } from '../harness/headgate.ts';
import { testDatabase } from '../harness/postgres.ts';
import { type Replica, type ServeOptions, serve, serveInProcess, untilUp } from '../harness/serve.ts';
import type { TestDb } from '../harness/test-db.ts';
import { until } from '../harness/until.ts';

export interface Site {
  dataDir: string;
  gitdir: string;
  db: TestDb;
  /** The first controller. */
  controller: Replica;
  teamId: string;
  environmentId: string;
  /** Another controller on the same database and data directory, which listens. */
  serve(options?: ServeOptions): Promise<Replica>;
  api(controller?: Replica): Promise<ApiClient>;
  /** With a token in it. */
  cloneUrl(controller?: Replica): string;
  enrollmentToken(): Promise<string>;
  /** A node that is HEALTHY. `url` is where it finds the controller: the first one unless told otherwise. */
  agent(options?: { url?: string; name?: string }): Promise<NodeAgent>;
  nodes(controller?: Replica): Promise<NodeSummary[]>;
  /** Ends everything and removes it. */
  remove(): Promise<void>;
}

export interface SiteOptions {
  fleet?: Partial<FleetSettings>;
  controller?: ServeOptions;
  /** The embedded one of the data directory instead of a test database. */
  embedded?: boolean;
  /** The controllers run in this process: nothing may end them by a signal. */
  inProcess?: boolean;
  /** A folder that is there, and is left to whoever gave it. */
  dataDir?: string;
}

export async function startSite(options: SiteOptions = {}): Promise<Site> {
  const database = options.embedded ? null : await testDatabase();
  const dataDir = options.dataDir ?? temporaryDataDir();
  const controllers: Replica[] = [];
  const agents: NodeAgent[] = [];
  let db: TestDb | undefined;

  async function start(more: ServeOptions = {}): Promise<Replica> {
    const variables = { ...(database ? { HEADGATE_DATABASE_URL: database.url } : {}), ...more.variables };
    const controller = await (options.inProcess ? serveInProcess : serve)(dataDir, { ...more, variables });
    controllers.push(controller);
    await untilUp(controller);
    return controller;
  }
  async function remove(): Promise<void> {
    await Promise.all(agents.map((agent) => agent.remove()));
    await Promise.all(controllers.map((controller) => controller.end('SIGTERM')));
    await db?.destroy();
    await database?.drop();
    if (!options.dataDir) await rm(dataDir, { recursive: true, force: true });
  }

  try {
    const controller = await start(options.controller);
    db = connect(database?.url ?? embeddedUrl(dataDir));
    if (options.fleet) await writeSetting(db, 'fleet', options.fleet);
    const signedIn = new Map<Replica, Promise<ApiClient>>();
    const apiOf = (at = controller) => {
      const known = signedIn.get(at) ?? signIn(at.url, ROOT.email, ROOT.password);
      signedIn.set(at, known);
      return known;
    };
    const api = await apiOf();
    const { id: teamId } = await api.mutate<{ id: string }>('team.create', { name: 'Ours' });
    const { id: environmentId } = await api.mutate<{ id: string }>('environment.create', {
      name: 'staging',
      teamId,
    });
    await api.mutate('gitSync.configure', { environmentId, mode: 'sync', path: 'staging' });
    const { token } = await api.mutate<{ token: string }>('user.createToken', { name: 'git' });
    const nodes = async (at?: Replica) =>
      (await apiOf(at)).query<NodeSummary[]>('fleet.list', { environmentId });
    const enrollmentToken = async () =>
      (await api.mutate<{ token: string }>('environment.generateEnrollmentToken', { environmentId })).token;
    return {
      dataDir,
      gitdir: join(dataDir, 'git/config.git'),
      db,
      controller,
      teamId,
      environmentId,
      serve: start,
      api: apiOf,
      cloneUrl: (at = controller) => withCredentials(`${at.url}/git/config.git`, 'git', token),
      enrollmentToken,
      async agent({ url = controller.url, name = 'node' } = {}) {
        const healthy = async () => (await nodes()).filter(({ status }) => status === 'HEALTHY').length;
        const known = await healthy();
        const agent = await startNodeAgent({ url, name, token: await enrollmentToken() });
        agents.push(agent);
        await until(async () => (await healthy()) > known, {
          what: 'the node to be healthy',
          timeoutMs: 15_000,
          everyMs: 50,
        });
        return agent;
      },
      nodes,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Of the cluster that runs in the data directory. */
function embeddedUrl(dataDir: string): string {
  // The fourth line is the port.
  const port = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[3]);
  return databaseUrl(port, readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim());
}
