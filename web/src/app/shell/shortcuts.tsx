import { Dialog } from '../../ui/primitives/dialog.tsx';

const SHORTCUTS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl', 'K'], 'Go to anything, do anything'],
  [['?'], 'Show these shortcuts'],
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Choose the row'],
  [['/'], 'Filter the table'],
  [['←', '→'], 'Walk a gate strip'],
  [['n'], 'Next problem of the matrix'],
  [['p'], 'Previous problem of the matrix'],
  [['g', 'o'], 'Overview'],
  [['g', 'p'], 'Pipelines'],
  [['g', 'l'], 'Library'],
  [['g', 'v'], 'Playground'],
  [['g', 'f'], 'Fleet'],
  [['g', 'g'], 'Git'],
  [['g', 'r'], 'Promotions'],
  [['g', 'a'], 'Alerts'],
  [['g', 's'], 'Secrets'],
  [['g', 'u'], 'Audit'],
  [['g', 'm'], 'Members of the team'],
  [['g', 'y'], 'Your settings'],
  [['['], 'Fold or open the rail'],
  [['n'], 'Next file of a pull request'],
  [['p'], 'Previous file of a pull request'],
  [['a'], 'Approve a pull request'],
  [['m'], 'Merge a pull request'],
  [['c'], 'Comment on a pull request'],
  [['o'], 'Open a pull request on its forge'],
  [['Ctrl', 'Enter'], 'Send what is written'],
  [['Ctrl', 'S'], 'Save a drawing'],
  [['Ctrl', 'Z'], 'Undo in a drawing'],
  [['Ctrl', 'Shift', 'Z'], 'Redo in a drawing'],
  [['Ctrl', 'D'], 'Duplicate what is selected in a drawing'],
  [['Del'], 'Delete what is selected in a drawing'],
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
