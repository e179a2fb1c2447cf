const MAX_HOSTS = 6;

/** The first few by name, and how many there are. */
export const Hosts = ({ hosts, total }: { hosts: readonly string[]; total: number }) => {
  const shown = hosts.slice(0, MAX_HOSTS);
  return (
    <span className="mono breakable" data-tip={hosts.length > MAX_HOSTS ? hosts.join(', ') : undefined}>
      {shown.join(', ')}
      {total > shown.length && ` and ${total - shown.length} more`}
    </span>
  );
};
