/** Lines and columns count from 1; what has no end goes to the end of its word. */
export interface CodeProblem {
  severity: 'error' | 'warning' | 'note';
  message: string;
  line: number;
  column: number;
  endLine?: number;
  endColumn?: number;
}
