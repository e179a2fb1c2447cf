import { Dialog } from '../components/dialog.tsx';

const SHORTCUTS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl', 'K'], 'Go to anything, do anything'],
  [['?'], 'Show these shortcuts'],
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['/'], 'Filter the table'],
  [['←', '→'], 'Walk a gate strip'],
  [['g', 'o'], 'Overview'],
  [['g', 'p'], 'Pipelines'],
  [['g', 'f'], 'Fleet'],
  [['g', 'g'], 'Git'],
  [['g', 'a'], 'Alerts'],
  [['g', 's'], 'Secrets'],
  [['['], 'Fold or open the rail'],
];

export const ShortcutTable = () => (
  <table className="table shortcuts">
    <caption className="sr-only">Keyboard shortcuts</caption>
    <tbody>
      {SHORTCUTS.map(([keys, what]) => (
        <tr key={what}>
          <th scope="row" className="shortcut-name">
            {what}
          </th>
          <td data-align="end">
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

export const ShortcutsDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Dialog title="Keyboard shortcuts" opened={opened} close={close} size="sm">
    <ShortcutTable />
  </Dialog>
);
