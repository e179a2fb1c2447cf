/** The change of a ref by a push. */
export interface PushedRef {
  /** The full name: `refs/heads/…`, `refs/tags/…`, or another that git accepts. */
  name: string;
  deleted: boolean;
}
