/** What the command line asks of a row, beside its name. */
export interface RowOptions {
  /** Takes a CPU profile of the controller. */
  profile: boolean;
  /** Fewer nodes, or a shorter measurement, while working on something; what is published has neither. */
  nodes?: number;
  seconds?: number;
  /** Events of the audit log. */
  rows?: number;
}
