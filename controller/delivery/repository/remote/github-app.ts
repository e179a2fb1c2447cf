/** A GitHub App that lets git in: by tokens of its installation, which are good for an hour. */
import type { GitCredentials } from '../../../../schemas/api/git-sync.ts';

export interface GitHubApp {
  /** Its id, or its client id. */
  id: string;
  /** RSA, as PEM. */
  privateKey: string;
  /** Of the API, without a slash at its end. */
  url: string;
  /** `owner/name` */
  project: string;
}

/** As they are sealed: a binding that goes by the app of its forge keeps all that git needs of it. */
export type OpenedCredentials = Exclude<GitCredentials, { type: 'app' }> | ({ type: 'app' } & GitHubApp);

/** @throws RepositoryError that says what to do; it holds no secret */
export type AppTokenSource = (app: GitHubApp, caCertificate: string | null) => Promise<string>;
