/** The node that sends events. */
export interface SampledNode {
  nodeId: string;
  environmentId: string;
}
