/** A GitHub App as credentials for git: its installation gets tokens that last for an hour. */
import type { GitCredentials } from '../../../../schemas/api/delivery/forges.ts';

export interface GitHubApp {
  /** The app id, or the client id. */
  id: string;
  /** An RSA key as PEM. */
  privateKey: string;
  /** The URL of the API, without a trailing slash. */
  url: string;
  /** `owner/name` */
  project: string;
}

/** The sealed form: a binding with the app of its forge stores everything that git needs of it. */
export type OpenedCredentials = Exclude<GitCredentials, { type: 'app' }> | ({ type: 'app' } & GitHubApp);

/** @throws RepositoryError that names what to do; it holds no secret */
export type AppTokenSource = (app: GitHubApp, caCertificate: string | null) => Promise<string>;
