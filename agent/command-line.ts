import { ConfigError } from './config.ts';

export type Channel = 'stable' | 'dev';
export type Command = { run: 'version' } | { run: 'help' } | { run: 'agent'; channel: Channel | undefined };

export const HELP = `headgate-agent runs the pipelines that a Headgate controller deploys to this node.

Usage: headgate-agent [--channel stable|dev]

  --version, -v      print the version and exit
  --help, -h         print this text and exit
  --channel <name>   update channel at the first enrollment: stable (default) or dev

Environment:
  SVC_URL                 address of the controller (required)
  SVC_TOKEN               enrollment token; needed on the first run only
  SVC_DATA_DIR            node token, pipeline configs, certificates (default /var/lib/svc-agent)
  SVC_ENGINE_BIN          the engine's executable (default: vector, looked up on PATH)
  SVC_POLL_INTERVAL       poll period such as 10s or 1m30s (default 5s; the controller's setting wins)
  SVC_LOG_FLUSH_INTERVAL  how often pipeline logs are sent (default 2s)
  SVC_LOG_LEVEL           debug, info, warn or error (default info)
  SVC_NODE_LABELS         labels of this node, key=value,key=value; SVC_LABELS is read too
  SVC_METRICS_PORT        port of the agent's own /metrics (default 9090; 0 turns it off)
  SVC_METRICS_HOST        address that /metrics listens on (default 0.0.0.0)
  SVC_PORT_BASE           first of the ports that engines get, two each (default 8688)
  SVC_UPDATE_PUBLIC_KEY   Ed25519 public key (base64 or PEM) that updates must be signed with
  SVC_ALLOW_DOWNGRADE     1 accepts updates to a lower version (default 0: they are refused)
  SVC_SUPERVISED          set where something but systemd starts the agent again when it ends
  SVC_AGENT_USER          container entrypoint only: the user that the agent runs as
  NODE_EXTRA_CA_CERTS     a PEM file of certificate authorities to trust beside the system's
  SSL_CERT_FILE           the same in place of the system's
  HTTPS_PROXY, HTTP_PROXY proxy to the controller, http://host:port; never used for this machine
  NO_PROXY                hosts that are asked for without it, separated by commas
`;

/** Throws ConfigError for what is not known. Address and token are taken from the environment only. */
export function parseCommandLine(args: readonly string[]): Command {
  let channel: Channel | undefined;
  for (let index = 0; index < args.length; index += 1) {
    const flag = args[index] ?? '';
    if (flag === '--version' || flag === '-v') return { run: 'version' };
    if (flag === '--help' || flag === '-h') return { run: 'help' };
    const inline = flag.startsWith('--channel=') ? flag.slice('--channel='.length) : undefined;
    if (flag !== '--channel' && inline === undefined) {
      throw new ConfigError(`config error: unknown flag ${flag.slice(0, 100)}: see --help`);
    }
    const name = inline ?? args[++index];
    if (name !== 'stable' && name !== 'dev') {
      throw new ConfigError('config error: --channel must be stable or dev');
    }
    channel = name;
  }
  return { run: 'agent', channel };
}
