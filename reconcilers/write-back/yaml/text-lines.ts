/**
 * A plain text in place of another one, with the byte order mark and the line ends that its file has. Lines before and
 * after what differs keep theirs, where a file mixes them.
 */
export function withLines(file: string, text: string): string {
  const mark = file.startsWith('\ufeff') ? '\ufeff' : '';
  const old = linesOf(file.slice(mark.length));
  const now = linesOf(text.replaceAll('\r\n', '\n'));
  const crlf = old.filter((line) => line.endsWith('\r\n')).length * 2 > old.length;
  const same = (left: string | undefined, right: string | undefined) =>
    left !== undefined && left.replace('\r\n', '\n') === right;
  let head = 0;
  while (head < now.length && same(old[head], now[head])) head += 1;
  let tail = 0;
  while (
    tail < now.length - head &&
    tail < old.length - head &&
    same(old[old.length - 1 - tail], now[now.length - 1 - tail])
  )
    tail += 1;
  const middle = now.slice(head, now.length - tail).map((line) => (crlf ? line.replace('\n', '\r\n') : line));
  return mark + [...old.slice(0, head), ...middle, ...old.slice(old.length - tail)].join('');
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
