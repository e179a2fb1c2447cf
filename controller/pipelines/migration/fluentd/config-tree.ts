/** A Fluentd configuration as its parser reads it, before anything is known about plugins. Lines count from 1. */

/** How a value was written. It decides about escapes and embedded Ruby: `'…'` has neither. */
export type Quoting = 'none' | 'single' | 'double' | 'json';

export interface ConfigParam {
  key: string;
  /** Without quotes and with its escapes resolved. Embedded Ruby stands in it as `#{…}`. */
  value: string;
  quoting: Quoting;
  /** The expressions inside `#{…}`, which only Ruby could evaluate. */
  embeddedRuby: readonly string[];
  line: number;
}

export interface ConfigDirective {
  /** `source`, `match`, `filter`, `label`, `system`, `worker`, or the name of a section such as `parse`. */
  name: string;
  /** What stands behind the name: a tag pattern, a label, an id. Empty where there is nothing. */
  argument: string;
  params: readonly ConfigParam[];
  children: readonly ConfigDirective[];
  line: number;
  endLine: number;
}

export interface ConfigProblem {
  severity: 'error' | 'warning';
  line: number;
  column: number;
  message: string;
}

export interface ConfigTree {
  directives: readonly ConfigDirective[];
  problems: readonly ConfigProblem[];
}
