/** What a push asks of a ref. */
export interface PushedRef {
  /** In full: `refs/heads/…`, `refs/tags/…`, or what else git lets through. */
  name: string;
  deleted: boolean;
}
