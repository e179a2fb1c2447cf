/** A manifest as teams write them: comments, values, a VRL program, a secret. */
export function manifest(index: number, threshold: number): string {
  return `apiVersion: headgate/v1
kind: Pipeline
metadata:
  name: service-${index}     # one of many
  labels: { team: team-${index % 40} }
spec:
  description: Logs of service ${index} to search
  nodeSelector: { role: edge }
  values: { index: service-${index} }
  sources:
    app: { type: file, include: [/var/log/service-${index}/*.log] }
  transforms:
    parse:
      type: remap
      inputs: [app]
      source: |
        . = parse_json!(.message)
        .service = "service-${index}"
        .limit = ${threshold}
  sinks:
    search:
      type: elasticsearch
      inputs: [parse]
      bulk: { index: "\${value.index}" }
      auth: { strategy: basic, user: shipper, password: "\${SVC_SECRET_SEARCH_PASSWORD}" }
`;
}
