export const Labels = ({ labels, limit = 99 }: { labels: Record<string, string>; limit?: number }) => {
  const entries = Object.entries(labels).sort(([a], [b]) => a.localeCompare(b));
  if (entries.length === 0) return <span className="muted">none</span>;
  const rest = entries.slice(limit);
  return (
    <span
      className="labels"
      data-tip={rest.length > 0 ? entries.map(([key, value]) => `${key}=${value}`).join(', ') : undefined}
    >
      {entries.slice(0, limit).map(([key, value]) => (
        <span key={key} className="label mono">
          <span className="label-key">{key}=</span>
          {value}
        </span>
      ))}
      {rest.length > 0 && (
        <span className="label mono" data-rest>
          +{rest.length}
        </span>
      )}
    </span>
  );
};
